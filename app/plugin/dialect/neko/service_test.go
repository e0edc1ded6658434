package neko

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/test/testkit"
)

// The services of the template register themselves at a server that answers as Conclave
// does, and are called at the address they give.
func TestTheServicesOfTheTemplateRegisterAndAnswer(t *testing.T) {
	for file, program := range map[string]string{"service.py": "python3", "service.mjs": "node"} {
		t.Run(file, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skip(program + " was not found")
			}
			source, err := fs.ReadFile(templates, "templates/http/NAME/"+file)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), file)
			text := strings.NewReplacer("NAME", "made", "9117", testkit.FreePort(t)).Replace(string(source))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			type registration struct {
				Name        string          `json:"name"`
				Source      string          `json:"source"`
				CallbackURL string          `json:"callback_url"`
				Parameters  json.RawMessage `json:"parameters"`
				from        *http.Request
			}
			registered := make(chan registration, 1)
			conclave := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got := registration{from: r}
				if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
					t.Error(err)
				}
				registered <- got
				_, _ = io.WriteString(w, `{"ok":true}`)
			}))
			defer conclave.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			service := exec.CommandContext(ctx, program, path)
			service.Env = append(os.Environ(), "CONCLAVE_HTTP="+conclave.URL, "CONCLAVE_HTTP_TOKEN=t0ken")
			said := &strings.Builder{}
			service.Stderr = said
			if err := service.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				cancel()
				_ = service.Wait() // it was ended
			}()
			var got registration
			select {
			case got = <-registered:
			case <-ctx.Done():
				t.Fatal("it did not register")
			}
			if got.Name != "made_hello" || got.Source != "plugin:made" || got.from.URL.Path != "/api/tools/register" ||
				got.from.Header.Get("Authorization") != "Bearer t0ken" || got.from.Header.Get("Origin") != "" ||
				got.from.Header.Get("Content-Type") != "application/json" || !json.Valid(got.Parameters) {
				t.Errorf("it registered %+v with %v", got, got.from.Header)
			}
			answer, err := http.Post(got.CallbackURL, "application/json",
				strings.NewReader(`{"name":"made_hello","arguments":{"who":"Ada"},"call_id":"1","raw_arguments":"{}"}`))
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			var out struct{ Output string }
			if err != nil || json.Unmarshal(body, &out) != nil || out.Output != "Hello, Ada!" {
				t.Errorf("it answered %s, %v", body, err)
			}
		})
	}
}
