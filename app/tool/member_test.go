package tool_test

import (
	"regexp"
	"strings"
	"testing"

	"conclave/app/tool"
)

func TestSP38ToolsOfMembersStandNextToTheirOwn(t *testing.T) {
	r := tool.NewRegistry()
	long := strings.Repeat("a", 64)
	r.Publish("look", []tool.Tool{{Name: "look"}, {Name: "a.b__c-d"}, {Name: long}}, nil)
	set := r.Set()
	var more []tool.Tool
	for _, member := range []string{"ada", "ada-2"} {
		for _, t := range set.Tools() {
			t.Member, t.MemberName = member, "Ada Lovelace, the first of them all who wrote a program"
			more = append(more, t)
		}
	}
	with := set.With(more)
	if with.Len() != 9 || set.Len() != 3 || with.Generation() != set.Generation() {
		t.Fatalf("there are %d tools, and were %d", with.Len(), set.Len())
	}
	wire := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	for _, each := range with.Tools() {
		found, ok := with.ByWire(each.WireName)
		if !wire.MatchString(each.WireName) || !ok || found.ID() != each.ID() || found.Member != each.Member {
			t.Errorf("SP-37: %q leads to %s of %q", each.WireName, found.ID(), found.Member)
		}
		ending := "__" + strings.ReplaceAll(each.Name, ".", "_")
		if each.Member != "" && each.Name != long && !strings.HasSuffix(each.WireName, ending) {
			t.Errorf("%q does not end in the name of its tool, %q", each.WireName, each.Name)
		}
	}
	if own, ok := with.ByID("look:look"); !ok || own.Member != "" || own.WireName != "look" {
		t.Errorf("the one that is nobody's is %+v", own)
	}
	hidden := set.Filter(func(each tool.Tool) bool { return each.Name != "look" }).With(more)
	if own, ok := hidden.ByID("look:look"); !ok || own.Member != "ada" {
		t.Errorf("where only members have it, it is %+v", own)
	}
}
