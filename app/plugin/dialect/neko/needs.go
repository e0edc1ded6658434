package neko

import (
	"bytes"
	"slices"

	"conclave/app/plugin/python"
)

// maxScanned bounds the sources that are read for it, in bytes.
const maxScanned = 8 << 20

// pushes is a call by which a plugin writes into a chat.
var pushes = []byte(".push_message(")

// permissions returns what the sources of a plugin show it will want, sorted. A
// N.E.K.O manifest asks for nothing: there, a plugin may do what its user may. So it
// is asked of the person.
func permissions(dir string) []string {
	found := []string{}
	size := 0
	for _, name := range python.OwnFiles(dir) {
		text, err := python.ReadSource(dir, name)
		if err != nil {
			continue
		}
		if size += len(text); size > maxScanned {
			break
		}
		if found = python.Reaches(found, text); !slices.Contains(found, "chat_mutation") && bytes.Contains(text, pushes) {
			found = append(found, "chat_mutation")
		}
	}
	slices.Sort(found)
	return found
}
