package gate_test

import (
	"slices"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
)

// A secret that a plugin is lent is a rule like others: it stands with them as a sentence,
// outlives the program, and goes with the plugin, whoever takes its name after it.
func TestAGrantedSecretIsARuleThatGoesWithItsPlugin(t *testing.T) {
	l := newMemory()
	g, c := trusted(t, gate.Options{Store: l})
	must(t, g.Reach.GrantSecret(t.Context(), c.Plugin, "api", []string{"old.example"}))
	must(t, g.Reach.GrantSecret(t.Context(), c.Plugin, "api", []string{"a.example", "b.example"}))
	must(t, g.Reach.GrantSecret(t.Context(), c.Plugin, "Moon", []string{"c.example"}))
	again := open(t, gate.Options{Store: l})
	for _, g := range []*gate.Gate{g, again} {
		if got := g.Reach.GrantedSecrets(c.Plugin); len(got) != 2 || got[0].Name != "Moon" ||
			!slices.Equal(g.Reach.SecretHosts(c.Plugin, "api"), []string{"a.example", "b.example"}) ||
			g.Reach.SecretHosts(c.Plugin, "API") != nil || g.Reach.SecretHosts("other", "api") != nil {
			t.Errorf("lent: %+v", got)
		}
	}
	rules, err := g.Rules.List(t.Context())
	must(t, err)
	said := gate.Sentence(rules[0], "Notes")
	if said != "Notes may have your secret api sent to a.example and b.example" {
		t.Errorf("the rule says %q", said)
	}
	if granted, denied := g.Reach.Permissions(c.Plugin); slices.Contains(granted, "secret") || len(denied) != 0 {
		t.Errorf("it is no permission: %q, %q", granted, denied)
	}
	had, err := g.Approvals.RevokePlugin(t.Context(), c.Plugin)
	must(t, err)
	if got := g.Reach.GrantedSecrets(c.Plugin); len(got) != 0 {
		t.Errorf("of a plugin that was removed: %+v", got)
	}
	must(t, g.Approvals.RestorePlugin(t.Context(), c.Plugin, had))
	must(t, g.Reach.RevokeSecret(t.Context(), c.Plugin, "api"))
	if err := g.Reach.RevokeSecret(t.Context(), c.Plugin, "api"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("taken back twice: %v", err)
	}
	if got := g.Reach.GrantedSecrets(c.Plugin); len(got) != 1 || got[0].Name != "Moon" {
		t.Errorf("left: %+v", got)
	}
}
