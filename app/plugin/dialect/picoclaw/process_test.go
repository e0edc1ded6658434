package picoclaw_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
)

// lastOf returns the text of the last message that a model was sent.
func lastOf(r model.Request) string {
	parts := r.Messages[len(r.Messages)-1].Parts
	return chat.TextOf(parts[len(parts)-1:])
}

func TestPC34AProcessMayAnswerWithTextIDsAndLongLines(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("before_llm"), told+`
asked = 0
for line in sys.stdin:
    message = json.loads(line)
    if not message.get("id"):
        continue
    result = {"action": "continue"}
    if message["method"] == "hook.before_llm":
        asked += 1
        result = {"action": "modify", "reason": "x" * [0, 2 << 20, 33 << 20, 0][asked], "request": {"messages":
            message["params"]["messages"] + [{"role": "user", "content": "asked %d" % asked}]}}
    send({"jsonrpc": "2.0", "id": str(message["id"]), "result": result})
`)
	for i, want := range []string{"asked 1", "what is the weather?", "asked 3"} {
		a := b.ask(nobody(), say("ok"))
		a.says("ok")
		if got := lastOf(a.requests[0]); got != want {
			t.Errorf("request %d ends with %q, not %q", i+1, got, want)
		}
	}
	testkit.Until(t, "its log has both", func() bool {
		log := fmt.Sprint(b.host.Log("h", 0))
		return strings.Contains(log, "It answered with a line of more than 32 MiB, which was passed over.") &&
			strings.Contains(log, "ids as text")
	})
}

func TestPC39AProcessThatNeverReadsDelaysNoTurn(t *testing.T) {
	b := newBench(t)
	b.hook("deaf", entry{"observe": []string{"*", "llm_delta"}}, told+`
hello = json.loads(sys.stdin.readline())
send({"jsonrpc": "2.0", "id": hello["id"], "result": {}})
while True: time.sleep(60)
`)
	model := modeltest.New(slices.Repeat([]modeltest.Step{modeltest.Say("word ")}, 100), say("again"))
	for range 2 {
		events, began := 0, time.Now()
		// far more than a pipe holds, so that what it is told of the question stays unread
		outcome, err := b.turns.Run(t.Context(), turn.Request{
			Conversation: b.chat, Model: model, Text: strings.Repeat("long ", 100_000),
		}, func(chat.Event) { events++ })
		must(t, err)
		took := time.Since(began)
		if outcome.Reason != chat.EndDone || took > time.Duration(events)*3*time.Second {
			t.Errorf("it ended %s after %s and %d events", outcome.Reason, took, events)
		}
	}
	if all := b.host.Backends.Enlisted("picoclaw"); len(all) != 1 || all[0].Broken != nil {
		t.Errorf("it is %+v", all)
	}
}

func TestPC53OneProcessServesTwoChatsAtOnce(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("before_llm"), told+`
open_ = []
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") != "hook.before_llm":
        if message.get("id"):
            send({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "continue"}})
        continue
    open_.append(message)
    if len(open_) == 2: # the later one first
        for one in reversed(open_):
            params = one["params"]
            params["messages"] = params["messages"] + [{"role": "user", "content": "in " + params["chat_id"]}]
            send({"jsonrpc": "2.0", "id": one["id"], "result": {"action": "modify", "request": params}})
`)
	other := chat.Conversation{}
	must(t, b.store.Chats.CreateConversation(t.Context(), &other))
	chats := []chat.ConversationID{b.chat, other.ID}
	ended := make(chan error, len(chats))
	models := []*modeltest.Model{modeltest.New(say("ok")), modeltest.New(say("ok"))}
	for i, id := range chats {
		go func() { // ends with its turn
			outcome, err := b.turns.Run(t.Context(), turn.Request{Conversation: id, Model: models[i], Text: "hi"}, nil)
			if err == nil {
				err = outcome.Err
			}
			ended <- err
		}()
	}
	must(t, <-ended, <-ended)
	for i, id := range chats {
		if got := lastOf(models[i].Requests()[0]); got != "in "+string(id) {
			t.Errorf("the model of %s was told %q", id, got)
		}
	}
}
