package council_test

import (
	"testing"

	"conclave/app/base/fault"
	"conclave/app/council"
)

func TestAMemberIsAskedByName(t *testing.T) {
	c := council.Council{Members: []council.Member{
		{ID: "ada", Name: "Ada"},
		{ID: "ada-2", Name: "Ada Byron"},
		{ID: "zoe", Name: "Zoë"},
		{ID: "ada-off", Name: "Ada Byron King", Off: true},
		{ID: "cy", Name: "Cy", Off: true},
	}}
	for text, want := range map[string]string{
		"@Ada is it so?": "ada", "  @ada, is it so?": "ada", "@Ada Byron: is it so?": "ada-2", "@ada-2 is it?": "ada-2",
		"@Adam is it so?": "", "Ada is it so?": "", "@": "", "@Zoë": "zoe", "ask @Ada": "", "@ada-3": "",
		"@Cy is it so?": "", "@Ada Byron King is it so?": "ada-2", "@ada-off": "",
	} {
		if got, _ := c.Addressed(text); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

func TestANameOfNobodyAsksNobody(t *testing.T) {
	c := council.Council{Members: []council.Member{
		{ID: "ada", Name: "Ada"}, {ID: "zoe", Name: "Zoë"}, {ID: "cy", Name: "Cy", Off: true},
	}}
	for text, want := range map[string]string{
		"@Ghost is it so?": "No member is called Ghost.", " @Ghöst, is it?": "No member is called Ghöst.",
		"@Adam": "No member is called Adam.", "@ada-3 go": "No member is called ada-3.",
		"@Cy is it so?": "Cy is switched off in the council.",
		"@Ada is it?":   "", "@Zoë": "", "@ hello": "", "@": "", "mail a@Ghost.example": "", "": "",
	} {
		got := ""
		if _, err := c.Addressed(text); err != nil {
			got = fault.Of(err).Message
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
