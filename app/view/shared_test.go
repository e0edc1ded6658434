package view_test

import (
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/view"
)

// A list whose keys repeat is not drawn at all, and an address that is not shown whole is not one to choose.
func TestAttackAServerListsAnAddressTwiceOrOneThatCannotBeShown(t *testing.T) {
	long := strings.Repeat("W", 100_000)
	lines := "Lines" + strings.Repeat("\n", 5000) + "end"
	got := view.NewResources([]plugin.Resource{
		{URI: "x://one", Title: "One\u202e", Description: lines, MIME: "text/plain\x1b[31m"},
		{URI: "x://one", Title: "The same"},
		{URI: "x://\u202eone", Title: "Hidden"},
		{URI: "x://" + long, Title: "Long"},
		{URI: "x://two\nthree", Title: "Two lines"},
		{URI: "x://four", Title: lines, Description: long},
	}, []plugin.ResourceTemplate{
		{Template: "x://{id}/{id}", Places: []string{"id", "id"}},
		{Template: "x://{id}/{id}"},
		{Template: "x://{\u200bid}", Places: []string{"\u200bid"}},
	})
	if len(got.Resources) != 2 || len(got.Templates) != 1 {
		t.Fatalf("there are %d resources and %d templates: %+v", len(got.Resources), len(got.Templates), got)
	}
	first, last := got.Resources[0], got.Resources[1]
	if first.Title != "One" || first.MIME != "text/plain" || first.Description != "Lines\n\nend" {
		t.Errorf("the first is %+v", first)
	}
	if last.Title != "Lines" || len(last.Description) > 2000 {
		t.Errorf("the last has a title of %d and a description of %d bytes", len(last.Title), len(last.Description))
	}
	if of := got.Templates[0]; len(of.Places) != 1 || of.Title != of.Template {
		t.Errorf("the template is %+v", of)
	}
	prompts := view.NewPrompts("p", "P", []plugin.Prompt{
		{Name: "a", Title: long, Arguments: []plugin.PromptArgument{{Name: "x"}, {Name: "x", Title: "again"}, {Name: "y"}}},
		{Name: "a", Title: "again"},
		{Name: "b\u202e"},
	})
	if len(prompts) != 1 || len(prompts[0].Arguments) != 2 || len(prompts[0].Title) > 1000 {
		t.Errorf("the prompts are %+v", prompts)
	}
	if values := view.Values([]string{"one", "one", "", "\u202etwo", "three"}); strings.Join(values, " ") != "one three" {
		t.Errorf("the values are %q", values)
	}
}
