package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/store"
	"conclave/store/storetest"
)

// The interfaces that others declare and the store satisfies.
var (
	_ turn.Log   = store.Turns{}
	_ gate.Store = (*store.Permissions)(nil)
)

// replace puts m in place of the message of its number.
func replace(ctx context.Context, s *store.Store, m chat.Message) error {
	return s.Chats.UpdateMessages(ctx, m.Conversation, []chat.MessageSeq{m.Seq}, func(messages []chat.Message) error {
		messages[0] = m
		return nil
	})
}

// kind fails the test unless err is a fault of that kind with a whole sentence.
func kind(t *testing.T, err error, want fault.Kind) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("got the error %v, want a fault of kind %s", err, want)
	}
	if f.Kind != want {
		t.Fatalf("got kind %s (%v), want %s", f.Kind, err, want)
	}
	if !strings.HasSuffix(f.Message, ".") || f.Op == "" {
		t.Errorf("the fault %+v has no whole sentence or no operation", f)
	}
	return f
}

// newChat makes a conversation.
func newChat(t testing.TB, s *store.Store, title string) chat.Conversation {
	t.Helper()
	c := chat.Conversation{Title: title}
	if err := s.Chats.CreateConversation(t.Context(), &c); err != nil {
		t.Fatalf("create a conversation: %v", err)
	}
	return c
}

// say appends a message to the head of a conversation.
func say(t testing.TB, s *store.Store, id chat.ConversationID, parent chat.MessageSeq, role chat.Role,
	text string,
) chat.Message {
	t.Helper()
	m := chat.Message{
		Conversation: id, Parent: parent, Turn: fmt.Sprintf("turn-%d", parent/2), Role: role, State: chat.Complete,
		Parts: []chat.Part{{Kind: chat.PartText, Text: text}},
	}
	if err := s.Chats.Append(t.Context(), &m); err != nil {
		t.Fatalf("append %q: %v", text, err)
	}
	return m
}

// texts returns what messages say.
func texts(messages []chat.Message) []string {
	all := []string{}
	for _, m := range messages {
		all = append(all, chat.TextOf(m.Parts))
	}
	return all
}

func seqs(messages []chat.Message) []chat.MessageSeq {
	all := []chat.MessageSeq{}
	for _, m := range messages {
		all = append(all, m.Seq)
	}
	return all
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// clock is a time that a test sets, while the store's own goroutines read it.
type clock struct {
	mu sync.Mutex
	at time.Time // written by the test's goroutine alone
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func (c *clock) options() store.Options { return store.Options{Now: c.now} }

func TestAConversationIsThereAfterAReopenAsItWasWritten(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "Packing list")
	question := say(t, s, c.ID, 0, chat.RoleUser, "What <b>do</b> I need? & \u2028")
	answer := chat.Message{
		Conversation: c.ID, Parent: question.Seq, Turn: "turn-0", Role: chat.RoleAssistant, State: chat.Complete,
		Reason: chat.EndDone,
		Parts: []chat.Part{
			{
				Kind: chat.PartReasoning, Text: "socks",
				Vendor: map[string]json.RawMessage{"anthropic": json.RawMessage(`{"signature":"a<b"}`)},
			},
			{
				Kind: chat.PartToolCall,
				Call: &chat.ToolCall{ID: "tc_1", Tool: "count", Arguments: json.RawMessage(`{"n":1}`), Sequence: 7},
			},
			{Kind: chat.PartText, Text: "Socks."},
		},
		Usage: &chat.Usage{Input: 3, Output: 4}, Model: "demo/guide", Ended: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}
	must(t, s.Chats.Append(t.Context(), &answer))
	before, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	storetest.Check(t, s)
	must(t, s.Close())

	s = storetest.OpenWith(t, store.Options{Dir: dir})
	after, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "path", after, before)
	equal(t, "signature", string(after[1].Parts[0].Vendor["anthropic"]), `{"signature":"a<b"}`)
	got, err := s.Chats.Conversation(t.Context(), c.ID)
	must(t, err)
	equal(t, "head", got.Head, answer.Seq)
	equal(t, "last", got.Last, chat.MessageSeq(2))
	equal(t, "revision", got.Revision, uint64(3))
}

func TestAChatThatBeginsWithAMessageEqualsOneThatGetsItLater(t *testing.T) {
	s := storetest.Open(t)
	question := chat.Message{
		Turn: "t", Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{chat.TextPart("Hi.")}, Open: true,
	}
	later := newChat(t, s, "Hi")
	second := question
	second.Conversation = later.ID
	must(t, s.Chats.Append(t.Context(), &second))
	begun := chat.Conversation{ID: "begun", Title: "Hi"}
	first := question
	must(t, s.Chats.Begin(t.Context(), &begun, &first))
	if first.Seq != 1 || first.Conversation != "begun" || first.Created.IsZero() {
		t.Errorf("the message is %+v", first)
	}
	got, err := s.Chats.Conversation(t.Context(), "begun")
	must(t, err)
	if !reflect.DeepEqual(got, begun) {
		t.Errorf("got %+v, want %+v", got, begun)
	}
	want, err := s.Chats.Conversation(t.Context(), later.ID)
	must(t, err)
	want.ID, want.Created, want.Updated = got.ID, got.Created, got.Updated
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	path, err := s.Chats.Path(t.Context(), "begun")
	must(t, err)
	if len(path) != 1 || path[0].Parts[0].Text != "Hi." {
		t.Errorf("it has %+v", path)
	}
	again := chat.Conversation{ID: "begun"}
	kind(t, s.Chats.Begin(t.Context(), &again, &chat.Message{Role: chat.RoleUser, State: chat.Complete}), fault.Conflict)
}

func TestEditingAddsASiblingAndMovesTheHead(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "")
	q := say(t, s, c.ID, 0, chat.RoleUser, "one")
	a := say(t, s, c.ID, q.Seq, chat.RoleAssistant, "first answer")
	say(t, s, c.ID, a.Seq, chat.RoleUser, "two")
	say(t, s, c.ID, q.Seq, chat.RoleAssistant, "second answer")

	path, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "path", texts(path), []string{"one", "second answer"})
	o, err := s.Chats.Outline(t.Context(), c.ID)
	must(t, err)
	equal(t, "outline's path", o.Path, seqs(path))
	must(t, s.Chats.UpdateConversation(t.Context(), c.ID, func(c *chat.Conversation) { c.Head = 3 }))
	path, err = s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "path of the first version", texts(path), []string{"one", "first answer", "two"})
}

func TestAnOutlineKnowsWhatItsMessagesAre(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "")
	created := time.Date(2026, 5, 6, 7, 8, 9, 123000, time.UTC)
	m := chat.Message{
		Conversation: c.ID, Turn: "t", Role: "narrator", State: "odd", Hidden: true, Created: created,
		Parts: []chat.Part{
			{Kind: chat.PartText, Text: "12345"},
			{Kind: chat.PartToolResult, Result: &chat.ToolResult{Content: []chat.Part{{Kind: chat.PartText, Text: "678"}}}},
		},
	}
	must(t, s.Chats.Append(t.Context(), &m))
	o, err := s.Chats.Outline(t.Context(), c.ID)
	must(t, err)
	equal(t, "entries", o.Items, []chat.OutlineItem{
		{Seq: 1, Role: "narrator", State: "odd", Hidden: true, Turn: "t", Size: 8, Created: created},
	})
}

func TestMessagesAreReadByNumber(t *testing.T) {
	s := storetest.Open(t)
	c, other := newChat(t, s, "a"), newChat(t, s, "b")
	for i := range 5 {
		say(t, s, c.ID, chat.MessageSeq(i), chat.RoleUser, fmt.Sprint(i+1))
		say(t, s, other.ID, chat.MessageSeq(i), chat.RoleUser, "other")
	}
	some, err := s.Chats.Messages(t.Context(), c.ID, []chat.MessageSeq{4, 2})
	must(t, err)
	equal(t, "by number", texts(some), []string{"4", "2"})
	some, err = s.Chats.Messages(t.Context(), c.ID, upTo(5))
	must(t, err)
	equal(t, "all", texts(some), []string{"1", "2", "3", "4", "5"})
	_, err = s.Chats.Message(t.Context(), c.ID, 6)
	kind(t, err, fault.NotFound)
	_, err = s.Chats.Path(t.Context(), "none")
	kind(t, err, fault.NotFound)
}

func TestWhatWouldBreakTheTreeIsRefusedAndChangesNothing(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "")
	say(t, s, c.ID, 0, chat.RoleUser, "one")
	two := say(t, s, c.ID, 1, chat.RoleAssistant, "two")
	before, err := s.Chats.Conversation(t.Context(), c.ID)
	must(t, err)
	orphan := chat.Message{Conversation: c.ID, Parent: 9, Role: chat.RoleUser}
	kind(t, s.Chats.Append(t.Context(), &orphan), fault.Invalid)
	equal(t, "number of a refused message", orphan.Seq, 0)
	kind(t, s.Chats.Append(t.Context(), &chat.Message{Conversation: "none"}), fault.NotFound)
	two.Parent = 0
	kind(t, replace(t.Context(), s, two), fault.Invalid)
	two.Seq = 3
	kind(t, replace(t.Context(), s, two), fault.NotFound)
	kind(t, s.Chats.UpdateConversation(t.Context(), c.ID, func(c *chat.Conversation) { c.Head = 7 }), fault.NotFound)
	kind(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{ID: c.ID}), fault.Conflict)
	kind(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{ID: "a\x00b"}), fault.Invalid)
	after, err := s.Chats.Conversation(t.Context(), c.ID)
	must(t, err)
	equal(t, "conversation", after, before)
}

func TestTheListIsSortedByLastChangeAndFiltered(t *testing.T) {
	now := newClock()
	s := storetest.OpenWith(t, now.options())
	var ids []chat.ConversationID
	for _, title := range []string{"Über den Wolken", "bread recipe", "Bread tax", "old"} {
		ids = append(ids, newChat(t, s, title).ID)
		now.add(time.Minute)
	}
	titles := func(o chat.ListOptions) []string {
		t.Helper()
		page, err := s.Chats.List(t.Context(), o)
		must(t, err)
		all := []string{fmt.Sprint(page.Total)}
		for _, c := range page.Conversations {
			all = append(all, c.Title)
		}
		return all
	}
	equal(t, "all", titles(chat.ListOptions{}), []string{"4", "old", "Bread tax", "bread recipe", "Über den Wolken"})
	say(t, s, ids[1], 0, chat.RoleUser, "hello")
	equal(t, "after a message", titles(chat.ListOptions{Limit: 2}), []string{"4", "bread recipe", "old"})
	equal(t, "second page", titles(chat.ListOptions{Offset: 2, Limit: 2}), []string{"4", "Bread tax", "Über den Wolken"})
	equal(t, "query", titles(chat.ListOptions{Query: "BREAD ta"}), []string{"1", "Bread tax"})
	equal(t, "query with an umlaut", titles(chat.ListOptions{Query: "über"}), []string{"1", "Über den Wolken"})
	err := s.Chats.UpdateConversation(t.Context(), ids[0],
		func(c *chat.Conversation) { c.Pinned, c.Title = true, "Wolken" })
	must(t, err)
	must(t, s.Chats.UpdateConversation(t.Context(), ids[3], func(c *chat.Conversation) { c.Archived = true }))
	equal(t, "pinned", titles(chat.ListOptions{Pinned: chat.Only}), []string{"1", "Wolken"})
	equal(t, "not archived", titles(chat.ListOptions{Archived: chat.Without}), []string{
		"3", "bread recipe", "Bread tax", "Wolken",
	})
}

func TestDaysCountWhatTheListShowsUnderEachHeading(t *testing.T) {
	now := &clock{at: time.Date(2026, 1, 2, 12, 0, 0, 0, time.Local)}
	s := storetest.OpenWith(t, now.options())
	for _, days := range []int{0, 30, 10, 1, 0} { // 2 January, 1, 11 and 12 February (2)
		now.add(time.Duration(days) * 24 * time.Hour)
		newChat(t, s, fmt.Sprint("chat ", days))
	}
	now.add(48 * time.Hour)
	archived := newChat(t, s, "archived")
	must(t, s.Chats.UpdateConversation(t.Context(), archived.ID, func(c *chat.Conversation) { c.Archived = true }))
	for name, c := range map[string]struct {
		o    chat.ListOptions
		want []chat.Day
	}{
		"all": {
			chat.ListOptions{},
			[]chat.Day{
				{Key: "2026-02-14", Count: 1},
				{Key: "2026-02-12", Count: 2},
				{Key: "2026-02-11", Count: 1},
				{Key: "2026-02", Count: 1},
				{Key: "2026-01", Count: 1},
			},
		},
		"not archived": {
			chat.ListOptions{Archived: chat.Without},
			[]chat.Day{
				{Key: "2026-02-12", Count: 2},
				{Key: "2026-02-11", Count: 1},
				{Key: "2026-02", Count: 1},
				{Key: "2026-01", Count: 1},
			},
		},
		"query": {
			chat.ListOptions{Query: "CHAT 1"},
			[]chat.Day{{Key: "2026-02-12", Count: 1}, {Key: "2026-02-11", Count: 1}},
		},
		"none": {chat.ListOptions{Query: "no such"}, []chat.Day{}},
	} {
		got, err := s.Chats.Days(t.Context(), c.o)
		must(t, err)
		equal(t, name, got, c.want)
	}
}

func TestADeletedConversationComesBackWholeOrIsPurgedAfterThirtyDays(t *testing.T) {
	now := newClock()
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	c, gone := newChat(t, s, "keep"), newChat(t, s, "gone")
	say(t, s, c.ID, 0, chat.RoleUser, "kept words")
	picture := chat.Media{MIME: "image/png", Data: []byte("picture")}
	must(t, s.Media.PutMedia(t.Context(), &picture))
	m := chat.Message{
		Conversation: gone.ID, Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartMedia, Media: &picture}},
	}
	must(t, s.Chats.Append(t.Context(), &m))
	call := chat.CallRecord{Conversation: gone.ID, ToolName: "t", Status: chat.CallOK, Timestamp: now.at}
	must(t, s.Calls.PutCall(t.Context(), &call))
	must(t, s.Permissions.PutRule(t.Context(), gate.Rule{ID: "g", Scope: gate.ThisChat, Conversation: gone.ID}))
	deleteIt := func(id chat.ConversationID) string {
		t.Helper()
		token, err := s.Chats.DeleteConversation(t.Context(), id)
		must(t, err)
		return token
	}
	before, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	token := deleteIt(c.ID)
	_, err = s.Chats.Path(t.Context(), c.ID)
	kind(t, err, fault.NotFound)
	kind(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{ID: c.ID}), fault.Conflict)
	_, err = s.Chats.DeleteConversation(t.Context(), c.ID)
	kind(t, err, fault.NotFound)
	back, err := s.Chats.Undelete(t.Context(), token)
	must(t, err)
	equal(t, "brought back", back, c.ID)
	_, err = s.Chats.Undelete(t.Context(), token)
	kind(t, err, fault.NotFound)
	after, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "its messages", after, before)

	deleteIt(gone.ID)
	if err := s.Close(); err != nil { // makes the daily copy, and finds nothing to purge
		t.Fatal(err)
	}
	now.add(31 * 24 * time.Hour)
	s = storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	if trash, err := s.Chats.Trash(t.Context()); err != nil || len(trash) != 1 || trash[0].Conversation.Title != "gone" {
		t.Fatalf("trash before the daily work: %v, %v", trash, err)
	}
	if err := s.Close(); err != nil { // the daily work is due again
		t.Fatal(err)
	}
	s = storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	if trash, err := s.Chats.Trash(t.Context()); err != nil || len(trash) != 0 {
		t.Fatalf("trash after the daily work: %v, %v", trash, err)
	}
	calls, err := s.Calls.Calls(t.Context(), chat.CallFilter{})
	if err != nil || len(calls) != 0 {
		t.Errorf("calls of a purged chat: %v, %v", calls, err)
	}
	grants, err := s.Permissions.Rules(t.Context())
	if err != nil || len(grants) != 0 {
		t.Errorf("grants of a purged chat: %v, %v", grants, err)
	}
	_, err = s.Media.Media(t.Context(), picture.ID)
	kind(t, err, fault.NotFound)
	if err := s.Chats.CreateConversation(t.Context(), &chat.Conversation{ID: gone.ID}); err != nil {
		t.Errorf("the id of a purged chat: %v", err)
	}
}

func TestADraftIsThereAtOnceAndAfterAReopen(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "")
	s.Chats.SaveDraft(c.ID, "half a sent")
	s.Chats.SaveDraft(c.ID, "half a sentence")
	s.Chats.SaveDraft("none", "dropped")
	for range 2 {
		got, err := s.Chats.Conversation(t.Context(), c.ID)
		must(t, err)
		equal(t, "draft", got.Draft, "half a sentence")
		equal(t, "place in the list", got.Updated, c.Updated)
		must(t, s.Close())
		s = storetest.OpenWith(t, store.Options{Dir: dir})
	}
}

func TestFindTakesEveryWordInAnyCase(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "Kitchen talk")
	say(t, s, c.ID, 0, chat.RoleUser, "Where is the \"Kettle\"?\nI cannot find it")
	say(t, s, c.ID, 1, chat.RoleAssistant, "On the stove, next to the Öfen")
	cases := map[string][]chat.MessageSeq{
		"kettle WHERE": {1}, "öfen": {2}, "the": {1, 2}, "kitchen": {0}, `"kettle"?`: {1}, "spoon": {}, "": {},
	}
	for query, want := range cases {
		found, err := s.Chats.Find(t.Context(), query, 0)
		must(t, err)
		got := []chat.MessageSeq{}
		for _, f := range found {
			got = append(got, f.Seq)
		}
		equal(t, query, got, want)
	}
}

func TestAnImportIsThereWholeOrNotAtAll(t *testing.T) {
	s := storetest.Open(t)
	text := func(words string) []chat.Part { return []chat.Part{{Kind: chat.PartText, Text: words}} }
	messages := []chat.Message{
		{Role: chat.RoleUser, Parts: text("one"), State: chat.Complete},
		{Role: chat.RoleAssistant, Parts: text("two"), State: chat.Complete},
	}
	// has no JSON
	bad := append(slices.Clone(messages), chat.Message{
		Role: chat.RoleUser, Created: time.Date(10_001, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	c := chat.Conversation{Title: "Bad"}
	if err := s.Chats.ImportConversation(t.Context(), &c, bad); err == nil || c.ID != "" {
		t.Errorf("imported %+v, %v", c, err)
	}
	if page, err := s.Chats.List(t.Context(), chat.ListOptions{}); err != nil || len(page.Conversations) != 0 {
		t.Errorf("it left %+v, %v", page, err)
	}
	c = chat.Conversation{Title: "Good"}
	must(t, s.Chats.ImportConversation(t.Context(), &c, messages))
	path, err := s.Chats.Path(t.Context(), c.ID)
	if err != nil || len(path) != 2 || path[1].Parent != 1 || c.Head != 2 {
		t.Errorf("the path is %+v of %+v, %v", path, c, err)
	}
	m := chat.Message{Conversation: c.ID, Parent: 2, Role: chat.RoleUser}
	if err := s.Chats.Append(t.Context(), &m); err != nil || m.Seq != 3 {
		t.Errorf("it cannot go on: %+v, %v", m, err)
	}
}

func TestWhatASearchFindsIsReadWhereItIsAsked(t *testing.T) {
	s := storetest.Open(t)
	plain, named, away := newChat(t, s, "plain"), newChat(t, s, `"archived":true`), newChat(t, s, "away")
	must(t, s.Chats.UpdateConversation(t.Context(), away.ID, func(c *chat.Conversation) { c.Archived = true }))
	for archived, want := range map[bool][]string{false: {named.Title, plain.Title}, true: {away.Title}} {
		found := []string{}
		ids := []chat.ConversationID{named.ID, "gone", away.ID, plain.ID}
		must(t, s.Chats.Found(t.Context(), ids, archived, func(read func() (chat.Conversation, error)) {
			c, err := read()
			must(t, err)
			found = append(found, c.Title)
		}))
		equal(t, "found", found, want)
	}
}
