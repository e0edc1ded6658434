package host_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
)

func TestAFolderFullOfNewPluginsIsNotInTheWayOfAChat(t *testing.T) {
	plugintest.Bubble(t, "spindle", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.js", plugintest.SaysText("say", "hello"))
		f.Close()
		let := make(chan struct{})
		f.World.BeforeInspect(func(id string) {
			if strings.HasPrefix(id, "new") {
				<-let
			}
		})
		for i := range 20 {
			f.Write(fmt.Sprintf("new%d.js", i), plugintest.SaysText("say", "new"))
		}
		f.Open()
		must(t, f.Host.Scan())
		must(t, f.Host.WaitOffered(t.Context()))
		f.State("a", plugin.Ready)
		f.State("new0", plugin.Loading)
		close(let)
		synctest.Wait()
		f.State("new0", plugin.NeedsApproval)
		f.State("new19", plugin.NeedsApproval)
	})
}
