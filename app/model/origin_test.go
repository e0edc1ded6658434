package model_test

import (
	"testing"

	"conclave/app/model"
)

func TestAKeyBelongsToSchemeHostAndPort(t *testing.T) {
	for url, want := range map[string]string{
		"https://api.example.com/v1":      "https://api.example.com:443",
		"HTTPS://API.example.com:443/v2/": "https://api.example.com:443",
		"http://api.example.com/v1":       "http://api.example.com:80",
		"http://127.0.0.1:18101/v1":       "http://127.0.0.1:18101",
		"http://[::1]:8080":               "http://[::1]:8080",
		"https://user@evil.example/a@b":   "https://evil.example:443",
		"":                                "openai:",
		"no address":                      "",
		"http://%zz":                      "",
	} {
		if got := (model.Connection{Kind: "openai", URL: url}).Address(); got != want {
			t.Errorf("%q: got %q, want %q", url, got, want)
		}
	}
}
