package plugin

import "testing"

func TestAProblemOfAWholeFileNamesNoLine(t *testing.T) {
	for want, p := range map[string]Problem{
		"It is old.":              {Message: "It is old."},
		"plugin.toml: It is old.": {Message: "It is old.", File: "plugin.toml"},
		"plugin.py:7: It is old.": {Message: "It is old.", File: "plugin.py", Line: 7},
	} {
		if got := p.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
