package core

import (
	"testing"

	"conclave/app/terminal"
)

func TestACommandThatRunsElsewhereReadsTheLanguageOfItsCaller(t *testing.T) {
	env := map[string]string{"LANG": "zh_CN.UTF-8", "CONCLAVE_PASSPHRASE": "secret", "HOME": "/home/ada"}
	c := commandOf(&terminal.Session{Env: func(name string) string { return env[name] }})
	if c.Env["LANG"] != "zh_CN.UTF-8" || c.Env["HOME"] != "/home/ada" || len(c.Env) != 2 {
		t.Errorf("it has %v", c.Env)
	}
}
