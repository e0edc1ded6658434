package chat

import "testing"

func TestAnExcerptShowsWordsAndNotTheMarksOfMarkdown(t *testing.T) {
	for _, c := range []struct{ text, words, want string }{
		{"The **last train** leaves at nine.", "train", "The last |train| leaves at nine."},
		{"Take the **train**, please.", "train", "Take the |train|, please."},
		{"**Note:** the train is late.", "train", "Note: the |train| is late."},
		{"A kernel of 2**8 bytes, by train.", "train", "A kernel of 2**8 bytes, by |train|."},
		{"a ** b, by train", "train", "a ** b, by |train|"},
		{"*Soon* a `slow` ~~bus~~ or _train_ comes.", "train", "Soon a slow bus or |train| comes."},
		{"Read:\n## By train\n- [the map](https://a.example/x)\n- more", "train", "Read: By |train| - the map - more"},
		{"```sh\nrun snake_case 3 * 4 train\n```", "train", " run snake_case 3 * 4 |train| "},
	} {
		e, found := ExcerptOf(c.text, c.words)
		if got := e.Before + "|" + e.Match + "|" + e.After; !found || got != c.want {
			t.Errorf("the excerpt of %q is %q, want %q", c.text, got, c.want)
		}
	}
}
