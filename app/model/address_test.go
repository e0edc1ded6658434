package model

import "testing"

func TestAnAddressIsTakenAsItIsMeant(t *testing.T) {
	for typed, want := range map[string]string{
		"localhost:48111":                               "http://localhost:48111",
		" localhost:1234/v1/ ":                          "http://localhost:1234/v1",
		"127.0.0.1:8080/v1/chat/completions":            "http://127.0.0.1:8080/v1",
		"192.168.1.20:11434":                            "http://192.168.1.20:11434",
		"workstation:8000/v1":                           "http://workstation:8000/v1",
		"nas.local/v1":                                  "http://nas.local/v1",
		"api.example.com/v1/models":                     "https://api.example.com/v1",
		"//api.example.com/v1":                          "https://api.example.com/v1",
		"http://api.example.com/v1?version=2":           "http://api.example.com/v1?version=2",
		"https://api.example.com/openai/v1/completions": "https://api.example.com/openai/v1",
		"": "",
	} {
		if got := Typed(typed); got != want {
			t.Errorf("%q is taken for %q, not %q", typed, got, want)
		}
	}
	if got := Typed("localhost:11434/v1", "/v1"); got != "http://localhost:11434" {
		t.Errorf("with an ending that the caller adds: %q", got)
	}
}
