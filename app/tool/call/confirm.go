package call

import (
	"slices"
	"strings"
	"unicode"

	"conclave/app/chat"
)

// maxConfirmed limits the length of a text that only confirms, in bytes.
const maxConfirmed = 64

// confirmations are words that cannot form an instruction.
var confirmations = []string{
	"accepted", "created", "deleted", "done", "false", "null", "ok", "okay", "posted", "received", "removed", "result",
	"saved", "sent", "status", "stored", "success", "true", "updated", "written",
}

// onlyConfirms reports whether a result only confirms success or holds a number: such words bring no
// untrusted text into a chat.
func onlyConfirms(content []chat.Part) bool {
	if slices.ContainsFunc(content, func(p chat.Part) bool { return p.Kind != chat.PartText }) {
		return false
	}
	text := chat.TextOf(content)
	if len(text) > maxConfirmed || strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return !slices.ContainsFunc(words, func(word string) bool {
		return strings.Trim(word, "0123456789") != "" && !slices.Contains(confirmations, word)
	})
}
