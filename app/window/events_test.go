package window_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
)

// TestWailsBreaksAstralCharacters tells when the ids of notices need no replacing any more:
// Wails escapes an event by template.JSEscapeString, which writes a character above U+FFFF
// that Go thinks unprintable as one escape of more than the four digits that JavaScript reads.
func TestWailsBreaksAstralCharacters(t *testing.T) {
	if got := template.JSEscapeString("\U000F0000"); got != `\uF0000` {
		t.Errorf("JSEscapeString writes U+F0000 as %s; if a page reads that, take ascii out of app.go", got)
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/wailsapp/wails/v2").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "internal", "frontend", "desktop")
	for _, system := range []string{"linux", "darwin", "windows"} {
		source, err := os.ReadFile(filepath.Join(dir, system, "frontend.go"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(source), "EventsNotify('` + template.JSEscapeString(") {
			t.Errorf("Wails sends events in another way on %s; if it carries every character, take ascii out of app.go", system)
		}
	}
}
