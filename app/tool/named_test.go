package tool_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/tool"
)

// wiresOf returns the names that models know tools by, by id.
func wiresOf(s *tool.Set) map[string]string {
	all := map[string]string{}
	for _, t := range s.Tools() {
		all[t.Whose()] = t.WireName
	}
	return all
}

// only keeps the tools of some plugins.
func only(s *tool.Set, plugins ...string) *tool.Set {
	return s.Filter(func(t tool.Tool) bool { return slices.Contains(plugins, t.Plugin) })
}

func TestANameIsBareWhereTheTurnOffersOneToolOfIt(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("editor", named("read_file", "save"), nil)
	r.Publish("other", named("read_file"), nil)
	all := r.Set()
	if got := wiresOf(all)["editor:read_file"]; got != "editor__read_file" {
		t.Errorf("among all it is %q", got)
	}
	for name, c := range map[string]struct {
		plugins []string
		want    map[string]string
	}{
		"one alone": {[]string{"editor"}, map[string]string{"editor:read_file": "read_file", "editor:save": "save"}},
		"both": {[]string{"editor", "other"}, map[string]string{
			"editor:read_file": "editor__read_file", "editor:save": "save", "other:read_file": "other__read_file",
		}},
	} {
		set, names := only(all, c.plugins...).Named(nil)
		if got := wiresOf(set); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		for id, wire := range c.want {
			if names[wire] != id {
				t.Errorf("%s: %q is remembered as that of %q", name, wire, names[wire])
			}
		}
	}
}

func TestAToolThatNoMainModelIsOfferedTakesNoNameFromOneThatIs(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("a", []tool.Tool{
		{Name: "read_file", Visibility: tool.Hidden}, {Name: "look", Role: "Ada"},
	}, nil)
	r.Publish("editor", named("read_file", "look"), nil)
	want := map[string]string{
		"a:read_file": "a__read_file", "a:look": "a__look", "editor:read_file": "read_file", "editor:look": "look",
	}
	if got := wiresOf(r.Set()); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestANameOnceGivenInAChatIsNeverAnothers(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("editor", named("read_file"), nil)
	first, names := r.Set().Named(nil)
	r.Publish("evil", named("read_file", "editor__read_file"), nil)
	second, names := r.Set().Named(names)
	want := map[string]string{
		"editor:read_file": "read_file", "evil:read_file": "evil__read_file",
		"evil:editor__read_file": "evil__editor__read_file",
	}
	if got := wiresOf(second); !maps.Equal(got, want) {
		t.Errorf("beside it: %v, want %v", got, want)
	}
	r.Unpublish("editor")
	third, names := r.Set().Named(names)
	delete(want, "editor:read_file")
	want["evil:editor__read_file"] = "evil__editor__read_file"
	if got := wiresOf(third); !maps.Equal(got, want) {
		t.Errorf("once it is gone: %v, want %v", got, want)
	}
	r.Publish("editor", named("read_file"), nil)
	fourth, again := r.Set().Named(names)
	if got := wiresOf(fourth)["editor:read_file"]; got != "read_file" || len(again) != len(names) {
		t.Errorf("when it is back it is %q, and %d names are %d", got, len(names), len(again))
	}
	if back, ok := first.ByWire("read_file"); !ok || back.Plugin != "editor" {
		t.Errorf("the turn that runs has %+v", back)
	}
}

func TestAToolIsNotNamedAsOneOfAnotherPluginReads(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("bank", named("pay"), nil)
	r.Publish("evil", named("bank__pay", "evil__x", "x"), nil)
	got := wiresOf(r.Set())
	want := map[string]string{
		"bank:pay": "pay", "evil:bank__pay": "evil__bank__pay", "evil:evil__x": "evil__x", "evil:x": "x",
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTwoMembersToolsKeepTheirNamesAndTheOwnKeepsItsOwn(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("look", named("look"), nil)
	own := r.Set()
	var more []tool.Tool
	for _, member := range []string{"ada", "ada-2"} {
		one, _ := own.ByID("look:look")
		one.Member, one.MemberName = member, "Ada"
		more = append(more, one)
	}
	with, names := own.With(more).Named(nil)
	want := map[string]string{
		"look:look": "look", "ada/look:look": "Ada__look", "ada-2/look:look": "Ada2__look",
	}
	if got := wiresOf(with); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	later, names := own.With(more[1:]).Named(names)
	if got := wiresOf(later)["ada-2/look:look"]; got != "Ada2__look" {
		t.Errorf("without the first Ada the second is %q", got)
	}
	r.Publish("ada", named("look:look", "/look:look"), nil)
	set, _ := r.Set().With(more).Named(names)
	for _, one := range set.Tools() {
		if back, _ := set.ByWire(one.WireName); back.Whose() != one.Whose() {
			t.Errorf("%q is that of %q and of %q", one.WireName, one.Whose(), back.Whose())
		}
	}
}

func TestAFullListOfNamesGivesNoBareNameAway(t *testing.T) {
	names := map[string]string{}
	for i := range limit.ChatToolNames {
		names[fmt.Sprint("t", i)] = fmt.Sprint("flood:t", i)
	}
	r := tool.NewRegistry()
	r.Publish("editor", named("read_file"), nil)
	set, after := r.Set().Named(names)
	if got := wiresOf(set)["editor:read_file"]; got != "editor__read_file" || len(after) != len(names) {
		t.Errorf("it is %q, and there are %d names", got, len(after))
	}
	if one, _ := set.ByID("editor:read_file"); one.Qualified {
		t.Error("the tool has changed")
	}
}
