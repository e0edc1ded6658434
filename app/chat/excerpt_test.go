package chat

import "testing"

func TestAnExcerptShowsWordsAndNotTheMarksOfBoldText(t *testing.T) {
	for _, c := range []struct{ text, words, want string }{
		{"The **last train** leaves at nine.", "train", "The last |train| leaves at nine."},
		{"Take the **train**, please.", "train", "Take the |train|, please."},
		{"**Note:** the train is late.", "train", "Note: the |train| is late."},
		{"A kernel of 2**8 bytes, by train.", "train", "A kernel of 2**8 bytes, by |train|."},
		{"a ** b, by train", "train", "a ** b, by |train|"},
	} {
		e, found := ExcerptOf(c.text, c.words)
		if got := e.Before + "|" + e.Match + "|" + e.After; !found || got != c.want {
			t.Errorf("the excerpt of %q is %q, want %q", c.text, got, c.want)
		}
	}
}
