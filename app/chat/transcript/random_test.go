package transcript_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/transcript"
)

// pieces hold what models say, cut where a stream would.
var pieces = []string{
	"Hello", " world", ".\n\n", "**bo", "ld** ", "# A head", "ing\n\n", "- one\n", "- two\n",
	"```go\nx := 1\n", "y := \"😀\"\n", "```\n\n", "| a | b |\n|---|---|\n", "| 1 | 2 |\n", "a line\n", "===\n",
	"<script>alert(1)</script>", " [a](https://x.test) ", "\n\n> quote\n", strings.Repeat("long words in a row ", 30),
	strings.Repeat("A paragraph of more than a pull brings.\n\n", 300), "\n\n",
	"~~~\n" + strings.Repeat("code\n", 6000) + "~~~\n\n",
}

// story is a conversation to which anything may happen, and two pages that look on.
type story struct {
	t     *testing.T
	r     *rand.Rand
	m     *memory
	tr    *transcript.Transcript
	pages []*page
	turns []*turn
	count int
	log   []string
}

func (s *story) pick(n int) int { return s.r.IntN(n) }

func (s *story) message() (chat.MessageSeq, bool) {
	seq := chat.MessageSeq(s.pick(len(s.m.messages)+1) + 1)
	if int(seq) > len(s.m.messages) || s.m.messages[seq-1].State == chat.Streaming {
		return 0, false
	}
	return seq, s.m.messages[seq-1].Role != chat.RoleTool
}

// step has one thing happen, and returns what.
func (s *story) step() string {
	s.count++
	if len(s.turns) > 0 && s.pick(2) == 0 {
		return s.live(s.pick(len(s.turns)))
	}
	switch s.pick(12) {
	case 0, 1:
		if len(s.turns) == 3 {
			return "nothing"
		}
		id := fmt.Sprintf("turn %d", s.count)
		if len(s.turns) == 0 || s.pick(3) == 0 {
			u := begin(s.t, s.tr, s.m, id)
			s.m.ask("Question " + id)
			u.take(chat.Event{Kind: chat.EventQuestioned})
			s.turns = append(s.turns, u)
			return "a question and a turn"
		}
		s.turns = append(s.turns, begin(s.t, s.tr, s.m, id))
		return "a turn beside another"
	case 2:
		if seq, ok := s.message(); ok {
			s.m.rewrite(seq, pieces[s.pick(len(pieces))]+fmt.Sprint(s.count))
			s.refresh(s.of(seq))
			return fmt.Sprint("an edit of ", seq)
		}
	case 3:
		if seq, ok := s.message(); ok {
			s.m.change(seq, func(v *chat.Message) { v.Hidden = !v.Hidden })
			s.refresh(s.of(seq))
			return fmt.Sprint("hiding ", seq)
		}
	case 4, 5:
		if seq, ok := s.message(); ok && len(s.turns) == 0 {
			o, err := s.m.Outline(s.t.Context(), conversation)
			must(s.t, err)
			s.m.show(transcript.NewestLeaf(o, seq))
			s.refresh()
			return fmt.Sprint("showing ", seq)
		}
	case 6:
		if seq, ok := s.message(); ok && len(s.turns) == 0 {
			s.m.show(s.m.messages[seq-1].Parent)
			s.turns = append(s.turns, begin(s.t, s.tr, s.m, fmt.Sprintf("again %d", s.count)))
			return fmt.Sprint("answering again beside ", seq)
		}
	case 7:
		s.m.set(func() { s.m.about.Title = fmt.Sprint("Title ", s.count) })
		s.refresh()
		return "a title"
	case 8:
		if seq, ok := s.message(); ok {
			s.m.rewrite(seq, "by a plugin")
		}
		must(s.t, s.tr.RefreshAll(s.t.Context()))
		return "a plugin's edit"
	case 9, 10:
		p := s.pages[s.pick(len(s.pages))]
		p.pull()
		if wants := p.wants(); len(wants) > 0 && s.pick(2) == 0 { // it scrolls
			i := s.pick(len(wants))
			p.pull(wants[i : i+1+s.pick(len(wants)-i)]...)
		} else if s.pick(2) == 0 {
			p.need()
		}
		return "a pull"
	}
	return "nothing"
}

// of returns the entry of a message.
func (s *story) of(seq chat.MessageSeq) chat.MessageSeq {
	o, err := s.m.Outline(s.t.Context(), conversation)
	must(s.t, err)
	o.Path = nil
	for at := transcript.NewestLeaf(o, seq); at != 0; at = s.m.messages[at-1].Parent {
		o.Path = append([]chat.MessageSeq{at}, o.Path...)
	}
	for _, f := range transcript.Fold(o) {
		if slices.Contains(f.Messages, seq) {
			return f.Seq
		}
	}
	return seq
}

func (s *story) refresh(seqs ...chat.MessageSeq) {
	must(s.t, s.tr.Refresh(s.t.Context(), seqs...))
}

// live has something happen in a turn.
func (s *story) live(i int) string {
	u := s.turns[i]
	switch s.pick(12) {
	case 0, 1, 2, 3:
		u.say(pieces[s.pick(len(pieces))])
		return u.id + " says"
	case 4:
		u.think(pieces[s.pick(len(pieces))])
		return u.id + " thinks"
	case 5:
		u.use(chat.Usage{Input: 3, Output: int64(s.pick(9))})
		return u.id + " used"
	case 6:
		u.take(chat.Event{Kind: chat.EventRetrying, Note: "Busy."})
		return u.id + " tries again"
	case 7, 8:
		s.call(u)
		return u.id + " calls"
	case 9:
		u.save("", chat.Complete)
		return u.id + " saved"
	case 10:
		reasons := []chat.EndReason{chat.EndDone, chat.EndStopped, chat.EndLimit}
		u.end(reasons[s.pick(len(reasons))])
		s.turns = append(s.turns[:i], s.turns[i+1:]...)
		return u.id + " ends"
	}
	u.take(chat.Event{Kind: chat.EventWaiting, Note: "Almost."})
	return u.id + " waits"
}

// call makes a call from its beginning to its end, or leaves it.
func (s *story) call(u *turn) {
	r := u.propose(fmt.Sprintf("call %d", s.pick(3)), "note")
	if s.pick(2) == 0 {
		u.call(r, chat.Event{Kind: chat.EventHeld, Request: "request"})
	}
	r.Decision, r.Decider, r.DecidedBy = "allow", "person", "you allowed it once"
	u.decided(r, "rule")
	r.Status = chat.CallRunning
	u.call(u.m.put(r), chat.Event{Kind: chat.EventAsked})
	u.call(r, chat.Event{Kind: chat.EventProgress, Note: "half of it"})
	s.pages[0].pull()
	r.Status, r.MS = chat.CallOK, 12
	result := chat.ToolResult{CallID: r.RequestID, Tool: r.ToolName, Status: r.Status, Content: said("done")}
	if s.pick(2) == 0 {
		result.Content = append(result.Content, chat.Part{
			Kind: chat.PartMedia, Media: &chat.Media{ID: "m", MIME: "image/png", Size: 7},
		})
	}
	u.call(u.m.put(r), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{Content: result.Content}})
	u.results("", result)
}

// Whatever happens to a conversation, and whenever a page pulls, it then shows what
// a page shows that opens the conversation at that moment; and when all turns have
// ended, what a window shows that was started later.
func TestAPageThatPullsShowsWhatOneShowsThatOpens(t *testing.T) {
	const stories, steps = 20, 100
	for seed := range stories {
		m := newMemory()
		for i := range seed % 4 * 12 {
			m.ask(fmt.Sprint("Question ", i))
			m.reply(fmt.Sprint("old ", i), fmt.Sprint("Answer *", i, "*"))
		}
		tr := m.open(t)
		s := &story{t: t, r: rand.New(rand.NewPCG(uint64(seed), 7)), m: m, tr: tr}
		s.pages = []*page{newPage(t, tr), newPage(t, tr)}
		for range steps {
			s.log = append(s.log, s.step())
			if s.pick(3) == 0 {
				s.pages[s.pick(2)].check(fmt.Sprintf("story %d, after %q", seed, s.log))
			}
			if t.Failed() {
				t.Fatalf("story %d: %q", seed, s.log)
			}
		}
		for _, u := range s.turns {
			u.end(chat.EndDone)
		}
		for _, p := range s.pages {
			p.check(fmt.Sprintf("story %d, at the end of %q", seed, s.log))
		}
		reopened(t, tr, m)
	}
}
