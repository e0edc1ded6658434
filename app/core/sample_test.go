package core

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/test/programtest"
)

// Somebody without any model meets a council: scripted, with tools that are real. It is
// asked for before anybody looked into the plugins folder, as at a first start.
func TestTheSampleCouncilRunsWithoutANetwork(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c, err := Open(ctx, Options{
		Data: t.TempDir(), Plugins: filepath.Join(t.TempDir(), "plugins"), OwnPlugins: true, Worker: programtest.Worker(t),
		Name: "a test", LoadTimeout: patience,
	})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	talk := chat.Conversation{}
	if err := c.Store.Chats.CreateConversation(ctx, &talk); err != nil {
		t.Fatal(err)
	}
	guide, err := c.Models.Open(ctx, "demo/guide")
	must(t, err)
	sample, question := council.Sample()
	out, err := c.Councils.Run(ctx, turn.Request{
		Conversation: talk.ID, Text: question, Model: guide, Asker: gate.AlwaysAsker{},
	}, deliberation.How{Council: &sample}, nil)
	if err != nil || out.Err != nil {
		t.Fatal(err, out.Err)
	}
	said := chat.TextOf(out.Message.Parts)
	for _, want := range []string{
		"*Scripted: Demo guide plays the chair.", "14 weekdays [a1]", "9 are left [b1]", "[c1]",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("the answer lacks %q: %s", want, said)
		}
	}
	if strings.Contains(said, "```council") {
		t.Errorf("what nobody is to see is in the answer: %s", said)
	}
	runs, err := c.Councils.Runs(ctx, talk.ID)
	if err != nil || len(runs) != 1 {
		t.Fatalf("there are %d runs, %v", len(runs), err)
	}
	steps, err := c.Store.Councils.Steps(ctx, runs[0].Run)
	must(t, err)
	run, err := council.Replay(steps)
	if err != nil || run.State != council.Over || len(run.Tasks) != 6 {
		t.Fatalf("the run is %s with %d tasks, %v", run.State, len(run.Tasks), err)
	}
	calls := 0
	for _, task := range run.Tasks {
		if task.State != council.Done || !task.End.Usage.Known() || task.End.Usage.Cost != 0 {
			t.Errorf("%s is %s, %+v: %+v", task.ID, task.State, task.End.Failure, task.End.Usage)
		}
		calls += len(task.End.Calls)
		text, err := c.Councils.Texts(ctx, run.Begin.Run)(task.End.Text)
		if err != nil || !strings.HasPrefix(text, "*Scripted: Demo guide plays the ") {
			t.Errorf("%s says %q, %v", task.ID, text, err)
		}
	}
	if calls != 4 {
		t.Errorf("%d tools were called", calls)
	}
	view, err := c.Councils.View(ctx, run.Begin.Run, 0)
	if err != nil || view.Result == nil || len(view.Result.Agreement) == 0 || len(view.Result.Disagreement) == 0 ||
		len(view.Result.NotChecked) == 0 || len(view.Lanes) < 3 {
		t.Errorf("what is shown is %+v, %v", view.Result, err)
	}
	talk, err = c.Store.Chats.Conversation(ctx, talk.ID)
	if err != nil || talk.Spent == nil || talk.Spent.Input <= out.Usage.Input || !talk.Spent.Known() {
		t.Errorf("the chat took %+v, its answer %+v, %v", talk.Spent, out.Usage, err)
	}
}
