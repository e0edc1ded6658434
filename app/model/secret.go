package model

import (
	"net/http"
	"strings"

	"conclave/app/base/pattern"
)

// mask stands where a secret was.
const mask = "•••"

// keyShapes are the beginnings and forms of well-known keys, half-masked ones
// included, since a provider that refuses a key likes to repeat it. Two letters begin a key
// only with what separates them from its rest: “skyscraper” is a word.
var keyShapes = pattern.Lazy(`(?i)\b(?:(?:sk|pk|rk|gsk|xai|hf|nvapi|pplx|csk|tgp|r8|fw)[-_.]|AIza|AQ\.|ya29\.)[A-Za-z0-9_\-.*•]{8,}|\bbearer\s+[A-Za-z0-9_\-.~+/=*]{8,}|\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b|([?&](?:key|api_key|token)=)[^&\s"]+`)

// Every match of keyShapes holds one of these: a word before a separator, a word, or a
// point behind hexadecimal digits. Looking for them first is fifty times as fast, and most
// texts have none.
var (
	keyBeginnings = []string{"sk", "pk", "rk", "xai", "hf", "nvapi", "pplx", "tgp", "r8", "fw"}
	keyWords      = []string{"aiza", "aq.", "ya29.", "bearer", "key=", "token=", "ſ"}
)

// mayHoldKey reports whether keyShapes can match in the text.
func mayHoldKey(text string) bool {
	text = strings.ToLower(text)
	for _, word := range keyWords {
		if strings.Contains(text, word) {
			return true
		}
	}
	for i := range len(text) {
		if text[i] != '-' && text[i] != '_' && text[i] != '.' {
			continue
		}
		for _, beginning := range keyBeginnings {
			if strings.HasSuffix(text[:i], beginning) {
				return true
			}
		}
		if text[i] == '.' && i >= 32 && strings.Trim(text[i-32:i], "0123456789abcdef") == "" {
			return true
		}
	}
	return false
}

// Mask replaces the given secrets in a text, and whatever looks like a key.
func Mask(text string, secrets ...string) string { return maskKeys(text, secrets...) }

// maskKeys replaces the given secrets, and whatever looks like a key.
func maskKeys(text string, secrets ...string) string {
	for _, secret := range secrets {
		if len(secret) >= 4 { // a shorter one would mask ordinary words
			text = strings.ReplaceAll(text, secret, mask)
		}
	}
	if !mayHoldKey(text) {
		return text
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
