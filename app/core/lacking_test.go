package core

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
)

// A person takes the permission tools from a plugin whose tools the members of a council have.
func TestWhyMembersGoWithoutToolsIsSaidOnceForEachWithTheWayBack(t *testing.T) {
	w := extension(t, `for (const name of ["look", "echo"]) {
  const parameters = { type: "object", properties: {} };
  spindle.registerTool({ name, description: "d", parameters, council_eligible: true });
}
spindle.on("TOOL_INVOCATION", async () => "there");`, "tools")
	w.helper()
	const why = "The tools look and echo of Ext are not offered: you took the permission tools from the plugin. " +
		"Give it back with conclave plugins grant ext tools."
	for _, mode := range []council.Mode{council.Tools, council.Opinions} {
		t.Run(string(mode), func(t *testing.T) {
			c := council.Council{Enabled: true, Mode: mode, Helper: council.Helper{Model: "help/m"}, Members: []council.Member{
				{ID: "ada", Name: "Ada", Chance: 100, Tools: []string{"ext:look", "ext:echo"}},
				{ID: "bo", Name: "Bo", Chance: 100, Tools: []string{"ext:look", "ext:echo"}},
			}}
			must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "tools", gate.Allow))
			w.settle()
			w.letsMembers(c)
			must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", "tools", gate.Deny))
			w.settle()
			estimate, err := w.Councils.Estimate(t.Context(), c, turn.Request{Text: "Go."})
			must(t, err)
			for _, name := range []string{"Ada", "Bo"} {
				if !slices.Contains(estimate.Problems, name+" goes without a tool: "+why) {
					t.Errorf("before it is asked: %q", estimate.Problems)
				}
			}
			_, run := w.deliberateAsking(w.chat(), "Go.", c)
			var lines []string
			teller := deliberation.Reporter{}
			steps, err := w.Store.Councils.Steps(t.Context(), run.Begin.Run)
			must(t, err)
			var at council.Run
			for _, s := range steps {
				must(t, at.Apply(s))
				for _, l := range teller.Report(deliberation.Event{Run: at, Step: &s}) {
					lines = append(lines, l.Member+" "+l.State+" "+l.Tool+" "+l.Text)
				}
			}
			all := strings.Join(lines, "\n")
			if n := strings.Count(all, why); n != 2 || strings.Contains(all, "using ext:") {
				t.Errorf("the reason is said %d times to two members:\n%s", n, all)
			}
			if n := strings.Count(all, "not there"); n > 0 {
				t.Errorf("a tool is also said to be not there, %d times:\n%s", n, all)
			}
		})
	}
}
