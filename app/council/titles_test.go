package council_test

import (
	"testing"

	"conclave/app/council"
)

func TestToolsAreCalledByTheirTitles(t *testing.T) {
	titles := map[string]string{"web:search": "Search the web", "odd:one": " \u202e "}
	r := council.Run{Begin: council.Begin{Titles: titles}}
	for id, want := range map[string]string{
		"web:search": "Search the web", "dice:roll": "roll", "voice_concern": "voice_concern", "odd:one": "one",
	} {
		if got := r.ToolTitle(id); got != want {
			t.Errorf("%s is called %q", id, got)
		}
	}
	used := council.Task{End: council.End{Used: []string{"web:search", "dice:roll"}}}
	alone := council.Task{End: council.End{Used: []string{"web:search"}}}
	for _, c := range []struct {
		task  council.Task
		point council.Point
		want  string
	}{
		{used, council.Point{Basis: council.FromTool, Source: "Web:Search"}, "Search the web"},
		{used, council.Point{Basis: council.FromTool, Source: "search"}, "Search the web"},
		{used, council.Point{Basis: council.FromTool, Source: "web:other"}, "web:other"}, // it was not called
		{used, council.Point{Basis: council.FromTool}, ""},
		{alone, council.Point{Basis: council.FromTool}, "Search the web"},
		{used, council.Point{Basis: council.FromGiven, Source: "search"}, "search"},
	} {
		if got := (council.Record{Run: &r}).SourceTitle(c.task, c.point); got != c.want {
			t.Errorf("%+v rests on %q", c.point, got)
		}
	}
	to := council.Request{Model: "web:search"}
	if (council.Task{Kind: council.Opine, Tool: "web:search"}).Handed(to) ||
		(council.Task{Kind: council.UseTool}).Handed(to) ||
		!(council.Task{Kind: council.UseTool, Tool: "web:search"}).Handed(to) {
		t.Error("what a tool was handed is what went to the tool of the task")
	}
}
