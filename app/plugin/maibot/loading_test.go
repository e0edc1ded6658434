package maibot_test

import (
	"testing"

	"conclave/app/plugin/maibot"
)

func TestMB01APluginIsListedWithItsTools(t *testing.T) {
	every(t, func(t *testing.T, d *maibot.Dialect) {
		w := serve(t, d, `
@Tool("look", "看看天气", parameters=[ToolParameterInfo(name="city", description="城市")])
async def look(self, city, **kwargs):
    return {"success": True, "content": "晴天 " + city}
`)
		is(t, "answer", inChat(w, "look", `{"city":"北京"}`).Text(), "晴天 北京")
	})
}
