package model_test

import (
	"regexp"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
)

func gather(t *testing.T, history []model.Message,
	fragments ...model.Fragment,
) (calls []chat.ToolCall, started []chat.ToolCall) {
	t.Helper()
	g := model.NewCallAssembler(model.Request{Messages: history})
	for _, f := range fragments {
		call, begun, err := g.Add(f)
		must(t, err)
		if begun {
			started = append(started, call)
		}
	}
	assembled, _ := g.Calls()
	for _, one := range assembled {
		calls = append(calls, one.ToolCall)
	}
	if again, _ := g.Calls(); len(again) != 0 {
		t.Errorf("%d calls were returned twice", len(again))
	}
	return calls, started
}

func show(calls []chat.ToolCall) string {
	var b strings.Builder
	for _, c := range calls {
		b.WriteString(c.Tool + string(c.Arguments))
		if c.Raw != "" {
			b.WriteString("!" + c.Raw)
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

func TestGatherPutsFragmentsTogetherByIndexThenID(t *testing.T) {
	at := func(i int, id, name, arguments string) model.Fragment {
		return model.Fragment{Index: i, HasIndex: true, ID: id, Name: name, Arguments: arguments}
	}
	for name, c := range map[string]struct {
		fragments []model.Fragment
		want      string
	}{
		"interleaved by index": {[]model.Fragment{
			at(0, "x", "a", ""), at(1, "y", "b", ""), at(0, "", "", `{"n":`), at(1, "", "", `{"m":2`), at(0, "", "", `1}`),
			at(1, "", "", `}`),
		}, `a{"n":1} b{"m":2}`},
		"indexes that do not begin at 0": {[]model.Fragment{at(3, "x", "a", "{}"), at(7, "y", "b", "{}")}, `a{} b{}`},
		"every index 0, ids differ": {
			[]model.Fragment{at(0, "x", "a", `{"n":1}`), at(0, "y", "a", `{"n":2}`)}, `a{"n":1} a{"n":2}`,
		},
		"every index 0, no ids": {[]model.Fragment{at(0, "", "a", `{"n":1}`), at(0, "", "b", `{"n":2}`)}, `a{"n":1} b{"n":2}`},
		"id and name repeated with each": {
			[]model.Fragment{at(0, "x", "a", `{"n"`), at(0, "x", "a", `:1`), at(0, "x", "a", `}`)}, `a{"n":1}`,
		},
		"by id without index": {[]model.Fragment{
			{ID: "x", Name: "a"}, {ID: "y", Name: "b"}, {ID: "x", Arguments: "{}"}, {ID: "y", Arguments: `{"m":2}`},
		}, `a{} b{"m":2}`},
		"neither index nor id goes to the last": {
			[]model.Fragment{{ID: "x", Name: "a"}, {Arguments: `{"n":`}, {Arguments: `1}`}}, `a{"n":1}`,
		},
		"whole calls with nothing": {
			[]model.Fragment{{Name: "a", Arguments: "{}"}, {Name: "a", Arguments: `{"n":2}`}}, `a{} a{"n":2}`,
		},
		"one id for two whole calls": {
			[]model.Fragment{{ID: "x", Name: "a", Arguments: `{"n":1}`}, {ID: "x", Name: "a", Arguments: `{"n":2}`}},
			`a{"n":1} a{"n":2}`,
		},
		"a name in pieces": {
			[]model.Fragment{at(0, "x", "get_", ""), at(0, "", "weather", ""), at(0, "", "", "{}")}, `get_weather{}`,
		},
		"no arguments": {[]model.Fragment{at(0, "x", "a", "")}, `a{}`},
		"null":         {[]model.Fragment{at(0, "x", "a", " null ")}, `a{}`},
		"an array":     {[]model.Fragment{at(0, "x", "a", `[1]`)}, `a{}![1]`},
		"a string":     {[]model.Fragment{at(0, "x", "a", `"{}"`)}, `a{}`},
		"cut":          {[]model.Fragment{at(0, "x", "a", `{"n":`)}, `a{}!{"n":`},
		"two objects":  {[]model.Fragment{at(0, "x", "a", `{"n":1}{"n":2}`)}, `a{}!{"n":1}{"n":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			calls, started := gather(t, nil, c.fragments...)
			if got := show(calls); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if len(started) != len(calls) {
				t.Errorf("%d started, %d whole", len(started), len(calls))
			}
			seen := map[string]bool{}
			for i, call := range calls {
				if call.ID == "" || seen[call.ID] || call.ID != started[i].ID {
					t.Errorf("id %q, started as %q", call.ID, started[i].ID)
				}
				seen[call.ID] = true
			}
		})
	}
}

func TestGatherMakesMissingIDsAndSetsRepeatedOnesApart(t *testing.T) {
	calls, _ := gather(t, nil, model.Fragment{Name: "a", Arguments: "{}"})
	if made := regexp.MustCompile(`^tc_[0-9A-V]{26}$`); !made.MatchString(calls[0].ID) {
		t.Errorf("made the id %q", calls[0].ID)
	}
	history := []model.Message{
		{Role: chat.RoleAssistant, Parts: []chat.Part{{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "call_0"}}}},
	}
	calls, _ = gather(t, history, model.Fragment{ID: "call_0", Name: "a", Arguments: "{}"}, model.Fragment{
		ID: "call_0", Name: "b", Arguments: "{}",
	})
	if calls[0].ID != "call_0-2" || calls[1].ID != "call_0-3" {
		t.Errorf("got %q and %q", calls[0].ID, calls[1].ID)
	}
}

func TestMadeIDsSortByAge(t *testing.T) {
	first := model.MakeCallID()
	for range 100 {
		if next := model.MakeCallID(); next[:11] < first[:11] || next == first {
			t.Fatalf("%s is not after %s", next, first)
		}
	}
}

func TestGatherRefusesArgumentsWithoutEnd(t *testing.T) {
	g := model.NewCallAssembler(model.Request{})
	piece := strings.Repeat("x", 1<<20)
	for range 8 {
		if _, _, err := g.Add(model.Fragment{ID: "x", Name: "a", Arguments: piece}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := g.Add(model.Fragment{ID: "x", Name: "a", Arguments: piece}); err == nil {
		t.Error("9 MiB of arguments were taken")
	}
}

func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"", "null", "{}", `{"a":1}`, "[", `"x"`, "{}{}", "\x00", `{"a":"\ud800"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		arguments, raw := model.Arguments(text)
		if len(arguments) == 0 || arguments[0] != '{' {
			t.Errorf("arguments %q of %q are no object", arguments, text)
		}
		if raw != "" && string(arguments) != "{}" {
			t.Errorf("%q is both %q and raw", text, arguments)
		}
	})
}
