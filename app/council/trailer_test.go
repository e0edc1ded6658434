package council_test

import (
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/council"
)

func TestABlockAtTheEndOfAnAnswerIsBounded(t *testing.T) {
	most := limit.CouncilBlock
	block := func(size int) string {
		return `{"position":"yes"` + strings.Repeat(" ", size-len(`{"position":"yes"}`)) + "}"
	}
	if o, err := council.ReadOpinion(block(most)); err != nil || o.Position != "yes" {
		t.Errorf("at the limit: %+v, %v", o, err)
	}
	if _, err := council.ReadOpinion(block(most + 1)); err == nil ||
		err.Error() != "The block at the end of a member's answer is longer than 64 KiB and was not read." {
		t.Errorf("one over: %v", err)
	}
	var trailer council.Trailer
	for range 100 {
		trailer.Write("```council\n" + strings.Repeat("x", 100_000))
	}
	if _, got := trailer.End(); len(got) != most+1 {
		t.Errorf("%d bytes of an endless block are kept", len(got))
	}
}

func TestTheBlockAtTheEndOfAnAnswerIsHiddenWhileItIsSaid(t *testing.T) {
	block := `{"position":"yes"}`
	for said, want := range map[string][2]string{
		"Yes.\n\n```council\n" + block + "\n```\n":               {"Yes.", block + "\n"},
		"Yes.\r\n```council\r\n" + block + "\r\n```":             {"Yes.", block + "\r\n"},
		"Yes.\n  ~~~~ Council \n" + block + "\n~~~~":             {"Yes.", block + "\n"},
		"```council\n" + block + "\n```":                         {"", block + "\n"},
		"Yes.\n```council\n" + block:                             {"Yes.", block + "\n"},
		"Yes.\n```council":                                       {"Yes.", ""},
		"Yes.\n```councils\nx\n```":                              {"Yes.\n```councils\nx\n```", ""},
		"Yes, as in ```council\nx\n```":                          {"Yes, as in ```council\nx\n```", ""},
		"One.\n```go\nx := 1\n```\nTwo.":                         {"One.\n```go\nx := 1\n```\nTwo.", ""},
		"One.\n```council\n{}\n```\nTwo.\n```council\n[]\n```\n": {"One.\nTwo.", "[]\n"},
		"One.\n````council\n```\n````\nTwo.":                     {"One.\nTwo.", "```\n"},
		"One.\n\n\nTwo.  \n":                                     {"One.\n\n\nTwo.", ""},
		"`council`":                                              {"`council`", ""},
		"":                                                       {"", ""},
	} {
		shown, got := council.Split(said)
		if strings.ReplaceAll(shown, "\nTwo", "Two") != strings.ReplaceAll(want[0], "\nTwo", "Two") || got != want[1] {
			t.Errorf("of %q is shown %q, and the block is %q", said, shown, got)
		}
	}
}

func TestNothingOfABlockIsShownWhereverItIsCutIntoPieces(t *testing.T) {
	const said = "Yes.\n\n  ```council\n{\"position\":\"yes\"}\n```\nAnd `so` on."
	whole, block := council.Split(said)
	for size := 1; size < len(said); size++ {
		var trailer council.Trailer
		shown := ""
		for rest := said; rest != ""; {
			n := min(size, len(rest))
			shown += trailer.Write(rest[:n])
			rest = rest[n:]
		}
		more, got := trailer.End()
		if shown+more != whole || got != block {
			t.Errorf("in pieces of %d it is %q, %q", size, shown+more, got)
		}
	}
	var trailer council.Trailer
	if got := trailer.Write("Yes.\nAnd"); got != "Yes.\nAnd" {
		t.Errorf("held back is more than needs be: %q", got)
	}
}

func FuzzTrailer(f *testing.F) {
	f.Add("Yes.\n```council\n{}\n```\nMore.", uint8(3))
	f.Add("```council\n```council\n~~~\n```", uint8(1))
	f.Add("\n \n`` `\n```\ncouncil", uint8(2))
	f.Fuzz(func(t *testing.T, said string, size uint8) {
		whole, block := council.Split(said)
		var trailer council.Trailer
		shown := ""
		for rest := said; rest != ""; {
			n := min(int(size)+1, len(rest))
			piece := trailer.Write(rest[:n])
			if !strings.HasPrefix(said, "```") && strings.Contains(piece, "\n```council\n") {
				t.Fatalf("a block is shown: %q", piece)
			}
			shown += piece
			rest = rest[n:]
		}
		more, got := trailer.End()
		if strings.TrimRight(shown+more, " \t\r\n") != whole || got != block {
			t.Fatalf("in pieces of %d it is %q and %q, as a whole %q and %q", size+1, shown+more, got, whole, block)
		}
		if len(shown+more) > len(said) || len(got) > limit.CouncilBlock+1 {
			t.Fatalf("%d bytes became %d and %d", len(said), len(shown+more), len(got))
		}
	})
}
