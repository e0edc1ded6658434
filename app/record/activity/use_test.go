package activity_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/record/activity"
)

func TestWhatAPluginWasLetDoIsASentenceWithoutSecrets(t *testing.T) {
	mask := func(text string) string { return strings.ReplaceAll(text, "open sesame", "•••") }
	for _, c := range []struct{ permission, effect, arguments, says, erased string }{
		{
			"start", "allow", `{"program":"/usr/bin/git","command":"git push 'open sesame'","folder":"/home/me/x"}`,
			"notes was let start “git push '•••'” in /home/me/x.", "notes was let start a program.",
		},
		{
			"filesystem", "deny", `{"path":"/home/me/Letters","file":"a","access":"write"}`,
			"notes was not let read and write files in /home/me/Letters.", "notes was not let open files in a folder.",
		},
		{
			"filesystem", "allow", `{"path":"/home/me/Letters","access":"read"}`,
			"notes was let read files in /home/me/Letters.", "notes was let open files in a folder.",
		},
		{
			"network", "allow", `{"host":"https://api.example.org:443"}`, "notes was let connect to api.example.org.",
			"notes was let connect to a host.",
		},
		{
			"cors_proxy", "deny", `{"host":"http://127.0.0.1:8000"}`, "notes was not let connect to 127.0.0.1:8000.",
			"notes was not let connect to a host.",
		},
		{
			"generation", "allow", `{"spent":"it spent $1 today"}`, "notes was let spend more on models: it spent $1 today.",
			"notes was let spend more on models.",
		},
	} {
		e, raw, err := activity.Use{
			Time: time.Now(), Permission: c.permission, Plugin: "notes", Tool: "notes:(programs)", Chat: "c1", Effect: c.effect,
			By: "person", Waited: 1500, Arguments: json.RawMessage(c.arguments), Why: "you said so, open sesame",
			Path: []chat.DecisionStep{{Number: 9, Name: "default", Effect: "ask", Why: "it could, open sesame"}},
		}.Entry(mask)
		if err != nil {
			t.Fatal(err)
		}
		var d activity.Detail
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		did := map[string]string{"allow": "allowed", "deny": "refused"}[c.effect]
		want := c.says + "\nStep 9, default: you had to be asked, it could, •••.\nIt was " + did +
			" by you, after 1.5 s: you said so, •••."
		if got := strings.Join(activity.Sentences(e, &d), "\n"); got != want || strings.Contains(string(raw), "open sesame") {
			t.Errorf("it says\n%s\nand should say\n%s", got, want)
		}
		if got := activity.Event(e, nil); got != c.erased {
			t.Errorf("without its detail it says %q", got)
		}
		if e.Kind != activity.Used || e.Detail != activity.Hash(raw) || e.Caller != "plugin:notes" {
			t.Errorf("%+v", e)
		}
	}
}
