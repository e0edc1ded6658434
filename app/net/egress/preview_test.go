package egress

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// What a person is shown of a request ends before a key that is cut, wherever that is, and
// says of a body in one line as much as of one in many.
func TestAttackAPreviewShowsNoBeginningOfAKey(t *testing.T) {
	key := "sk-" + strings.Repeat("k3y", 7)
	hide := func(text string) string { return strings.ReplaceAll(text, key, "•••") }
	shown := func(body string, size int64) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org/in", strings.NewReader(body))
		must(t, err)
		r.Header = http.Header{"Proxy-Authorization": {"Basic eA=="}, "Proxy-Connection": {"close"}} // are not sent
		if r.ContentLength = size; size < 0 {
			r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
		}
		return Preview(r, hide)
	}
	for cut := range len(key) + 1 {
		fill := (shownBody - cut) / 2 // of two bytes, so that lines enough for all of it are shown
		body := strings.Repeat("é", fill) + strings.Repeat("x", (shownBody-cut)%2) + " " + key +
			strings.Repeat(" y", longestKey)
		for name, size := range map[string]int64{"of a length": int64(len(body)), "of none": -1} {
			got := shown(body, size)
			if strings.Contains(got, "sk-") {
				t.Fatalf("%s, with %d characters of the key before the end, it shows %q", name, cut, got[len(got)-80:])
			}
			if strings.Count(got, "é") != fill {
				t.Fatalf("%s, cut at %d, it shows %d of %d characters", name, cut, strings.Count(got, "é"), fill)
			}
		}
	}
	for body, want := range map[string]string{
		"short":                        "POST /in\n\nshort",
		"key=" + key:                   "POST /in\n\nkey=•••",
		strings.Repeat("é", shownBody): "POST /in\n\n" + strings.Repeat("é", shownBody/2),
	} {
		if got := shown(body, int64(len(body))); !strings.HasPrefix(got, want) || strings.Contains(got, "�") {
			t.Errorf("of a body of %d bytes it shows %d: %.60q", len(body), len(got), got)
		}
	}
}

// A secret that is named like a key is not shown, but how much is sent under that name is.
func TestAttackAHeaderNamedLikeAKeyDoesNotHideHowMuchItHolds(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://example.org/", nil)
	must(t, err)
	r.Header = http.Header{"X-Token": {strings.Repeat("x", 3<<10)}}
	got := Preview(r, func(text string) string { return text })
	if !strings.HasSuffix(got, "\nX-Token: (3 KiB, not shown)") {
		t.Errorf("it shows %q", got)
	}
}
