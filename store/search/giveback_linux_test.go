package search_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/store/search"
	"conclave/store/storetest"
)

// mapped returns how much of the files with this in their path is mapped into this
// process, in KiB.
func mapped(t *testing.T, path string) (kib int) {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/smaps")
	must(t, err)
	inside := false
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		line := lines.Text()
		if name, value, ok := strings.Cut(line, ":"); !ok || strings.Contains(name, " ") {
			inside = strings.Contains(line, path) // 7f0c… r--s … /tmp/…/conclave.db
		} else if n := 0; inside && name == "Rss" {
			if _, err := fmt.Sscan(value, &n); err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	return kib
}

// given reports each time that memory was given back.
type given struct {
	search.Source
	back chan struct{}
}

func (g *given) GiveBack(ctx context.Context) {
	g.Source.GiveBack(ctx)
	g.back <- struct{}{}
}

func TestMemoryOfASearchIsGivenBackWhenNobodySearches(t *testing.T) {
	s := storetest.Open(t)
	texts := make([]string, 400)
	for i := range texts {
		texts[i] = fmt.Sprintf("word %d %s", i, strings.Repeat("more words ", 100))
	}
	create(t, s, "a", "", texts...)
	source := &given{s.Search, make(chan struct{}, 100)}
	x := search.New(search.Options{Dir: s.Dir(), Source: source, Patience: time.Minute, Rest: time.Second})
	defer x.Close()
	before := find(t, x, search.Query{Text: "word", Limit: 500})
	if all := mapped(t, s.Dir()); all < 400 {
		t.Fatalf("a query of all of the store has only %d KiB of it mapped", all)
	}
	equal(t, "found", len(before), len(texts))
	for { // the steps of indexing gave back too, each before the next search took again
		all := mapped(t, s.Dir())
		if all <= 400 { // of which the kernel maps 64 for one page that is read
			break
		}
		select {
		case <-source.back:
		case <-time.After(3 * time.Minute):
			t.Fatalf("mapped still: %d KiB", all)
		}
	}
	equal(t, "afterwards", find(t, x, search.Query{Text: "word", Limit: 500}), before)
}

// slow has the first message of a query read only once memory was given back.
type slow struct {
	*given
	once sync.Once
}

func (s *slow) Message(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error) {
	if ctx.Value(asking{}) != nil {
		s.once.Do(func() { <-s.back })
	}
	return s.Source.Message(ctx, id, seq)
}

// asking marks what a query reads, beside what indexing does.
type asking struct{}

func TestMemoryOfAQueryThatTakesLongerThanTheRestIsGivenBackAfterIt(t *testing.T) {
	s := storetest.Open(t)
	create(t, s, "a", "", "one word")
	source := &slow{given: &given{s.Search, make(chan struct{}, 100)}}
	x := search.New(search.Options{Dir: s.Dir(), Source: source, Patience: time.Minute, Rest: 50 * time.Millisecond})
	defer x.Close()
	find(t, x, search.Query{Text: "word", Limit: 5})
	for range 2 { // that of indexing and that of the query
		<-source.back
	}
	for len(source.back) > 0 {
		<-source.back
	}
	_, err := x.Query(context.WithValue(t.Context(), asking{}, true), search.Query{Text: "word", Limit: 5})
	must(t, err)
	<-source.back // what was read since
}
