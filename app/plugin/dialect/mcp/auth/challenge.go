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

// scopeWords returns the scopes of a text; characters that none can have (RFC 6749 section 3.3) end it.
func scopeWords(text string) []string {
	var all []string
	for _, word := range strings.Fields(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return r < '!' || r > '~' || r == '"' || r == '\\' }) {
			continue
		}
		all = union(all, []string{word})
	}
	return all
}
