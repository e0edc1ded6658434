package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/store"
)

// killsVar names the number of moments at which the test below kills the program: by default a few, since
// each costs a start.
const killsVar = "CONCLAVE_KILLS"

// chainLength is the number of calls of a chain that is killed.
const chainLength = 12

const markPlugin = `import os

def mark(n: int) -> str:
    """Leave a mark.

    :param n: Its number.
    """
    with open(os.path.join(os.environ["HOME"], "marks"), "a") as file:
        file.write(f"{n}\n")
    return f"marked {n}"
`

// marker is a model server whose models call mark chainLength times, one call after the other or three in
// a message. The word of the person is the number of the first mark.
func marker(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model    string
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		first, made := 0, 0
		for _, m := range body.Messages {
			switch m.Role {
			case "user":
				first, _ = strconv.Atoi(strings.Trim(string(m.Content), `"`))
			case "tool":
				made++
			}
		}
		at := 1
		if body.Model == "three" {
			at = 3
		}
		delta, reason := map[string]any{"content": "All is marked."}, "stop"
		if made < chainLength {
			var calls []map[string]any
			for i := range at {
				calls = append(calls, map[string]any{
					"index": i, "id": fmt.Sprint("call_", made+i), "type": "function",
					"function": map[string]any{"name": "mark", "arguments": fmt.Sprintf(`{"n":%d}`, first+made+i)},
				})
			}
			delta, reason = map[string]any{"tool_calls": calls}, "tool_calls"
		}
		w.Header().Set("Content-Type", "text/event-stream")
		chunk := func(delta any, reason any) {
			raw, _ := json.Marshal(map[string]any{ // of texts and numbers
				"id": "c", "object": "chat.completion.chunk", "created": 1, "model": body.Model,
				"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": reason}},
			})
			fmt.Fprintf(w, "data: %s\n\n", raw)
		}
		chunk(delta, nil)
		chunk(map[string]any{}, reason)
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// shownLine is a line of prompt --json, as far as the test looks at it.
type shownLine struct {
	Type         string
	Conversation chat.ConversationID
	ID           string
	Arguments    struct{ N int }
	Status       chat.CallStatus
	Content      []struct{ Text string }
}

// TestAKillLosesNothingThatWasShownOrDone kills prompts whose models call tools, at random moments: a
// call that a person saw or that did something is on record, with its result if a person saw that, and
// the chat has the message that asked for it.
func TestAKillLosesNothingThatWasShownOrDone(t *testing.T) {
	kills, err := strconv.Atoi(os.Getenv(killsVar))
	if err != nil {
		kills = 6
	}
	data, address := t.TempDir(), marker(t)
	must(t, os.Mkdir(filepath.Join(data, "plugins"), 0o700))
	must(t, os.WriteFile(filepath.Join(data, "plugins", "mark.py"), []byte(markPlugin), 0o600))
	conclave := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), program, append([]string{"--data", data}, args...)...)
		c.Env = append(os.Environ(), "HOME="+data, "CONCLAVE_DATA=", "CONCLAVE_PLUGINS=")
		return c
	}
	for _, args := range [][]string{
		{"plugins", "trust", "mark"},
		{"models", "add", "openai", "local", "--url", address, "--model", "one", "--model", "three"},
	} {
		if out, err := conclave(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	totals := map[string]int{}
	var chain time.Duration // from the first line to the end, of one that was not killed
	for moment := range kills + 1 {
		first := 1000 * (moment + 1)
		model := []string{"local/one", "local/three"}[moment%2]
		c := conclave("prompt", "-m", model, "--approve", "always", "--chain-limit", "0", "--json", strconv.Itoa(first))
		var problems bytes.Buffer
		c.Stderr = &problems
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		reader := bufio.NewReader(out)
		begun, err := reader.ReadBytes('\n')
		if err != nil {
			t.Fatalf("it said nothing: %v\n%s", err, problems.String())
		}
		began := time.Now()
		if moment > 0 {
			killed := time.AfterFunc(time.Duration(rand.Float64()*float64(chain)), func() { _ = c.Process.Kill() })
			defer killed.Stop()
		}
		rest, err := io.ReadAll(reader)
		must(t, err)
		if err := c.Wait(); err != nil && moment == 0 {
			t.Fatalf("%v\n%s", err, problems.String())
		}
		if moment == 0 {
			chain = time.Since(began)
		}
		lookAtKilled(t, data, first, append(begun, rest...), totals)
	}
	t.Logf("after %d kills within %s: %v", kills, chain.Round(time.Millisecond), totals)
}

// lookAtKilled compares what a program printed and did with what its store has after a kill.
func lookAtKilled(t *testing.T, data string, first int, printed []byte, totals map[string]int) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: data, Wait: patience})
	must(t, err)
	defer s.Close()
	lines := strings.Split(string(printed), "\n")
	var begun shownLine
	must(t, json.Unmarshal([]byte(lines[0]), &begun))
	records, err := s.Calls.Calls(t.Context(), chat.CallFilter{Conversation: begun.Conversation})
	must(t, err)
	byID, byMark := map[string]chat.CallRecord{}, map[int]chat.CallRecord{}
	for _, r := range records {
		var arguments struct{ N int }
		must(t, json.Unmarshal(r.Arguments, &arguments))
		byID[r.RequestID], byMark[arguments.N] = r, r
	}
	path, err := s.Chats.Path(t.Context(), begun.Conversation)
	must(t, err)
	asked := map[string]bool{}
	for _, m := range path {
		for _, p := range m.Parts {
			if p.Call != nil {
				asked[p.Call.ID] = true
			}
		}
	}
	for _, text := range lines[:len(lines)-1] { // the last is empty, or cut
		var line shownLine
		must(t, json.Unmarshal([]byte(text), &line))
		r, there := byID[line.ID]
		switch line.Type {
		case "tool_call":
			totals["calls shown"]++
			if !there || !asked[line.ID] {
				t.Errorf("chat %d: %s was shown; on record: %v, in the chat: %v", first, line.ID, there, asked[line.ID])
			}
		case "tool_result":
			totals["results shown"]++
			if want := strconv.Quote(line.Content[0].Text); r.Status != chat.CallOK || string(r.Result) != want {
				t.Errorf("chat %d: %s was shown for %s; on record are %q and %s", first, want, line.ID, r.Status, r.Result)
			}
		case "end":
			totals["ends shown"]++
			if n := len(path); n == 0 || chat.TextOf(path[n-1].Parts) != "All is marked." {
				t.Errorf("chat %d: the end was shown, and the chat has %d messages", first, n)
			}
		}
	}
	marks, _ := os.ReadFile(filepath.Join(data, "storage", "mark", "marks")) // none before the first
	for _, mark := range strings.Fields(string(marks)) {
		n, err := strconv.Atoi(mark)
		must(t, err)
		if n < first || n >= first+chainLength {
			continue
		}
		totals["calls done"]++
		if r := byMark[n]; r.Status != chat.CallOK && r.Status != chat.CallDied {
			t.Errorf("chat %d: call %d did its work; on record it is %q", first, n, r.Status)
		}
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("chat %d: the store is not sound: %v, %v", first, problems, err)
	}
	if report, err := s.Activity.VerifyActivity(t.Context()); err != nil || !report.OK {
		t.Errorf("chat %d: the record of activity is not sound: %+v, %v", first, report, err)
	}
}
