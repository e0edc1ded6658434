package plugin_test

import (
	"testing"

	"conclave/app/plugin"
)

func TestTheWordsOfASandboxNameThePermission(t *testing.T) {
	for text, want := range map[string]string{
		"node: spawnSync /opt/x EPERM\n    at Object.spawnSync": "programs",
		"run.sh: fork: Operation not permitted":                 "programs",
		"fork/exec /usr/bin/git: permission denied":             "programs",
		"Error: getaddrinfo EAI_AGAIN api.example.org":          "network",
		"TypeError: fetch failed":                               "network",
		"dial udp [::1]:53: socket: permission denied":          "network",
		"connect EACCES 127.0.0.1:5432":                         "network",
		"EACCES: permission denied, open '/x'":                  "",
		"the fork of the river":                                 "",
		"no such file":                                          "",
	} {
		got := ""
		for _, one := range plugin.GuessRefusals(text) {
			got += one.Permission
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
