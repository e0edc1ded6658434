package council_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"conclave/app/council"
)

func TestAnOpinionIsReadOfWhatModelsReallyWrite(t *testing.T) {
	long := strings.Repeat("ä", 1000)
	for block, want := range map[string]string{
		`{"position": "Yes", "points": [{"claim": "It rains.", "basis": "tool", "source": "look"}]}`: "Yes: It rains. tool look",
		"Here it is:\n{\"position\": \"Yes\"}\nDone.":                                                "Yes",
		`{"points": ["It rains.", {"claim": "It snows.", "basis": "TOOL"}, {"claim": ""}, null]}`:    ": It snows. tool ",
		`{"position": 7, "points": {"claim": "x"}, "more": {}}`:                                      "error",
		`{"position": "a\n\tb\u202e\u0000c", "points": [{"claim": "x", "basis": "God"}]}`:            "a bc: x own ",
		`{"position": "` + long + `"}`:                                                               strings.Repeat("ä", 159) + "…",
		`[{"position": "Yes"}]`:                                                                      "Yes",
		`{"position": "Yes"`:                                                                         "error",
		`nothing`:                                                                                    "error",
		``:                                                                                           "error",
		`{}`:                                                                                         "error",
	} {
		o, err := council.ReadOpinion(block)
		got := o.Position
		for _, p := range o.Points {
			got += fmt.Sprintf(": %s %s %s", p.Claim, p.Basis, p.Source)
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s\nis read as %q, %v", block, got, err)
		}
	}
	many, err := json.Marshal(map[string]any{"points": slices.Repeat([]council.Point{{Claim: "x"}}, 100)})
	if err != nil {
		t.Fatal(err)
	}
	if o, err := council.ReadOpinion(string(many)); err != nil || len(o.Points) != 12 {
		t.Errorf("of 100 points %d are read, %v", len(o.Points), err)
	}
}

func TestABallotThatDoesNotChooseIsNotCounted(t *testing.T) {
	choices := []string{"Rome", "Paris", "a"}
	for block, want := range map[string]string{
		`{"choice": "rome "}`: "{Rome map[] false }",
		`{"choice": "Paris", "scores": {"ROME": 11, "Paris": -3, "Bonn": 4, "a": "x"}, "why": "It is."}`: "{Paris map[Paris:0 Rome:10] false It is.}",
		`{"abstain": true, "choice": "Bonn"}`:             "{ map[] true }",
		`{"choice": "Bonn"}`:                              "the ballot names “Bonn”, which is no choice",
		`{"scores": {"Rome": 9}}`:                         "the ballot names no choice",
		`{"choice": "Rome", "scores": {"a": 1, "A": 9}}`:  "the ballot scores “a” twice",
		`{"choice": ["Rome"]}`:                            "the ballot names no choice",
		`I vote for Rome.`:                                "the block holds no JSON object that can be read",
		`{"choice": "Rome", "scores": "none"}`:            "the block holds no JSON object that can be read",
		`{"choice": "Rome", "abstain": "no", "why": [1]}`: "the block holds no JSON object that can be read",
	} {
		b, err := council.ReadBallot(block, choices)
		got := fmt.Sprint(b)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s is read as %s", block, got)
		}
	}
}

func TestStancesAndGroupsNameOnlyWhatCanBeAPoint(t *testing.T) {
	stances, err := council.ReadStances(`{"stances": [{"point": "A1", "says": "Agree"}, {"point": "a1", "says": "disagree"},
		{"point": "b0", "says": "agree"}, {"point": "b2", "says": "maybe"}, {"point": "c12", "says": "unsure", "why": "So."}, 7]}`)
	if got := fmt.Sprint(stances); err != nil || got != "[{a1 agree } {c12 unsure So.}]" {
		t.Errorf("read are %s, %v", got, err)
	}
	groups, err := council.ReadGroups(`{"groups": [["a1", "B2", "a1", "all"], ["c1"], "d1", [], ["a1", "c3"]],
		"opposed": [["A2", "b1", "c1"], ["a1"], 7]}`)
	if got := fmt.Sprint(groups); err != nil || got != "{[[a1 b2] [a1 c3]] [[a2 b1]]}" {
		t.Errorf("read are %s, %v", got, err)
	}
}

func FuzzOpinion(f *testing.F) {
	f.Add(`{"position": "Yes", "points": [{"claim": "It rains.", "basis": "tool"}], "stances": [{"point": "a1", "says": "agree"}]}`)
	f.Add(`{"groups": [["a1", "b2"], {"x": 1}], "points": [[[[]]]]}`)
	f.Add("{\"position\": \"\xff\\ud800\"}")
	bases := []council.Basis{council.FromTool, council.FromGiven, council.FromOwn}
	f.Fuzz(func(t *testing.T, block string) {
		o, err := council.ReadOpinion(block)
		if err == nil && o.Position == "" && len(o.Points) == 0 {
			t.Fatal("nothing was read, and that is no error")
		}
		texts := []string{o.Position}
		for _, p := range o.Points {
			if p.Claim == "" || !slices.Contains(bases, p.Basis) {
				t.Fatalf("the point %+v was read", p)
			}
			texts = append(texts, p.Claim, p.Source)
		}
		stances, _ := council.ReadStances(block)
		for _, s := range stances {
			texts = append(texts, s.Point, s.Why)
		}
		groups, _ := council.ReadGroups(block)
		for _, g := range slices.Concat(groups.Same, groups.Opposed) {
			if len(g) < 2 {
				t.Fatalf("the group %q was read", g)
			}
		}
		for _, text := range texts {
			if !utf8.ValidString(text) || strings.ContainsAny(text, "\n\r\t\x00\u202e") ||
				utf8.RuneCountInString(text) > 400 {
				t.Fatalf("the text %q was read", text)
			}
		}
	})
}

func FuzzBallot(f *testing.F) {
	f.Add(`{"choice": "rome", "scores": {"Rome": 7.5, "paris": 1e400}, "abstain": false}`)
	f.Add(`{"abstain": true}`)
	f.Add(`{"choice": "Paris", "scores": {"Paris": -0, "PARIS": null}}`)
	choices := []string{"Rome", "Paris"}
	f.Fuzz(func(t *testing.T, block string) {
		b, err := council.ReadBallot(block, choices)
		if err != nil {
			return
		}
		if !b.Abstain && !slices.Contains(choices, b.Choice) {
			t.Fatalf("the ballot %+v was read", b)
		}
		for choice, score := range b.Scores {
			if !slices.Contains(choices, choice) || math.IsNaN(score) || score < 0 || score > 10 {
				t.Fatalf("the ballot %+v was read", b)
			}
		}
		raw := council.EncodeBallot(b)
		if again, err := council.DecodeBallot(string(raw)); err != nil || fmt.Sprint(again) != fmt.Sprint(b) {
			t.Fatalf("%s is read as %+v, %v", raw, again, err)
		}
	})
}
