package prompt_test

import (
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat/prompt"
)

const letter = "Write a {{ tone:choice(kind, firm) }} letter to {{name}} about {{topic:lines}}, by {{day:date}}, " +
	"at most {{words:number}} words. Sign as {{name:text}}. {{not:aplace}} {{}} {{a:b:c}}"

func TestPlacesAreEachNameOnceWithItsKind(t *testing.T) {
	got := []string{}
	for _, p := range (prompt.Prompt{Text: letter}).Places() {
		got = append(got, p.Name+" "+string(p.Kind)+" "+strings.Join(p.Choices, "/"))
	}
	want := "tone choice kind/firm|name text |topic lines |day date |words number "
	if strings.Join(got, "|") != want {
		t.Errorf("places %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestValuesStandInTheirPlacesAndAreNotLookedThroughAgain(t *testing.T) {
	p := prompt.Prompt{Text: letter}
	got, err := p.Fill(map[string]string{
		"tone": "firm", "name": "Ada {{topic}}", "topic": "a\nb", "day": "2026-11-28", "words": "200",
	})
	want := "Write a firm letter to Ada {{topic}} about a\nb, by 2026-11-28, at most 200 words. " +
		"Sign as Ada {{topic}}. {{not:aplace}} {{}} {{a:b:c}}"
	if err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for name, value := range map[string]string{"tone": "rude", "day": "tomorrow", "words": "many"} {
		if _, err := p.Fill(map[string]string{name: value}); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

func TestAFileHoldsPromptsAndIsReadWholeOrNotAtAll(t *testing.T) {
	raw, err := prompt.Write([]prompt.Prompt{{ID: "x", Title: "Letter", Text: letter}})
	if err != nil {
		t.Fatal(err)
	}
	read, err := prompt.Read(raw)
	if err != nil || len(read) != 1 || read[0].Text != letter || read[0].ID != "" {
		t.Errorf("read %+v, %v", read, err)
	}
	for _, bad := range []string{`{}`, `[]`, `{"conclave_prompts":[{"title":"","text":"x"}]}`, "no"} {
		if _, err := prompt.Read([]byte(bad)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
