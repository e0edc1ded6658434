package textdiff_test

import (
	"strings"
	"testing"

	"conclave/app/base/textdiff"
)

func TestLinesThatDifferComeWithThoseAroundThem(t *testing.T) {
	numbered := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12"
	for name, c := range map[string]struct{ before, after, want string }{
		"the same":              {"a\nb", "a\nb\n", ""},
		"nothing before":        {"", "a\nb", "+a +b"},
		"nothing left":          {"a", "", "-a"},
		"one line":              {"a\nb\nc", "a\nx\nc", "=a -b +x =c"},
		"far from the start":    {numbered, strings.Replace(numbered, "10", "ten", 1), "@6 =7 =8 =9 -10 +ten =11 =12"},
		"a line of two pluses":  {"a\n", "a\n++ b\n", "=a +++ b"},
		"a line like a heading": {"@@ -1 @@\n", "x\n", "-@@ -1 @@ +x"},
	} {
		t.Run(name, func(t *testing.T) {
			signs := map[textdiff.Kind]string{textdiff.Same: "=", textdiff.Added: "+", textdiff.Removed: "-"}
			var got []string
			for _, l := range textdiff.Lines(c.before, c.after) {
				if l.Kind == textdiff.Gap {
					got = append(got, "@"+string(rune('0'+l.At)))
					continue
				}
				got = append(got, signs[l.Kind]+l.Text)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestLongLinesAreCutDownToWhatDiffers(t *testing.T) {
	long := strings.Repeat("x", 500)
	short := strings.Repeat("x", 60)
	for name, c := range map[string]struct{ before, after, want string }{
		"in the middle": {
			long + "old" + long, long + "new" + long,
			"-…" + short + "old" + short + "… +…" + short + "new" + short + "…",
		},
		"at the start":      {"old" + long, "new" + long, "-old" + short + "… +new" + short + "…"},
		"at the end":        {long, long + "y", "-…" + short + " +…" + short + "y"},
		"one is gone":       {long, "", "-" + long},
		"one that is short": {"old", "new", "-old +new"},
		"a line of another": {long + "a\nb", long + "c\nd", "-…" + short + "a -b +…" + short + "c +d"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			signs := map[textdiff.Kind]string{textdiff.Added: "+", textdiff.Removed: "-"}
			for _, l := range textdiff.Near(textdiff.Lines(c.before, c.after), 400) {
				got = append(got, signs[l.Kind]+l.Text)
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
