package gate_test

import (
	"strings"
	"testing"

	"conclave/app/gate"
)

func TestEveryPermissionIsSaidInWords(t *testing.T) {
	for _, name := range []string{
		"tools", "generation", "chats", "chat_mutation", "interceptor", "context_handler", "cors_proxy", "local_network",
		"world_books", "characters", "personas", "network", "programs", "filesystem",
	} {
		f := gate.Describe(name)
		if !f.Supported || f.Name != name || !strings.HasSuffix(f.Sentence, ".") || !strings.HasSuffix(f.Without, ".") {
			t.Errorf("%s is said as %+v", name, f)
		}
		if gate.ManualOnly(name) != (f.Risk == gate.SandboxRisk) {
			t.Errorf("%s has risk %s, and a yes of its own: %v", name, f.Risk, gate.ManualOnly(name))
		}
	}
	for _, name := range []string{"screen_capture", "providers.tts.register", "no such thing"} {
		if f := gate.Describe(name); f.Supported || f.Sentence == "" {
			t.Errorf("%s is said as %+v", name, f)
		}
	}
}

func TestEveryCallerIsSaidInWords(t *testing.T) {
	for caller, want := range map[gate.Caller]string{
		gate.Main: "Main assistant", gate.Person: "You", gate.Member("ada"): "ada (council)",
		"plugin:notes": "The plugin notes", "http:python3 weather.py": "The program python3 weather.py",
		"http:cu\u202erl": "The program curl", "http:": "A program",
	} {
		if got := gate.CallerName(caller, ""); got != want {
			t.Errorf("%s is %q, want %q", caller, got, want)
		}
	}
}
