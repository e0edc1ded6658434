package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
)

// noParameters is the schema of a tool that gave none.
var noParameters = json.RawMessage(`{"type":"object","properties":{}}`)

// Normal returns the tool as it may be shown to a person and a model: texts
// cleaned, title and parameters filled in, digest made. Normal of a normal tool
// is the same tool.
func Normal(t Tool) Tool {
	if t.normal.is(t) {
		return t
	}
	var n int
	said := []string{t.Title, t.Description}
	if t.Title, n = Clean(t.Title); t.Title == "" {
		t.Title = t.Name
	}
	removed := n
	t.Description, n = Clean(t.Description)
	removed += n
	if len(t.Parameters) == 0 || string(t.Parameters) == "null" {
		t.Parameters = noParameters
	}
	var marked []string
	t.Parameters, n, marked = cleanSchema(t.Parameters)
	removed += n
	t.Annotations, n = cleanAnnotations(t.Annotations)
	removed += n
	if t.Visibility == "" {
		t.Visibility = Direct
	}
	if removed > 0 {
		t.Hidden += removed
		t.Warnings = append(slices.Clone(t.Warnings), hiddenWarning(removed))
		all := slices.Clone(t.Marked)
		for _, text := range said {
			all = append(all, markedLines(text, true, nil)...)
		}
		all = append(all, marked...)
		t.Marked = all[:min(len(all), MaxMarked)]
	}
	if values := hiddenValues(t.Parameters); len(values) > 0 && !slices.Contains(t.Warnings, valuesWarning) {
		t.Warnings = append(slices.Clone(t.Warnings), valuesWarning)
		t.Marked = append(slices.Clone(t.Marked), values...)
		t.Marked = t.Marked[:min(len(t.Marked), MaxMarked)]
	}
	t.Digest = digest(t)
	t.normal = &normalized{t.Name, t.Title, t.Description, t.Digest, t.Parameters, t.Annotations}
	return t
}

// normalized holds what a tool was when Normal saw it, so that the same definition is not cleaned and digested again:
// on its way from a plugin to a model a tool is made Normal five times.
type normalized struct {
	name, title, description, digest string
	parameters, annotations          json.RawMessage
}

// is reports whether a tool is still as Normal left it. JSON in tools is not changed in place.
func (n *normalized) is(t Tool) bool {
	return n != nil && n.name == t.Name && n.title == t.Title && n.description == t.Description && n.digest == t.Digest &&
		t.Visibility != "" && sameBytes(n.parameters, t.Parameters) && sameBytes(n.annotations, t.Annotations)
}

// sameBytes reports whether two texts lie at the same place.
func sameBytes(a, b json.RawMessage) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

const valuesWarning = "Hidden characters stand in names or values of its schema, which a model gets as they are."

func hiddenWarning(n int) string {
	if n == 1 {
		return "1 hidden character was removed from its texts."
	}
	return fmt.Sprintf("%d hidden characters were removed from its texts.", n)
}

// digest is the SHA-256, in hex, over the canonical JSON of what a person
// approves and a model reads: name, title, description, parameters,
// annotations. Where a schema is no JSON, its bytes count as text.
func digest(t Tool) string {
	b := append([]byte(nil), `{"annotations":`...)
	b = appendCanonicalOr(b, t.Annotations)
	b = appendString(append(b, `,"description":`...), t.Description)
	b = appendString(append(b, `,"name":`...), t.Name)
	b = append(b, `,"parameters":`...)
	b = appendCanonicalOr(b, t.Parameters)
	b = appendString(append(b, `,"title":`...), t.Title)
	b = append(b, '}')
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func appendCanonicalOr(b []byte, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return append(b, "null"...)
	}
	canonical, err := Canonical(raw)
	if err != nil {
		return appendString(b, string(raw))
	}
	return append(b, canonical...)
}

// SetDigest returns the digest of a whole tool set: over the sorted digests of
// its definitions, which Normal made.
func SetDigest(tools []Tool) string {
	digests := make([]string, len(tools))
	for i, t := range tools {
		digests[i] = t.Digest
	}
	slices.Sort(digests)
	h := sha256.New()
	for _, d := range digests {
		h.Write([]byte(d))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil))
}
