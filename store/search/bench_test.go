package search_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/store/search"
)

// said is a source of many messages that needs no disk.
type said struct {
	chats, each int
	vocabulary  []string
}

func newSaid(chats, each int) *said {
	s := &said{chats: chats, each: each}
	for i := range 5000 {
		s.vocabulary = append(s.vocabulary, fmt.Sprintf("w%xr%d", i*7919%5000, i%17))
	}
	return s
}

func (s *said) Lineage(context.Context) (string, error)    { return "bench", nil }
func (s *said) LastChange(context.Context) (uint64, error) { return uint64(s.chats * s.each), nil }
func (s *said) Conversation(_ context.Context, id chat.ConversationID) (chat.Conversation, error) {
	return chat.Conversation{ID: id, Title: "a chat"}, nil
}

// Message makes 60 words, rare and frequent ones as in speech.
func (s *said) Message(_ context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error) {
	var text strings.Builder
	n := uint64(seq)*2654435761 + uint64(len(id))*97
	for range 60 {
		n = n*6364136223846793005 + 1442695040888963407
		r := float64(n>>33) / float64(1<<31)
		text.WriteString(s.vocabulary[int(r*r*r*float64(len(s.vocabulary)))])
		text.WriteByte(' ')
	}
	return chat.Message{
		Conversation: id, Seq: seq, Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: text.String()}},
	}, nil
}

func (s *said) GiveBack(context.Context) {}

func (s *said) Changes(c context.Context, after uint64, limit int,
	fn func(uint64, chat.ConversationID, chat.MessageSeq) error,
) (uint64, error) {
	for ; limit > 0 && after < uint64(s.chats*s.each); limit-- {
		id := chat.ConversationID(fmt.Sprint("chat-", after/uint64(s.each)))
		if err := fn(after+1, id, chat.MessageSeq(after+1)); err != nil {
			return after, err
		}
		after++
	}
	return after, c.Err()
}

// BenchmarkQueryOf100000Messages measures first results as somebody types and the
// window asks: the best 500, and the texts of the 100 rows of a page, once
// the index is there. It reports how long that took as well.
func BenchmarkQueryOf100000Messages(b *testing.B) {
	s := newSaid(1000, 100)
	x := search.New(search.Options{Dir: b.TempDir(), Source: s, Patience: 10 * time.Minute})
	defer x.Close()
	start := time.Now()
	if _, err := x.Query(b.Context(), search.Query{Text: "none"}); err != nil {
		b.Fatal(err)
	}
	indexing := time.Since(start)
	for name, text := range map[string]string{
		"rare word": s.vocabulary[4990], "frequent word": s.vocabulary[0],
		"two words": s.vocabulary[3] + " " + s.vocabulary[900],
		"beginning": "w1", "phrase": `"` + s.vocabulary[0] + " " + s.vocabulary[1] + `"`,
	} {
		b.Run(name, func(b *testing.B) {
			var floor time.Duration
			for range b.N {
				ask(b, x, text)
				if name == "phrase" { // beside the commonest word alone
					b.StopTimer()
					start := time.Now()
					ask(b, x, s.vocabulary[0])
					floor += time.Since(start)
					b.StartTimer()
				}
			}
			b.ReportMetric(indexing.Seconds(), "indexing-s")
			if floor > 0 {
				b.ReportMetric(float64(b.Elapsed())/float64(floor), "2words/1word")
			}
		})
	}
}

func ask(b *testing.B, x *search.Index, text string) {
	result, err := x.Query(b.Context(), search.Query{Text: text, Limit: 500, Bare: true})
	if err == nil {
		err = x.Show(b.Context(), text, result.Hits[:min(len(result.Hits), 100)])
	}
	must(b, err)
}
