package gate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// indexed returns a gate with rules of a number, all about one tool.
func indexed(t *testing.T, r *rand.Rand, effect Effect) *Gate {
	t.Helper()
	g, err := Open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	conditions := []func() Match{
		func() Match { return Match{Field: "to", Op: Equals, Value: one("ada", "bo", "true", "7", "")} },
		func() Match {
			return Match{Field: "to", Op: OneOf, Values: []string{one("ada", "bo"), one("ada", "cy")}}
		},
		func() Match { return Match{Field: "to", Op: Pattern, Value: one("a.*", ".*", "b+")} },
		func() Match { return Match{Field: "amount", Op: AtMost, Value: one("1", "20")} },
		func() Match {
			return Match{Field: "url", Op: HostIs, Value: one("a.example.org", "example.org:8443", "[::1]:80")}
		},
		func() Match {
			return Match{Field: "url", Op: HostSuffix, Value: one("example.org", "org", "a.example.org")}
		},
		func() Match {
			return Match{Field: "path", Op: PathUnder, Value: one("/", "/tmp", "/tmp/x/", "/tmp/x/y")}
		},
	}
	for i := range 1 + r.IntN(12) {
		rule := Rule{
			ID: fmt.Sprint(i), Effect: effect, Plugin: "notes", Tool: "write", Scope: UntilQuit, Callers: []Caller{Main},
		}
		for range r.IntN(3) {
			rule.Match = append(rule.Match, conditions[r.IntN(len(conditions))]())
		}
		if _, err := g.Rules.Add(t.Context(), rule); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

// argumentsOf are arguments of a number: of each kind that conditions compare.
func argumentsOf(r *rand.Rand) json.RawMessage {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	switch r.IntN(12) {
	case 0:
		return json.RawMessage(one(`{}`, `broken`, `[]`, `{"path":"/tmp","path":"/tmp/x"}`))
	case 1:
		return json.RawMessage(`{"path":"/` + string(slices.Repeat([]byte("a/"), 100)) + `"}`)
	}
	return json.RawMessage(`{"to":` + one(`"ada"`, `["ada","bo"]`, `["ada",{}]`, `[]`, `null`, `7`, `70e-1`, `true`, `"true"`, `""`, `"eve"`) +
		`,"amount":` + one(`1`, `7`, `21`, `"1"`, `[1,21]`) +
		`,"url":` + one(`"https://a.example.org/x"`, `"https://example.org:8443"`, `"https://[::1]:80/"`, `"org"`, `"no host"`,
		`["https://a.example.org","https://b.example.org"]`) +
		`,"path":` + one(`"/tmp"`, `"/tmp/x/y/z"`, `"/tmp/xy"`, `"/"`, `"/usr"`, `"relative"`, `["/tmp/x","/usr"]`) + `}`)
}

func TestTheRulesThatAreFoundAreThoseThatMatch(t *testing.T) {
	t.Setenv("HOME", "") // so that Open looks for no places of keys, 3000 times
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 9))
		effect := []Effect{Allow, Ask, Deny}[seed%3]
		g := indexed(t, r, effect)
		call := Call{Caller: Main, Arguments: argumentsOf(r)}
		call.Tool.Plugin, call.Tool.Name = "notes", "write"
		f := g.Decisions.lock()
		set := f.book.calls(ruleKey{"notes", "write", effect})
		matching := func(rules func(func(*Rule) bool)) (ids []string) {
			c := f.checkOf(&call, nil)
			for rule := range rules {
				if c.matches(rule) {
					ids = append(ids, rule.ID)
				}
			}
			return ids
		}
		c := f.checkOf(&call, nil)
		want, got := matching(set.all()), matching(set.near(&c.arguments, effect))
		g.Decisions.unlock()
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: with %s the rules %v are found, and %v match", seed, call.Arguments, got, want)
		}
	}
}
