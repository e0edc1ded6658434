package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin"
)

func texts(lines []plugin.LogLine) string {
	var out []string
	for _, line := range lines {
		out = append(out, line.Text)
	}
	return strings.Join(out, "|")
}

func TestALogIsReadByTheNextStartWithoutItsSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "plugins", "p.log")
	var m redactor
	m.add("hunter2-hunter2")
	first := newPluginLog(path, &m)
	first.add("info", "one with hunter2-hunter2\n", "")
	first.add("error", "two", "call")
	first.close()
	raw, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(raw), "hunter2") {
		t.Fatalf("the file holds %q, %v", raw, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v %v", info.Mode(), err)
	}
	next := newPluginLog(path, &redactor{})
	next.add("info", "three", "")
	lines := next.since(0)
	if got := texts(lines); got != "one with •••|two|three" || lines[1].Level != "error" || lines[1].Call != "call" {
		t.Errorf("the next start reads %q", got)
	}
	if got := texts(next.since(lines[1].N)); got != "three" {
		t.Errorf("since the second there is %q", got)
	}
	next.forget()
	if got := texts(newPluginLog(path, &redactor{}).since(0)); got != "" {
		t.Errorf("once forgotten there is %q", got)
	}
}

func TestALogHoldsNothingThatATerminalObeysAndNoPartedSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.log")
	var m redactor
	m.add("hunter2-hunter2")
	j := newPluginLog(path, &m)
	j.add("info", "\x1b]52;c;c2VjcmV0\x07a\x1b[2J\u009b1mb\u202e\x7f\x00\nhunter\u200b2-hun\x1b[0mter2\rover\r\nend\r\n",
		"")
	const want = "ab\n•••\nover\nend"
	if got := texts(j.since(0)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	j.close()
	raw, err := os.ReadFile(path)
	if err != nil || strings.ContainsAny(string(raw), "\x1b\u009b\u202e") {
		t.Errorf("the file holds %q, %v", raw, err)
	}
	// What an older Conclave wrote, or somebody else.
	line := `{"time":"2026-01-01T00:00:00Z","level":"info","text":"\u001b[2Jx` + "\u009b1m" + `y"}` + "\n"
	must(t, os.WriteFile(path, []byte(line), 0o600))
	if got := texts(newPluginLog(path, &m).since(0)); got != "xy" {
		t.Errorf("an older log reads %q", got)
	}
}

func TestAKeptLogIsBoundedAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "p.log")
		j := newPluginLog(path, &redactor{})
		line := strings.Repeat("x", 1000)
		for i := range 3000 { // three times the bound
			j.add("info", fmt.Sprint(i, " ", line), "")
			time.Sleep(time.Second) // of the bubble: within the pace
		}
		j.close()
		size := int64(0)
		for _, path := range []string{path, olderOf(path)} {
			info, err := os.Stat(path)
			must(t, err)
			size += info.Size()
		}
		if size > limit.PluginLog {
			t.Errorf("%d bytes are kept", size)
		}
		lines := newPluginLog(path, &redactor{}).since(0)
		if got := texts(lines); !strings.HasSuffix(got, "2999 "+line) || !strings.Contains(got,
			"Older lines of this log are not kept: it holds 1 MiB.") {
			t.Errorf("the next start reads %d lines: %.200q", len(lines), got)
		}
	})
}

func TestAPluginThatPrintsWithoutEndDoesNotFillTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no time passes
		path := filepath.Join(t.TempDir(), "p.log")
		j := newPluginLog(path, &redactor{})
		line := strings.Repeat("x", 4000)
		for range 2000 {
			j.add("info", line, "")
		}
		j.close()
		if j.paced <= journalPace || j.size > journalPace {
			t.Errorf("%d bytes were written of %d", j.size, j.paced)
		}
		if got := len(j.since(0)); got < journalLines {
			t.Errorf("%d lines are in memory", got)
		}
	})
}
