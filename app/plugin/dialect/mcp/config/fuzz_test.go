package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: whatever a configuration holds, it is read or refused in words, in bounded time, and what is kept of it
// can be read again and filled.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*")
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil {
			f.Add(data)
		}
	}
	for _, text := range []string{
		"npx -y x", `claude mcp add x -- y`, "cursor://x/mcp/install?name=a&config=e30", "vscode:mcp/install?%7B%7D", "```\n{}\n```",
		`{"a":{"command":"${{ x }} ${a:-b} $c {{d}} ${","args":["${input:x}"]}}`, "a: &a\n  <<: *a\n", "{,}", `{"url":"https://${x"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		servers, problems := Parse(data, "")
		if len(Folders(servers)) != len(servers) {
			t.Error("a server has no folder")
		}
		for _, s := range servers {
			if s.Command == "" && s.URL == "" {
				t.Errorf("%+v cannot be reached", s)
			}
			_, _ = Fill(s, nil, nil)
			kept, _ := TakeSecrets(s)
			text, err := Write(kept)
			if err != nil {
				t.Fatal(err)
			}
			if form := Form(kept); form != nil && !json.Valid(form) {
				t.Errorf("the form is no JSON: %s", form)
			}
			if again, problems := Parse(text, ""); len(again) != 1 || len(problems) != 0 {
				t.Errorf("%s\nis not read again: %v", text, problems)
			}
		}
		for _, p := range problems {
			if p.Message == "" || strings.Contains(p.Message, "\n") {
				t.Errorf("%+v", p)
			}
		}
	})
}
