package deliberation_test

import (
	"context"
	"slices"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/model/modeltest"
)

func TestWhatAMemberReadMarksItsWordsTheNotesAndTheAnswerMadeOfThem(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "send")
	b.unsure("p") // what it can touch is not known, so it may read anything
	b.asker = &asks{}
	b.council(`{"enabled": true, "mode": "review", "members": [
		{"name": "Ada", "model": "test/ada", "tools": ["p:send"]}, {"name": "Bo", "model": "test/bo"}]}`)
	b.model("test/ada", []modeltest.Step{modeltest.Call("call_0", "send", `{}`)}, []modeltest.Step{modeltest.Say("It says go.")},
		[]modeltest.Step{modeltest.Say("I stay with it.")})
	b.says("test/bo", "No.", "Well, yes.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	returned := chat.NewOrigin(chat.FromTool, "p")
	heard := chat.NewOrigin(chat.FromMember, "Ada")
	looked := false
	for _, task := range run.Tasks {
		looked = looked || task.Stage > 0 && task.Member == "bo"
		switch origins := task.End.Origins; {
		case task.Stage == 0 && task.Member == "bo" && len(origins) > 0:
			t.Errorf("%s, which read nothing, holds %v", task.ID, origins)
		case task.Stage == 0 && task.Member == "ada" && !slices.Equal(origins, []chat.Origin{returned}):
			t.Errorf("%s, which called a tool, holds %v", task.ID, origins)
		case task.Stage > 0 && task.Member == "bo" &&
			(!slices.Contains(origins, returned) || !slices.Contains(origins, heard)):
			t.Errorf("%s, which heard Ada, holds %v", task.ID, origins)
		}
	}
	if !looked {
		t.Error("Bo heard nothing of Ada")
	}
	path, err := b.store.Chats.Path(t.Context(), b.id)
	if err != nil {
		t.Fatal(err)
	}
	said := chat.NewOrigin(chat.FromMember, "the council")
	if got := path[len(path)-1].Origins; !slices.Contains(got, returned) || !slices.Contains(got, said) {
		t.Errorf("the answer was made from %v", got)
	}
	if got := path[0].Origins; len(got) != 0 {
		t.Errorf("the question came from %v", got)
	}

	record, err := b.store.Calls.Call(t.Context(), run.Tasks[0].End.Calls[0])
	if err != nil || !slices.Equal(record.Brought, []chat.Origin{returned}) {
		t.Errorf("the call brought %v, %v", record.Brought, err)
	}
}

func TestWhatPluginsKeepForTheCouncilMarksTheWordsOfWhoIsToldIt(t *testing.T) {
	wrote := chat.NewOrigin(chat.FromPlugin, "Notes")
	b := newBench(t, func(o *deliberation.Options) {
		o.Background = func(context.Context, chat.ConversationID, []chat.Message) ([]council.Background, error) {
			return []council.Background{{
				Kind: council.PersonaInfo, Title: "You", Text: "PERSONA", Origins: []chat.Origin{wrote},
			}}, nil
		}
	})
	b.council(`{"enabled": true, "mode": "opinions", "members": [
		{"name": "Ada", "model": "test/ada"}, {"name": "Bo", "model": "test/bo", "context": {"policy": "question"}}]}`)
	b.says("test/ada", "Yes.")
	b.says("test/bo", "No.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	for _, task := range run.Tasks {
		if got := slices.Contains(task.End.Origins, wrote); task.Stage == 0 && got != (task.Member == "ada") {
			t.Errorf("%s holds %v", task.ID, task.End.Origins)
		}
	}
	path, err := b.store.Chats.Path(t.Context(), b.id)
	if err != nil {
		t.Fatal(err)
	}
	if got := path[len(path)-1].Origins; !slices.Contains(got, wrote) {
		t.Errorf("the answer was made from %v", got)
	}
}
