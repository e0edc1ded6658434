package store

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/chat/prompt"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/model/cost"
	"conclave/app/plugin/dialect/httptools"
	"conclave/app/record/activity"
	"conclave/app/tool/mcpserver"
	"conclave/store/layouttest"

	"go.etcd.io/bbolt"
)

func TestTheLayoutIsRaisedWithEveryChangeOfAStoredRecord(t *testing.T) {
	layouttest.Check(t, filepath.Join("testdata", "layout.txt"), Layout, map[string]reflect.Type{
		"conversations":    reflect.TypeFor[chat.Conversation](),
		"messages":         reflect.TypeFor[chat.Message](),
		"tool_calls":       reflect.TypeFor[storedCall](),
		"settings":         reflect.TypeFor[settingsRecord](),
		"settings, value":  reflect.TypeFor[settings.Settings](),
		"grants":           reflect.TypeFor[gate.Rule](),
		"approvals":        reflect.TypeFor[gate.Approval](),
		"tool_uses":        reflect.TypeFor[gate.Use](),
		"trash":            reflect.TypeFor[trashRecord](),
		"journal, piece":   reflect.TypeFor[piece](),
		"activity":         reflect.TypeFor[activity.Entry](),
		"activity_details": reflect.TypeFor[activity.Detail](),
		"councils":         reflect.TypeFor[council.Council](),
		"council_runs":     reflect.TypeFor[council.Header](),
		"council_steps":    reflect.TypeFor[council.Step](),
		"plugin_spending":  reflect.TypeFor[cost.Day](),
		"registrations":    reflect.TypeFor[httptools.Registration](),
		"prompts":          reflect.TypeFor[prompt.Prompt](),
		"outside":          reflect.TypeFor[mcpserver.Record](),
		"variable_authors": reflect.TypeFor[[]chat.Author](),
	})
}

// addFields puts a member that nobody knows into every object of a bucket's records.
func addFields(t *testing.T, s *Store, name []byte) {
	t.Helper()
	must(t, s.write(t.Context(), "test", func(tx *bbolt.Tx) error {
		b := bucket(tx, name)
		return b.ForEach(func(k, v []byte) error {
			var record map[string]any
			if err := json.Unmarshal(v, &record); err != nil {
				return err
			}
			addField(record)
			raw, err := encode(record)
			if err != nil {
				return err
			}
			return b.Put(k, raw)
		})
	}))
}

func addField(value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, below := range v {
			addField(below)
		}
		v["of_the_future"] = "kept"
	case []any:
		for _, below := range v {
			addField(below)
		}
	}
}

// fieldsIn counts the members that addFields made.
func fieldsIn(t *testing.T, s *Store, name []byte) (n int) {
	t.Helper()
	must(t, s.view(t.Context(), "test", func(tx *bbolt.Tx) error {
		return bucket(tx, name).ForEach(func(_, v []byte) error {
			n += strings.Count(string(v), `"of_the_future":"kept"`)
			return nil
		})
	}))
	return n
}

func TestFieldsOfANewerConclaveSurviveEveryRewrite(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	must(t, err)
	defer s.Close()
	ctx := t.Context()

	c := chat.Conversation{Title: "a", Origins: []chat.Origin{chat.NewOrigin(chat.FromImport, "a.txt")}}
	must(t, s.Chats.CreateConversation(ctx, &c))
	m := chat.Message{
		Conversation: c.ID, Role: chat.RoleUser, State: chat.Complete, Usage: &chat.Usage{Input: 1},
		Parts: []chat.Part{chat.TextPart("one"), chat.TextPart("two")},
	}
	must(t, s.Chats.Append(ctx, &m))
	addFields(t, s, bucketConversations)
	addFields(t, s, bucketMessages)
	chats, messages := fieldsIn(t, s, bucketConversations), fieldsIn(t, s, bucketMessages)
	if chats < 2 || messages < 4 {
		t.Fatalf("%d fields in a chat, %d in a message", chats, messages)
	}
	must(t, s.Chats.UpdateConversation(ctx, c.ID, func(c *chat.Conversation) { c.Title = "b" }))
	must(t, s.Chats.UpdateMessages(ctx, c.ID, []chat.MessageSeq{m.Seq}, func(all []chat.Message) error {
		all[0].Hidden = true
		return nil
	}))
	token, err := s.Chats.DeleteConversation(ctx, c.ID)
	must(t, err)
	if n := fieldsIn(t, s, bucketTrash); n != chats {
		t.Errorf("a chat in the trash has %d fields, had %d", n, chats)
	}
	_, err = s.Chats.Undelete(ctx, token)
	must(t, err)
	if n := fieldsIn(t, s, bucketConversations); n != chats {
		t.Errorf("a chat that was renamed, deleted and brought back has %d fields, had %d", n, chats)
	}
	if n := fieldsIn(t, s, bucketMessages); n != messages {
		t.Errorf("a message that was hidden has %d fields, had %d", n, messages)
	}

	rule := gate.Rule{
		ID: "r", Effect: gate.Allow, Plugin: "kit", Match: []gate.Match{{Field: "text", Op: "equals", Value: "a"}},
	}
	must(t, s.Permissions.PutRule(ctx, rule))
	must(t, s.Permissions.PutApproval(ctx, gate.Approval{Plugin: "kit"}))
	must(t, s.Permissions.PutUses(ctx, map[string]gate.Use{"kit:echo": {}}))
	set := council.Council{Members: []council.Member{{ID: "a"}}}
	must(t, s.Councils.PutCouncil(ctx, council.OfChat(c.ID), &set))
	call := chat.CallRecord{ToolName: "echo", Status: chat.CallRunning}
	must(t, s.Calls.PutCall(ctx, &call))
	must(t, s.Sync(ctx))
	buckets := [][]byte{bucketGrants, bucketApprovals, bucketUses, bucketCouncils, bucketCalls}
	before := map[string]int{}
	for _, name := range buckets {
		addFields(t, s, name)
		if before[string(name)] = fieldsIn(t, s, name); before[string(name)] == 0 {
			t.Fatalf("no fields in %s", name)
		}
	}
	rules, err := s.Permissions.Rules(ctx)
	must(t, err)
	rules[0].Uses = 1
	must(t, s.Permissions.PutRule(ctx, rules[0]))
	approvals, err := s.Permissions.Approvals(ctx)
	must(t, err)
	must(t, s.Permissions.PutApproval(ctx, approvals[0]))
	uses, err := s.Permissions.Uses(ctx)
	must(t, err)
	must(t, s.Permissions.PutUses(ctx, uses))
	set, _, err = s.Councils.Council(ctx, council.OfChat(c.ID))
	must(t, err)
	must(t, s.Councils.PutCouncil(ctx, council.OfChat(c.ID), &set))
	call.Status = chat.CallOK
	must(t, s.Calls.PutCall(ctx, &call))
	must(t, s.Sync(ctx))
	for _, name := range buckets {
		if n := fieldsIn(t, s, name); n != before[string(name)] {
			t.Errorf("%s has %d fields after a rewrite, had %d", name, n, before[string(name)])
		}
	}
}
