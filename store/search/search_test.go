package search_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/test/testkit"
	"conclave/store"
	"conclave/store/search"
	"conclave/store/storetest"

	"go.etcd.io/bbolt"
)

var must = testkit.Must

// open returns an index over s that waits until it has caught up.
func open(t testing.TB, s *store.Store) *search.Index {
	t.Helper()
	x := search.New(search.Options{Dir: s.Dir(), Source: s.Search, Patience: time.Minute})
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Errorf("close the index: %v", err)
		}
	})
	return x
}

// find returns what a query finds, as "conversation/number", best first.
func find(t testing.TB, x *search.Index, q search.Query) []string {
	t.Helper()
	result, err := x.Query(t.Context(), q)
	if err != nil {
		t.Fatalf("search %q: %v", q.Text, err)
	}
	if !result.Progress.Complete() {
		t.Errorf("search %q: only %d %% of the store were searched", q.Text, result.Progress.Percent())
	}
	found := []string{}
	for _, h := range result.Hits {
		found = append(found, fmt.Sprintf("%s/%d", h.Conversation, h.Seq))
	}
	return found
}

func equal[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func create(t testing.TB, s *store.Store, id chat.ConversationID, title string, texts ...string) {
	t.Helper()
	must(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{ID: id, Title: title}))
	for i, text := range texts {
		m := chat.Message{
			Conversation: id, Parent: chat.MessageSeq(i), Role: []chat.Role{chat.RoleUser, chat.RoleAssistant}[i%2],
			State:   chat.Complete,
			Created: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC),
			Parts:   []chat.Part{{Kind: chat.PartReasoning, Text: "secretly"}, {Kind: chat.PartText, Text: text}},
		}
		must(t, s.Chats.Append(t.Context(), &m))
	}
}

func TestWordsAreFoundWhateverTheirCaseAccentsAndOrder(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "Kitchen", "The Öfen are hot, says O'Brien", "Turn down the heat of oven no. 42")
	create(t, s, "b", "Голубь", "我喜欢猫 very much", "naïve café résumé ofendido")
	x := open(t, s)
	for text, want := range map[string][]string{
		"ofen":           {"a/1", "b/2"}, // the whole word before the longer one
		"OFEN hot":       {"a/1"},
		"hot öfen":       {"a/1"},
		"42 oven":        {"a/2"},
		"kitch":          {"a/0"},
		"h":              {},
		"he":             {"a/2"}, // heat
		"he ":            {},
		`"turn down"`:    {"a/2"},
		`"down turn"`:    {},
		`hea "turn down`: {}, // only a last word may be unfinished
		"голубь":         {"b/0"},
		"喜欢":             {"b/1"},
		"cafe resume":    {"b/2"},
		"secretly":       {}, // reasoning
		"o'brien":        {"a/1"},
		"":               {},
		`"" ?!`:          {},
	} {
		equal(t, text, find(t, x, search.Query{Text: text}), want)
	}
}

func TestFiltersNarrowASearch(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "word", "word one", "word two", "word three")
	create(t, s, "b", "", "word four")
	x := open(t, s)
	day := func(d int) time.Time { return time.Date(2026, 1, d, 0, 0, 0, 0, time.UTC) }
	count := func(q search.Query) int { q.Text = "word"; return len(find(t, x, q)) }
	equal(t, "all", count(search.Query{}), 5)
	equal(t, "conversation", count(search.Query{Conversation: "b"}), 1)
	equal(t, "role", count(search.Query{Role: chat.RoleAssistant}), 1)
	equal(t, "since", count(search.Query{Since: day(3), Until: day(9)}), 1)
	equal(t, "until", count(search.Query{Until: day(2)}), 2)
	equal(t, "limit", count(search.Query{Limit: 2}), 2)
	equal(t, "last page", count(search.Query{Limit: 2, Offset: 4}), 1)
}

func TestASnippetShowsTheWordsThatWereFound(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "A title",
		strings.Repeat("padding ünd ", 40)+"then the\nNEEDLE, and neédles\tagain "+strings.Repeat("more ", 100))
	x := open(t, s)
	result, err := x.Query(t.Context(), search.Query{Text: "then needle"})
	if err != nil || len(result.Hits) != 1 {
		t.Fatalf("got %+v, %v", result, err)
	}
	hit := result.Hits[0]
	marked := []string{}
	for _, m := range hit.Marks {
		marked = append(marked, hit.Snippet[m[0]:m[1]])
	}
	equal(t, "marked", marked, []string{"then", "NEEDLE", "neédles"})
	equal(t, "title", hit.Title, "A title")
	if strings.ContainsAny(hit.Snippet, "\n\t") || len(hit.Snippet) > 240 {
		t.Errorf("the snippet is no short line: %q", hit.Snippet)
	}
	if first := strings.Fields(hit.Snippet)[0]; first != "padding" && first != "ünd" {
		t.Errorf("the snippet begins within a word: %q", first)
	}
}

func TestTheIndexFollowsTheStore(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "title", "alpha", "beta")
	x := open(t, s)
	equal(t, "at first", find(t, x, search.Query{Text: "alpha"}), []string{"a/1"})

	gamma := chat.ToolResult{Content: []chat.Part{{Kind: chat.PartText, Text: "gamma"}}}
	err := s.Chats.UpdateMessages(t.Context(), "a", []chat.MessageSeq{1}, func(messages []chat.Message) error {
		messages[0].Parts = []chat.Part{{Kind: chat.PartToolResult, Result: &gamma}}
		return nil
	})
	must(t, err)
	equal(t, "the old text", find(t, x, search.Query{Text: "alpha"}), []string{})
	equal(t, "the new text", find(t, x, search.Query{Text: "gamma"}), []string{"a/1"})

	token, err := s.Chats.DeleteConversation(t.Context(), "a")
	must(t, err)
	for _, word := range []string{"gamma", "beta", "title"} {
		equal(t, "deleted: "+word, find(t, x, search.Query{Text: word}), []string{})
	}
	if _, err := s.Chats.Undelete(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{"gamma": "a/1", "beta": "a/2", "title": "a/0"} {
		equal(t, "brought back: "+word, find(t, x, search.Query{Text: word}), []string{want})
	}
}

func TestWhatIsGoneLeavesTheIndexWithTheNextSearch(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "", "stays here")
	create(t, s, "b", "a passphrase", "hunter2 is gone")
	x := open(t, s)
	equal(t, "before", find(t, x, search.Query{Text: "hunter2"}), []string{"b/1"})
	_, err := s.Chats.DeleteConversation(t.Context(), "b")
	must(t, err)
	equal(t, "deleted", find(t, x, search.Query{Text: "hunter2"}), []string{})
	for i := range 130 { // each is one more old text in the file, until there are too many
		err := s.Chats.UpdateMessages(t.Context(), "a", []chat.MessageSeq{1}, func(messages []chat.Message) error {
			messages[0].Parts = []chat.Part{{Kind: chat.PartText, Text: fmt.Sprint("stays as version ", i)}}
			return nil
		})
		must(t, err)
		equal(t, "updated", find(t, x, search.Query{Text: fmt.Sprint("version ", i)}), []string{"a/1"})
	}
	equal(t, "an old text", find(t, x, search.Query{Text: "here"}), []string{})
	files, err := os.ReadDir(filepath.Join(s.Dir(), "search"))
	must(t, err)
	if len(files) != 1 {
		t.Errorf("the folder holds %v", files)
	}
	data, err := os.ReadFile(filepath.Join(s.Dir(), "search", files[0].Name()))
	must(t, err)
	for _, text := range []string{"hunter2", "passphrase", "here", "version 12 "} {
		if strings.Contains(string(data), text) {
			t.Errorf("the file of the index still holds %q", text)
		}
	}
	must(t, x.Close())
	equal(t, "opened again", find(t, open(t, s), search.Query{Text: "stays"}), []string{"a/1"})
}

func TestAnIndexIsKeptAndADamagedOneIsMadeAgain(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "", "alpha")
	again := func(name string, spoil func(dir string) error) {
		t.Run(name, func(t *testing.T) {
			x := search.New(search.Options{Dir: s.Dir(), Source: s.Search, Patience: time.Minute})
			equal(t, "before", find(t, x, search.Query{Text: "alpha"}), []string{"a/1"})
			must(t, x.Close())
			must(t, spoil(filepath.Join(s.Dir(), "search")))
			x = search.New(search.Options{Dir: s.Dir(), Source: s.Search, Patience: time.Minute})
			equal(t, "after", find(t, x, search.Query{Text: "alpha"}), []string{"a/1"})
			must(t, x.Close())
		})
	}
	again("nothing happened", func(string) error { return nil })
	again("removed", os.RemoveAll)
	again("its file is noise", func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "words"), []byte("noise"), 0o600)
	})
	again("it is one of an earlier Conclave", func(dir string) error {
		return errors.Join(os.Remove(filepath.Join(dir, "words")),
			os.WriteFile(filepath.Join(dir, "index_meta.json"), nil, 0o600))
	})
	again("a file stands in its place", func(dir string) error {
		return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, []byte("noise"), 0o600))
	})
	again("the store was brought to a newer layout, which makes its indexes anew", func(string) error {
		must(t, s.Close())
		db, err := bbolt.Open(filepath.Join(s.Dir(), "conclave.db"), 0o600, nil)
		must(t, err)
		must(t, db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("meta")).Put([]byte("version"), binary.BigEndian.AppendUint64(nil, 1))
		}))
		must(t, db.Close())
		s = storetest.OpenWith(t, store.Options{Dir: s.Dir()})
		return nil
	})
	again("it is cut short", func(dir string) error { return os.Truncate(filepath.Join(dir, "words"), 100) })
	again("a byte of it changed", func(dir string) error {
		path := filepath.Join(dir, "words")
		data, err := os.ReadFile(path)
		must(t, err)
		data[len(data)-3] ^= 1
		return os.WriteFile(path, data, 0o600)
	})
	info, err := os.Stat(filepath.Join(s.Dir(), "search"))
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the index is open to others: %v, %v", info.Mode(), err)
	}
}

func TestAnotherStoresIndexIsNotUsed(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	create(t, s, "a", "", "alpha")
	backup := filepath.Join(t.TempDir(), "copy.db")
	_, err := s.Backup(t.Context(), backup)
	must(t, err)
	create(t, s, "b", "", "beta")
	x := search.New(search.Options{Dir: dir, Source: s.Search, Patience: time.Minute})
	equal(t, "before", find(t, x, search.Query{Text: "beta"}), []string{"b/1"})
	must(t, errors.Join(x.Close(), s.Close()))
	_, err = store.RestoreCopy(t.Context(), dir, backup, time.Now(), store.RestoreOptions{})
	must(t, err)
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	create(t, s, "c", "", "gamma") // as many changes as there were
	x = open(t, s)
	for word, want := range map[string][]string{"alpha": {"a/1"}, "beta": {}, "gamma": {"c/1"}} {
		equal(t, word, find(t, x, search.Query{Text: word}), want)
	}
}

// held is a source of which one message is not read before the index is closed.
type held struct {
	search.Source
	seq chat.MessageSeq
}

func (h *held) Message(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error) {
	if seq == h.seq {
		<-ctx.Done()
		return chat.Message{}, context.Cause(ctx)
	}
	return h.Source.Message(ctx, id, seq)
}

func TestAnImpatientQuerySaysHowMuchItKnowsAndLaterOnesKnowAll(t *testing.T) {
	s := storetest.Open(t)
	texts := make([]string, 1500) // several steps
	for i := range texts {
		texts[i] = fmt.Sprint("word ", i)
	}
	create(t, s, "a", "", texts...)
	x := search.New(search.Options{Dir: s.Dir(), Source: &held{s.Search, 700}, Patience: time.Nanosecond})
	result, err := x.Query(t.Context(), search.Query{Text: "word"})
	must(t, err)
	if p := result.Progress; p.Complete() || p.Total == 0 || p.Percent() == 100 {
		t.Errorf("progress of a query that did not wait: %+v", p)
	}
	if err := x.Close(); err != nil { // in the middle of the work
		t.Fatal(err)
	}
	if _, err := x.Query(t.Context(), search.Query{Text: "word"}); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("a query of a closed index: %v", err)
	}
	x = open(t, s)
	result, err = x.Query(t.Context(), search.Query{Text: "word", Limit: 1})
	if err != nil || result.Total != len(texts) || !result.Progress.Complete() {
		t.Errorf("found %d of %d, %+v, %v", result.Total, len(texts), result.Progress, err)
	}
}

func TestAFolderThatCannotHoldTheIndexIsNamed(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "", "alpha")
	taken := filepath.Join(t.TempDir(), "taken")
	must(t, os.WriteFile(taken, nil, 0o600))
	x := search.New(search.Options{Dir: taken, Source: s.Search})
	_, err := x.Query(t.Context(), search.Query{Text: "alpha"})
	if f := fault.Of(err); f == nil || f.Kind != fault.Unavailable || !strings.Contains(f.Message, taken) || f.Hint == "" {
		t.Errorf("got %v", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// counted counts what an index reads of its source.
type counted struct {
	search.Source
	messages, given atomic.Int64
}

func (c *counted) Message(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error) {
	c.messages.Add(1)
	return c.Source.Message(ctx, id, seq)
}

func (c *counted) GiveBack(ctx context.Context) {
	c.given.Add(1)
	c.Source.GiveBack(ctx)
}

func TestAnAnswerFromAnUnfinishedIndexIsRenewed(t *testing.T) {
	s := storetest.Open(t)
	texts := make([]string, 1500) // several steps
	for i := range texts {
		texts[i] = fmt.Sprint("word ", i)
	}
	create(t, s, "a", "", texts...)
	// The index goes on once it was asked after each step, and not before.
	news, answered, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	source := &counted{Source: s.Search}
	x := search.New(search.Options{Dir: s.Dir(), Source: source, Patience: time.Nanosecond, OnProgress: func() {
		select {
		case news <- struct{}{}:
			<-answered
		case <-over:
		}
	}})
	ask := func() search.Result {
		t.Helper()
		result, err := x.Query(t.Context(), search.Query{Text: "1499", Bare: true})
		must(t, err)
		return result
	}
	first := ask()
	if first.Progress.Complete() || len(first.Hits) > 0 {
		t.Errorf("the first answer: %+v", first)
	}
	steps := 0
	for last := first.Progress.Done; ; steps++ { // ends when the answer is whole, or with the test's time
		<-news
		result := ask()
		answered <- struct{}{}
		if result.Progress.Done < last {
			t.Errorf("it went back from %d to %d", last, result.Progress.Done)
		}
		if last = result.Progress.Done; result.Progress.Complete() {
			if len(result.Hits) != 1 {
				t.Errorf("the last answer: %+v", result)
			}
			close(over)
			break
		}
	}
	if steps == 0 {
		t.Error("the index was made in one step")
	}
	if source.given.Load() < 2 {
		t.Errorf("memory was given back %d times", source.given.Load())
	}
	must(t, x.Close())
}

func TestAPhraseIsFoundWhereItsWordsStandTogether(t *testing.T) {
	s := storetest.Open(t)
	random := rand.New(rand.NewPCG(95, 1))
	words := []string{"a", "b", "c", "rare"}
	said := func(n int) string {
		text := make([]string, n)
		for i := range text {
			text[i] = words[min(random.IntN(13)/4, len(words)-1)]
		}
		return strings.Join(text, " ")
	}
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = said(1 + random.IntN(12))
	}
	create(t, s, "x", "", texts...)
	x := open(t, s)
	for range 200 {
		phrase := said(1 + random.IntN(4))
		want := []string{}
		for i, text := range texts {
			if strings.Contains(" "+text+" ", " "+phrase+" ") {
				want = append(want, fmt.Sprint("x/", i+1))
			}
		}
		got := find(t, x, search.Query{Text: `"` + phrase + `"`, Limit: len(texts)})
		slices.Sort(got)
		slices.Sort(want)
		equal(t, phrase, got, want)
		equal(t, "no word and "+phrase, find(t, x, search.Query{Text: `nothing "` + phrase + `"`}), []string{})
	}
}

func TestOnlyTheRowsThatAreShownAreRead(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "about words", "one word", "another word",
		strings.Repeat("long ", 2000)+"Words, at last "+strings.Repeat("long ", 2000))
	source := &counted{Source: s.Search}
	x := search.New(search.Options{Dir: s.Dir(), Source: source, Patience: time.Minute})
	defer x.Close()
	find(t, x, search.Query{Text: "nothing"})
	source.messages.Store(0)
	result, err := x.Query(t.Context(), search.Query{Text: "wo", Bare: true})
	if err != nil || result.Total != 4 || len(result.Hits) != 4 {
		t.Fatalf("got %+v, %v", result, err)
	}
	equal(t, "messages read", source.messages.Load(), 0)
	at := slices.IndexFunc(result.Hits, func(h search.Hit) bool { return h.Seq == 3 })
	shown := result.Hits[at : at+1]
	must(t, x.Show(t.Context(), "wo", shown))
	equal(t, "messages read for one row", source.messages.Load(), 1)
	h := shown[0]
	if len(h.Marks) != 1 || h.Snippet[h.Marks[0][0]:h.Marks[0][1]] != "Words" || len(h.Snippet) > 300 ||
		h.Title != "about words" || h.Score == 0 {
		t.Errorf("got %+v", h)
	}
}
