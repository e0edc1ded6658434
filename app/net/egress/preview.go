package egress

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/base/pattern"
)

// shownBody bounds what a person is shown of a body before it is sent.
const shownBody = 16 << 10

// longestKey is read in addition, to find a key in which the shown part ends.
const longestKey = 8 << 10

// Preview returns a request as a person may see it before it is sent. hide removes the secrets from a
// text.
func Preview(r *http.Request, hide func(string) string) string {
	said := []string{r.Method + " " + r.URL.RequestURI()}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		switch value := strings.Join(r.Header[name], ", "); {
		case strings.HasPrefix(name, "Proxy-"): // for Conclave, not for the host
		case secretHeader().MatchString(name):
			said = append(said, name+": ("+limit.Size(int64(len(value)))+", not shown)")
		default:
			said = append(said, name+": "+value)
		}
	}
	body, size := bodyOf(r)
	whole, rest := slices.Clone(said), ""
	switch {
	case size == 0:
	case body == "" && size < 0:
		rest = "and what it writes after that, whose length it does not say"
	case body == "":
		rest = "and " + limit.Size(size) + " that cannot be read before they are sent"
	case !utf8.ValidString(body):
		rest = "and " + limit.Size(size) + " that are no text"
		if size < 0 {
			rest = "and what is no text"
		}
	default:
		whole = append(whole, "", body)
		if len(body) > shownBody {
			body = text(body[:shownBody])
			rest = "and more"
		}
		said = append(said, "", body)
		if left := size - int64(len(body)); left > 0 {
			rest = "and " + limit.Size(left) + " more"
		}
	}
	shown := alike(hide(strings.Join(whole, "\n")), hide(strings.Join(said, "\n")))
	if rest != "" {
		shown += "\n" + rest
	}
	return shown
}

// alike returns the common beginning of two texts. A key that was cut, and so is masked in one of them
// only, is no part of it.
func alike(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return text(a[:n])
}

// text returns s without a character that was cut at its end.
func text(s string) string {
	for n := 1; n <= utf8.UTFMax && n <= len(s); n++ {
		if last := s[len(s)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRuneInString(last) {
				return s
			}
			return s[:len(s)-n]
		}
	}
	return s
}

// secretHeader matches the names of headers that hold keys and passwords.
var secretHeader = pattern.Lazy(`(?i)auth|cookie|key|token|secret|password|signature`)

// bodyOf returns the beginning of a request's body, as far as it can be read without sending it, and the
// body's length; less than 0 if that is not known. It is more than is shown, so that it has whole keys.
func bodyOf(r *http.Request) (body string, size int64) {
	size = r.ContentLength
	if r.GetBody == nil || size == 0 {
		return "", size
	}
	from, err := r.GetBody()
	if err != nil {
		return "", size
	}
	defer from.Close()
	read, err := io.ReadAll(io.LimitReader(from, shownBody+longestKey))
	if err != nil {
		return "", size
	}
	if body = string(read); int64(len(read)) != size {
		body = text(body)
	}
	return body, size
}
