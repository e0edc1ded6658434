package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/transcript"
)

// answerOf returns an answer of n paragraphs, of about 100 bytes each.
func answerOf(name string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Paragraph %d of %s says a few words, and some *more* of them, and then it is over.\n\n", i, name)
	}
	return b.String()
}

// mostSent is more than a pull brings of what it was not asked for.
const mostSent = 100 << 10

func TestAChatOfLongAnswersOpensWithItsEnd(t *testing.T) {
	m := newMemory()
	for i := range 40 {
		m.ask(fmt.Sprint("Question ", i))
		m.reply(fmt.Sprint("turn ", i), answerOf(fmt.Sprint("answer ", i), 1000))
	}
	tr := m.open(t)
	p := newPage(t, tr)
	p.pull()
	if p.sent > mostSent || len(p.last.Entries) < 4 {
		t.Errorf("it opens with %d bytes of %d entries", p.sent, len(p.last.Entries))
	}
	blocks := p.entry(80).Parts[0].Blocks
	if len(blocks) != 1000 || blocks[0].Index == lacking || blocks[500].Index != lacking || blocks[999].Index == lacking {
		t.Errorf("of the last answer of %d blocks, it has %v", len(blocks), blocks[0])
	}

	// The place asked for comes with it.
	there := newPage(t, tr)
	there.pull(transcript.Want{Seq: 20}, transcript.Want{Seq: 20, From: 500, To: 520},
		transcript.Want{Seq: 20, Part: 1, To: 7})
	blocks = there.entry(20).Parts[0].Blocks
	if blocks[499].Index != lacking || blocks[500].Index == lacking || blocks[519].Index == lacking {
		t.Errorf("around what was asked for, it has %v", blocks[499:501])
	}
	// Half a megabyte is asked for, and comes in bounded pieces that are one answer.
	sent := there.sent
	there.pull(transcript.Want{Seq: 20, To: 1000}, transcript.Want{Seq: 40}, transcript.Want{Seq: 40, To: 1000})
	if there.sent-sent > 2*mostSent {
		t.Errorf("one pull brings %d bytes", there.sent-sent)
	}
	for _, page := range []*page{p, there} {
		page.check("when all was scrolled through")
	}
}

func TestOneBlockOfTwoMegabytesIsSentToWhoLooksAtIt(t *testing.T) {
	m := newMemory()
	m.ask("Write a program.")
	lines := strings.Repeat("x := compute(1, \"a\") // and so on\n", 60_000)
	m.reply("turn", "Here it is:\n\n```go\n"+lines+"```\n\nThat was it.")
	tr := m.open(t)
	p := newPage(t, tr)
	p.pull()
	if p.sent > mostSent {
		t.Errorf("it opens with %d bytes", p.sent)
	}
	blocks := p.entry(2).Parts[0].Blocks
	if len(blocks) != 3 || blocks[0].Index == lacking || blocks[1].Index != lacking || blocks[2].Index == lacking {
		t.Fatalf("the answer came with %d blocks", len(blocks))
	}
	p.need()
	if len(p.entry(2).Parts[0].Blocks[1].HTML) < 2<<20 {
		t.Error("the block did not come whole")
	}
	// While something else of its message changes, it is not sent again.
	sent := p.sent
	u := begin(t, tr, m, "turn")
	u.say("And ")
	p.check("while it goes on")
	u.say("more.")
	u.end(chat.EndDone)
	p.check("at the end")
	if p.sent-sent > 200 {
		t.Errorf("a few words sent %d bytes", p.sent-sent)
	}
}

func TestAPageThatWasAwayIsSentTheEndOfWhatCame(t *testing.T) {
	m := newMemory()
	m.ask("Write a book.")
	tr := m.open(t)
	p := fresh(t, tr)
	u := begin(t, tr, m, "turn")
	u.say("It begins.\n\n")
	p.check("at the beginning")
	for i := range 30 {
		u.say(answerOf(fmt.Sprint("chapter ", i), 100))
	}
	u.think(strings.Repeat("Then I thought again.\n\n", 9000))
	sent := p.sent
	p.pull()
	if p.sent-sent > mostSent {
		t.Errorf("it comes back to %d bytes", p.sent-sent)
	}
	p.check("after it came back")
	u.say("The end.")
	p.check("after the last words")
	u.end(chat.EndDone)
	p.check("at the end")
	reopened(t, tr, m)
}

func TestWordsAreFoundInTheBlockThatShowsThem(t *testing.T) {
	m := newMemory()
	m.ask("What about <b>rivers</b> & trains?")
	m.reply("turn",
		answerOf("the answer", 300)+"The **long**est river is the `Nile`.\n\n```go\nvar Nile = 6650 // <km>\n```\n\n"+
			"Nile, *Nile*!\n")
	tr := m.open(t)
	for _, c := range []struct {
		seq   uint64
		words string
		want  []transcript.Found
	}{
		{2, "LONGEST river is the nile", []transcript.Found{{Spot: transcript.Spot{Block: 300}}}},
		{2, "// <km>", []transcript.Found{{Spot: transcript.Spot{Block: 301}}}},
		{2, "paragraph 7 of", []transcript.Found{{Spot: transcript.Spot{Block: 7}}}},
		{2, "nile", []transcript.Found{
			{Spot: transcript.Spot{Block: 300}},
			{Spot: transcript.Spot{Block: 301}},
			{Spot: transcript.Spot{Block: 302}},
			{Spot: transcript.Spot{Block: 302}, Nth: 1},
		}},
		{2, "nowhere", nil},
		{2, "", nil},
		{1, "& trains", []transcript.Found{{}}},
		{99, "trains", nil},
	} {
		got, err := tr.Places(t.Context(), c.seq, c.words, 1000)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q is in %+v of %d, want %+v: %v", c.words, got, c.seq, c.want, err)
		}
	}
	if got, err := tr.Places(t.Context(), 2, "paragraph", 3); err != nil || len(got) != 3 {
		t.Errorf("of the first three are %+v: %v", got, err)
	}
	// Between tool cards, too, and in an answer that is being written.
	m.ask("Use a tool.")
	u := begin(t, tr, m, "live")
	u.say("First.")
	u.propose("1", "note")
	u.say("Then *that*.")
	got, err := tr.Places(t.Context(), uint64(u.seq), "then that", 1000)
	if err != nil || !slices.Equal(got, []transcript.Found{{Spot: transcript.Spot{Part: 2}}}) {
		t.Errorf("the words are in %+v: %v", got, err)
	}
}
