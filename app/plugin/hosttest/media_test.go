package hosttest

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/tool/call"
)

// dot is a PNG of one pixel, in base64.
const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// pictures returns the results of a message and the names of their pictures.
func pictures(parts []chat.Part) (calls, names, texts []string) {
	for _, p := range parts {
		if p.Result == nil {
			continue
		}
		calls = append(calls, p.Result.CallID)
		for _, c := range p.Result.Content {
			if c.Media != nil {
				names = append(names, c.Media.Name)
			} else {
				texts = append(texts, c.Text)
			}
		}
	}
	return calls, names, texts
}

func TestMB56To58PicturesOfParallelCallsKeepTheirPlacesAndSurviveARestart(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.maibotTree("camera", `
@Tool("shoot", visibility="visible", parameters={"n": {"type": "integer"}})
async def shoot(self, n, **kwargs):
    import asyncio
    await asyncio.sleep(0.2 if n == 1 else 0)
    return {"content": "shot %d" % n, "content_items": [{"type": "text", "text": "t"}, {"type": "image", "data": "`+dot+
		`", "mime_type": "image/png"}]}

@Tool("tell", visibility="visible")
async def tell(self, **kwargs):
    return {"success": True, "picture": "`+strings.Repeat(dot[:88], 60)+`"}
`)
	c.approved("camera")
	set := c.tools.Set()
	shoot, _ := set.ByID("camera:shoot")
	tell, _ := set.ByID("camera:tell")
	m := modeltest.New(
		[]modeltest.Step{
			modeltest.Call("one", shoot.WireName, `{"n":1}`), modeltest.Call("two", shoot.WireName, `{"n":2}`),
			modeltest.Call("three", tell.WireName, `{}`),
		},
		[]modeltest.Step{modeltest.Say("Seen.")}, []modeltest.Step{modeltest.Say("Seen again.")},
	)
	talk := chat.Conversation{Title: "pictures"}
	must(t, c.store.Chats.CreateConversation(t.Context(), &talk))
	say := func(c *core, text string) {
		t.Helper()
		runner := turn.New(turn.Options{Log: c.store.Turns, Calls: call.New(call.Options{Gate: c.gate, Log: c.store.Turns})})
		out, err := runner.Run(t.Context(), turn.Request{
			Conversation: talk.ID, Text: text, Model: m, Tools: c.tools.Set(),
			Asker: gate.AlwaysAsker{},
		}, nil)
		if err != nil || out.Reason != chat.EndDone {
			t.Fatalf("the turn ended %s: %v, %v", out.Reason, err, out.Err)
		}
	}
	// All results lie in one message, in the order of the calls; those who speak to
	// a provider put pictures behind the last of them.
	check := func(when string, parts []chat.Part, bytes bool) {
		t.Helper()
		calls, names, texts := pictures(parts)
		if got := strings.Join(calls, " "); got != "one two three" {
			t.Errorf("%s, MB56: the results are those of %s", when, got)
		}
		if got := strings.Join(names, " "); got != "tool_result:one:2 tool_result:two:2" {
			t.Errorf("%s, MB58: the pictures are called %s", when, got)
		}
		if all := strings.Join(texts, "\n"); strings.Contains(all, dot[:40]) || !strings.Contains(all, "shot 1") ||
			!strings.Contains(all, `msg_id="tool_result:two:2"`) {
			t.Errorf("%s, MB57: the text is %.600s", when, all)
		}
		for _, p := range parts {
			for _, content := range p.Result.Content {
				if content.Media != nil && bytes && len(content.Media.Data) != int(content.Media.Size) {
					t.Errorf("%s: %s has %d of its %d bytes", when, content.Media.Name, len(content.Media.Data), content.Media.Size)
				}
			}
		}
	}
	toolMessage := func(request int) []chat.Part {
		t.Helper()
		for _, message := range m.Requests()[request].Messages {
			if message.Role == chat.RoleTool {
				return message.Parts
			}
		}
		t.Fatalf("request %d has no results", request)
		return nil
	}
	say(c, "Shoot.")
	check("the next request", toolMessage(1), true)
	records, err := c.store.Calls.Calls(t.Context(), chat.CallFilter{})
	must(t, err)
	raw, err := json.Marshal(records)
	must(t, err)
	if len(records) != 3 || strings.Contains(string(raw), dot[:40]) {
		t.Errorf("MB57: %d calls are on record, and one holds the picture: %.400s", len(records), raw)
	}

	c.end()
	c = open(t, c.dir, c.data)
	path, err := c.store.Chats.Path(t.Context(), talk.ID)
	must(t, err)
	for _, message := range path {
		if message.Role != chat.RoleTool {
			continue
		}
		check("what is kept", message.Parts, false)
		for _, p := range message.Parts {
			for _, content := range p.Result.Content {
				if content.Media == nil {
					continue
				}
				if data, err := c.store.Media.Media(t.Context(), content.Media.ID); err != nil ||
					int64(len(data)) != content.Media.Size {
					t.Errorf("MB58: %s is %d bytes, %v", content.Media.Name, len(data), err)
				}
			}
		}
	}
	c.offers("camera:shoot")
	say(c, "And now?")
	check("after a restart", toolMessage(2), true)
	c.end()
	must(t, filepath.WalkDir(c.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.Contains(path, "runtime") {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(text), dot[:40]) && !strings.Contains(path, "camera") {
			err = fmt.Errorf("MB57: base64 lies in %s", path)
		}
		return err
	}))
}
