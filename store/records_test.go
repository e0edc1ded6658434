package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/store"
	"conclave/store/storetest"
)

func TestSettingsChangedMeanwhileAreAConflict(t *testing.T) {
	s := storetest.Open(t)
	value, revision, err := s.Settings.Settings(t.Context())
	if err != nil || value != nil || revision != 0 {
		t.Fatalf("settings of a new store: %s, %d, %v", value, revision, err)
	}
	if revision, err = s.Settings.PutSettings(t.Context(), json.RawMessage(`{"theme":"dark"}`), 0); err != nil || revision != 1 {
		t.Fatalf("first settings: %d, %v", revision, err)
	}
	_, err = s.Settings.PutSettings(t.Context(), json.RawMessage(`{}`), 0)
	kind(t, err, fault.Conflict)
	_, err = s.Settings.PutSettings(t.Context(), json.RawMessage(`{`), 1)
	kind(t, err, fault.Invalid)
	value, revision, err = s.Settings.Settings(t.Context())
	if err != nil || string(value) != `{"theme":"dark"}` || revision != 1 {
		t.Errorf("settings: %s, %d, %v", value, revision, err)
	}
}

func TestWhatIsKeptOfPluginsGrantsAndRequestsComesBack(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	ctx := t.Context()
	record := json.RawMessage(`{"digest":"d"}`)
	grant := gate.Rule{
		ID: "g", Effect: gate.Allow, Plugin: "p", Tool: "*", Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
		Made: time.Unix(2, 0).UTC(),
	}
	older := gate.Rule{ID: "h", Made: time.Unix(1, 0).UTC()}
	approval := gate.Approval{Plugin: "p", Tools: map[string]string{"t": "d"}, Effect: gate.Allow}
	once, twice := gate.Use{Times: 1, Last: time.Unix(3, 0).UTC()}, gate.Use{Times: 2, Last: time.Unix(4, 5).UTC()}
	if none, err := s.Permissions.Uses(ctx); err != nil || len(none) != 0 {
		t.Errorf("before the first use: %v, %v", none, err)
	}
	for what, err := range map[string]error{
		"cache":    s.Plugins.PutPluginCache(ctx, "p", record),
		"state":    s.Plugins.PutPluginState(ctx, "p", record),
		"grant":    s.Permissions.PutRule(ctx, grant),
		"older":    s.Permissions.PutRule(ctx, older),
		"approval": s.Permissions.PutApproval(ctx, approval),
		"uses": errors.Join(s.Permissions.PutUses(ctx, map[string]gate.Use{"p:t": once, "p:u": once}),
			s.Permissions.PutUses(ctx, map[string]gate.Use{"p:t": twice})),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	kind(t, s.Plugins.PutPluginCache(ctx, "p", json.RawMessage("{")), fault.Invalid)
	kind(t, s.Permissions.PutRule(ctx, gate.Rule{}), fault.Invalid)
	kind(t, s.Permissions.PutUses(ctx, map[string]gate.Use{"": once}), fault.Invalid)
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	must := func(v any, err error) any {
		t.Helper()
		must(t, err)
		return v
	}
	equal(t, "cache", must(s.Plugins.PluginCache(ctx, "p")), any(record))
	equal(t, "state", must(s.Plugins.PluginState(ctx, "p")), any(record))
	equal(t, "grants", must(s.Permissions.Rules(ctx)), any([]gate.Rule{older, grant}))
	equal(t, "approvals", must(s.Permissions.Approvals(ctx)), any([]gate.Approval{approval}))
	equal(t, "uses", must(s.Permissions.Uses(ctx)), any(map[string]gate.Use{"p:t": twice, "p:u": once}))
	for what, err := range map[string]error{
		"cache":    s.Plugins.DeletePluginCache(ctx, "p"),
		"requests": s.Permissions.ForgetRequests(ctx),
		"grant":    s.Permissions.DeleteRule(ctx, "g"),
		"approval": s.Permissions.DeleteApproval(ctx, "p"),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	equal(t, "cache after deleting", must(s.Plugins.PluginCache(ctx, "p")), any(json.RawMessage(nil)))
	equal(t, "grants after deleting", must(s.Permissions.Rules(ctx)), any([]gate.Rule{older}))
	equal(t, "approvals after deleting", must(s.Permissions.Approvals(ctx)), any([]gate.Approval{}))
}

func TestTheSameBytesAreOneFileAndComeBackUnchanged(t *testing.T) {
	s := storetest.Open(t)
	a, b := chat.Media{Data: []byte("bytes"), Name: "a"}, chat.Media{Data: []byte("bytes"), Name: "b"}
	for _, m := range []*chat.Media{&a, &b} {
		must(t, s.Media.PutMedia(t.Context(), m))
	}
	equal(t, "id", a.ID, "277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9")
	equal(t, "second id", b.ID, a.ID)
	equal(t, "size", a.Size, int64(5))
	got, err := s.Media.Media(t.Context(), a.ID)
	if err != nil || string(got) != "bytes" {
		t.Errorf("got %q, %v", got, err)
	}
	path, err := s.Media.MediaPath(a.ID)
	if err != nil || path != filepath.Join(s.Dir(), "media", "27", a.ID) {
		t.Errorf("path %s, %v", path, err)
	}
	must(t, os.WriteFile(path, []byte("other"), 0o600))
	_, err = s.Media.Media(t.Context(), a.ID)
	kind(t, err, fault.Damaged)
	if err := s.Media.PutMedia(t.Context(), &a); err != nil { // it mends what is damaged
		t.Fatal(err)
	}
	if got, err := s.Media.Media(t.Context(), a.ID); err != nil || string(got) != "bytes" {
		t.Errorf("mended: %q, %v", got, err)
	}
	for _, id := range []string{"", "..", "../../conclave.db", "27", "AB" + a.ID[2:]} {
		_, err := s.Media.Media(t.Context(), id)
		kind(t, err, fault.NotFound)
	}
	kind(t, s.Media.PutMedia(t.Context(), &chat.Media{}), fault.Invalid)
	kind(t, s.Media.PutMedia(t.Context(), &chat.Media{Data: make([]byte, store.MaxMedia+1)}), fault.Invalid)
}

func TestMediaThatNothingNamesIsRemovedAfterThirtyDays(t *testing.T) {
	now := newClock()
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	c := newChat(t, s, "")
	named, shown, unnamed := chat.Media{Data: []byte("named")}, chat.Media{Data: []byte("shown")}, chat.Media{
		Data: []byte("unnamed"),
	}
	set, sat, late := chat.Media{Data: []byte("of a council")}, chat.Media{Data: []byte("of a run")}, chat.Media{
		Data: []byte("of another run"),
	}
	for _, m := range []*chat.Media{&named, &shown, &unnamed, &set, &sat, &late} {
		must(t, s.Media.PutMedia(t.Context(), m))
		path, err := s.Media.MediaPath(m.ID)
		must(t, err)
		must(t, os.Chtimes(path, now.at, now.at))
	}
	result := chat.ToolResult{Content: []chat.Part{{Kind: chat.PartMedia, Media: &named}}}
	m := chat.Message{
		Conversation: c.ID, Role: chat.RoleTool, Parts: []chat.Part{{Kind: chat.PartToolResult, Result: &result}},
	}
	must(t, s.Chats.Append(t.Context(), &m))
	putCall(t, s, chat.CallRecord{
		ToolName: "t", Conversation: c.ID, Attachments: []chat.Media{shown}, Status: chat.CallOK,
	})
	with := func(avatar string) council.Council {
		member := council.Member{ID: "ada", Name: "Ada"}
		member.Persona.Avatar = avatar
		return council.Council{Members: []council.Member{member}}
	}
	global := with(set.ID)
	must(t, s.Councils.PutCouncil(t.Context(), council.Global, &global))
	for run, avatar := range map[council.RunID]string{"run-1": sat.ID, "run-2": late.ID} {
		steps, texts, _ := stepsOf(t, run, c.ID, 1)
		begin := *steps[0].Begin
		begin.Council = with(avatar)
		steps[0].Begin = &begin
		must(t, s.Councils.AppendSteps(t.Context(), council.Header{Run: run, Conversation: c.ID}, steps, texts))
	}
	for _, days := range []int{29, 2} {
		must(t, s.Close())
		now.add(time.Duration(days) * 24 * time.Hour)
		s = storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
		_, err := s.Media.Media(t.Context(), unnamed.ID)
		if days == 29 && err != nil {
			t.Errorf("it was removed too early: %v", err)
		}
	}
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	_, err := s.Media.Media(t.Context(), unnamed.ID)
	kind(t, err, fault.NotFound)
	for _, id := range []string{named.ID, shown.ID, set.ID, sat.ID, late.ID} {
		if _, err := s.Media.Media(t.Context(), id); err != nil {
			t.Errorf("what a message, a call or a council names: %v", err)
		}
	}
}

func TestChangesTellEachThingOnceWhereItChangedLast(t *testing.T) {
	s := storetest.Open(t)
	var got []string
	after := uint64(0)
	read := func() []string {
		t.Helper()
		got = []string{}
		n, err := s.Search.Changes(t.Context(), after, 100, func(
			_ uint64, id chat.ConversationID, seq chat.MessageSeq,
		) error {
			got = append(got, fmt.Sprintf("%s/%d", id, seq))
			return nil
		})
		must(t, err)
		if last, err := s.Search.LastChange(t.Context()); err != nil || len(got) > 0 && n != last {
			t.Errorf("read to %d of %d, %v", n, last, err)
		}
		after = n
		return got
	}
	must(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{ID: "c"}))
	a := say(t, s, "c", 0, chat.RoleUser, "a")
	say(t, s, "c", 1, chat.RoleUser, "b")
	must(t, replace(t.Context(), s, a))
	equal(t, "at first", read(), []string{"c/0", "c/2", "c/1"})
	equal(t, "nothing new", read(), []string{})
	s.Chats.SaveDraft("c", "a draft is no change of what is searched")
	must(t, s.Sync(t.Context()))
	equal(t, "a draft", read(), []string{})
	must(t, s.Chats.UpdateConversation(t.Context(), "c", func(c *chat.Conversation) { c.Title = "named" }))
	equal(t, "a title", read(), []string{"c/0"})
	token, err := s.Chats.DeleteConversation(t.Context(), "c")
	must(t, err)
	equal(t, "a deletion", read(), []string{"c/0"})
	if _, err := s.Chats.Undelete(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	equal(t, "brought back", read(), []string{"c/0", "c/1", "c/2"})
	if token, err = s.Chats.DeleteConversation(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	must(t, s.Chats.Purge(t.Context(), token))
	after = 0
	equal(t, "after a purge, from the beginning", read(), []string{"c/0"})
}

// upTo returns the numbers of a conversation's messages, of which the last is given.
func upTo(last chat.MessageSeq) []chat.MessageSeq {
	seqs := make([]chat.MessageSeq, last)
	for i := range seqs {
		seqs[i] = chat.MessageSeq(i + 1)
	}
	return seqs
}

// snapshot reads everything of a store that a person could see.
func snapshot(t *testing.T, s *store.Store) string {
	t.Helper()
	var b bytes.Buffer
	page, err := s.Chats.List(t.Context(), chat.ListOptions{})
	must(t, err)
	for _, c := range page.Conversations {
		o, err := s.Chats.Outline(t.Context(), c.ID)
		must(t, err)
		messages, err := s.Chats.Messages(t.Context(), c.ID, upTo(c.Last))
		must(t, err)
		_ = json.NewEncoder(&b).Encode([]any{c, o.Path, o.Items, messages})
	}
	calls, err := s.Calls.Calls(t.Context(), chat.CallFilter{})
	must(t, err)
	trash, err := s.Chats.Trash(t.Context())
	must(t, err)
	_ = json.NewEncoder(&b).Encode([]any{calls, trash})
	return b.String()
}

// TestAnyOrderOfOperationsReadsTheSameAfterAReopen plays random operations and
// compares with a plain model as it goes, and with itself after reopening.
func TestAnyOrderOfOperationsReadsTheSameAfterAReopen(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			play(t, rand.New(rand.NewPCG(seed, 1)), 300)
		})
	}
}

func play(t *testing.T, r *rand.Rand, operations int) {
	now := newClock()
	dir := t.TempDir()
	ctx := context.WithoutCancel(t.Context())
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	model := map[chat.ConversationID]map[chat.MessageSeq]string{}
	var chats []chat.ConversationID
	tokens := map[string]chat.ConversationID{}
	gone := map[chat.ConversationID]bool{}
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	for n := range operations {
		now.add(time.Second)
		if len(chats) == 0 || r.IntN(15) == 0 {
			c := newChat(t, s, fmt.Sprint("chat ", n))
			chats, model[c.ID] = append(chats, c.ID), map[chat.MessageSeq]string{}
			continue
		}
		id := chats[r.IntN(len(chats))]
		said := model[id]
		text := fmt.Sprint("words ", n)
		switch op := r.IntN(12); {
		case op == 0 && !gone[id]:
			token, err := s.Chats.DeleteConversation(ctx, id)
			check(err)
			tokens[token], gone[id] = id, true
		case op == 1:
			for token, id := range tokens {
				_, err := s.Chats.Undelete(ctx, token)
				check(err)
				delete(tokens, token)
				gone[id] = false
				break
			}
		case op == 2 && !gone[id]:
			check(s.Chats.UpdateConversation(ctx, id, func(c *chat.Conversation) {
				c.Title, c.Pinned = text, !c.Pinned
				if c.Last > 0 {
					c.Head = chat.MessageSeq(1 + r.IntN(int(c.Last)))
				}
			}))
		case op == 3:
			putCall(t, s, chat.CallRecord{
				ToolName: fmt.Sprint("tool", r.IntN(3)), Conversation: id, Turn: fmt.Sprint(n % 5), Timestamp: now.at,
				Status: []chat.CallStatus{chat.CallOK, chat.CallTimeout, chat.CallPaused}[r.IntN(3)],
			})
		case op == 4:
			s.Chats.SaveDraft(id, text)
		case op == 5 && !gone[id] && len(said) > 0:
			m, err := s.Chats.Message(ctx, id, chat.MessageSeq(1+r.IntN(len(said))))
			check(err)
			m.Parts, m.State = []chat.Part{{Kind: chat.PartText, Text: text}}, chat.Complete
			check(replace(ctx, s, m))
			said[m.Seq] = text
		case op == 6 && r.IntN(5) == 0:
			check(s.Sync(ctx)) // a draft counts as a revision once it is written
			before := snapshot(t, s)
			check(s.Close())
			s = storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
			if after := snapshot(t, s); after != before {
				at := 0
				for at < min(len(before), len(after)) && before[at] == after[at] {
					at++
				}
				t.Fatalf("after operation %d a reopen changed …%.300s to …%.300s", n, before[max(0, at-100):],
					after[max(0, at-100):])
			}
		case op == 7 && r.IntN(20) == 0:
			for token, id := range tokens {
				check(s.Chats.Purge(ctx, token))
				delete(tokens, token)
				delete(model, id)
				chats = deleteOne(chats, id)
				break
			}
		case !gone[id]:
			m := say(t, s, id, chat.MessageSeq(r.IntN(len(said)+1)), chat.RoleUser, text)
			said[m.Seq] = text
		}
	}
	for id, said := range model {
		if gone[id] {
			continue
		}
		c, err := s.Chats.Conversation(ctx, id)
		check(err)
		messages, err := s.Chats.Messages(ctx, id, upTo(c.Last))
		check(err)
		got := map[chat.MessageSeq]string{}
		for _, m := range messages {
			got[m.Seq] = chat.TextOf(m.Parts)
		}
		equal(t, string(id), got, said)
	}
}

func deleteOne(ids []chat.ConversationID, id chat.ConversationID) []chat.ConversationID {
	var rest []chat.ConversationID
	for _, other := range ids {
		if other != id {
			rest = append(rest, other)
		}
	}
	return rest
}
