package job

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Building TypeScript takes longer than running it, so Conclave keeps what a
// worker built of a large file and shows it to later workers of the same plugin
// in the same version. A kept file is named by [BuiltName] and sealed by [Seal].
const (
	// KeepFrom is the size of a source from which building it is felt.
	KeepFrom = 32 << 10
	// MaxKept bounds a built text with its map: with its escapes it is one line of
	// the wire.
	MaxKept = 3 << 20
)

// BuiltName returns the name under which the result of building a file is stored.
func BuiltName(builder, name, text string) string {
	h := sha256.New()
	for _, part := range []string{builder, "\x00", name, "\x00", text} {
		_, _ = h.Write([]byte(part)) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Built holds what was built of one file, and the map from it to the author's text.
type Built struct {
	Text string `json:"text"`
	Map  string `json:"map"`
}

// Seal writes b with its digest, so that a file that was cut short by a crash is
// not taken for a plugin's code.
func (b Built) Seal() []byte {
	body := strconv.Itoa(len(b.Text)) + "\n" + b.Text + b.Map
	sum := sha256.Sum256([]byte(body))
	return []byte(hex.EncodeToString(sum[:]) + "\n" + body)
}

// Unseal reads what Seal wrote; false when it is not whole.
func Unseal(sealed []byte) (b Built, whole bool) {
	digest, body, _ := strings.Cut(string(sealed), "\n")
	if sum := sha256.Sum256([]byte(body)); digest != hex.EncodeToString(sum[:]) {
		return b, false
	}
	size, rest, _ := strings.Cut(body, "\n")
	n, err := strconv.Atoi(size)
	if err != nil || n < 0 || n > len(rest) {
		return b, false
	}
	return Built{Text: rest[:n], Map: rest[n:]}, true
}
