package llm

import (
	"net/http"
	"strings"
)

// mask stands where a secret was.
const mask = "•••"

// keyShapes are the beginnings and forms of well-known keys, half-masked ones
// included, since a provider that refuses a key likes to repeat it. Two letters begin a key
// only with what separates them from its rest: “skyscraper” is a word.
var keyShapes = lazy(`(?i)\b(?:(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx|csk|tgp|r8|fw)[-_.]|AIza|AQ\.|ya29\.)[A-Za-z0-9_\-.*•]{8,}|\bbearer\s+[A-Za-z0-9_\-.~+/=*]{8,}|\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b|([?&](?:key|api_key|token)=)[^&\s"]+`)

// Mask replaces the given secrets in a text, and whatever looks like a key.
func Mask(text string, secrets ...string) string { return maskKeys(text, secrets...) }

// maskKeys replaces the given secrets, and whatever looks like a key.
func maskKeys(text string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 { // a shorter one would mask ordinary words
			text = strings.ReplaceAll(text, secret, mask)
		}
	}
	return keyShapes().ReplaceAllString(text, "${1}"+mask)
}

// secrets returns the keys in a request's headers.
func secrets(header http.Header) []string {
	var found []string
	for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"} {
		value := header.Get(name)
		if scheme, rest, ok := strings.Cut(value, " "); ok && strings.EqualFold(scheme, "Bearer") {
			value = rest
		}
		if value != "" {
			found = append(found, value)
		}
	}
	return found
}
