package tool_test

import (
	"slices"
	"testing"

	"conclave/app/tool"
)

func deferredSet(t *testing.T, descriptions map[string]string) *tool.Set {
	t.Helper()
	var list []tool.Tool
	for name, description := range descriptions {
		list = append(list, tool.Tool{Name: name, Description: description, Visibility: tool.Deferred})
	}
	list = append(list, tool.Tool{Name: "weather_now", Description: "weather", Visibility: tool.Direct}, tool.Tool{
		Name: "weather_hidden", Description: "weather", Visibility: tool.Hidden,
	})
	r := tool.NewRegistry()
	r.Publish("p", list, nil)
	return r.Set()
}

func TestMB37FindRanksByNameThenDescription(t *testing.T) {
	set := deferredSet(t, map[string]string{
		"weather": "天气", "weather_tomorrow": "Forecast.", "my_weather": "Mine.", "sun": "The weather of the sun.",
		"moon": "月亮", "zeta": "same words", "alpha": "same words",
	})
	for query, want := range map[string][]string{
		"weather":           {"weather", "weather_tomorrow", "my_weather", "sun"},
		"  WEATHER ":        {"weather", "weather_tomorrow", "my_weather", "sun"},
		"same words":        {"alpha", "zeta"},
		"月亮":                {"moon"},
		"天气":                {"weather"},
		"tomorrow forecast": {"weather_tomorrow"},
		"nothing like it":   {},
		"   ":               nil,
	} {
		var got []string
		for _, f := range set.Find(query, 20) {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("Find(%q) = %v, want %v", query, got, want)
		}
	}
	if got := set.Find("weather", 2); len(got) != 2 {
		t.Errorf("the limit is not kept: %d", len(got))
	}
}

func TestNoPluginsToolIsCalledLikeTheSearch(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("p", []tool.Tool{{Name: tool.SearchName}}, nil)
	if got := r.Set().Tools()[0].WireName; got != "p__tool_search" {
		t.Errorf("its wire name is %q", got)
	}
}
