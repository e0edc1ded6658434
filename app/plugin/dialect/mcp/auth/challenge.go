package auth

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// challenge holds what a server wrote with a refusal (RFC 6750 section 3, RFC 9728 section 5.1).
type challenge struct {
	metadata string   // the address of its resource metadata
	scopes   []string // that it wants
	err      string   // the code of the error
}

// maxChallenge bounds the header that is read: the time to parse one grows with its square.
const maxChallenge = 8 << 10

// readChallenge reads the WWW-Authenticate header. One that is too long or malformed says nothing,
// and is no reason to fail: the metadata has well-known places.
func readChallenge(h http.Header) *challenge {
	c := &challenge{}
	values := h.Values("WWW-Authenticate")
	if len(strings.Join(values, "")) > maxChallenge {
		return c
	}
	for _, value := range values {
		all, err := oauthex.ParseWWWAuthenticate([]string{value})
		if err != nil {
			continue
		}
		for _, one := range all {
			if c.metadata == "" {
				c.metadata = one.Params["resource_metadata"]
			}
			if one.Scheme != "bearer" {
				continue
			}
			if c.scopes == nil {
				c.scopes = scopeWords(one.Params["scope"])
			}
			if c.err == "" {
				c.err = one.Params["error"]
			}
		}
	}
	return c
}

// maxScopes bounds what is asked for: it stands in an address.
const maxScopes = 100

// scopeWords returns the scopes of a text, without words that are none (RFC 6749 section 3.3).
func scopeWords(text string) []string {
	var all []string
	for word := range strings.FieldsSeq(text) {
		if len(all) == maxScopes {
			break
		}
		none := func(r rune) bool { return r < '!' || r > '~' || r == '"' || r == '\\' }
		if len(word) > 200 || strings.ContainsFunc(word, none) {
			continue
		}
		all = union(all, []string{word})
	}
	return all
}
