package council

import "maps"

// Texts holds texts of a run by their hashes. The zero value is ready.
type Texts map[Hash][]byte

// Add adds a text, and returns its hash.
func (t *Texts) Add(text []byte) Hash {
	h := HashOf(text)
	t.Copy(Texts{h: text})
	return h
}

// Copy adds all texts of another.
func (t *Texts) Copy(more Texts) {
	if *t == nil {
		*t = Texts{}
	}
	maps.Copy(*t, more)
}

// ReadText reads a text of a run, "" for the hash "". The kind is not_found where the run has no such
// text.
type ReadText func(Hash) (string, error)

// Words reads a text; one that cannot be read is empty.
func (read ReadText) Words(h Hash) string {
	text, _ := read(h)
	return text
}
