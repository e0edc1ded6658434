package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode"

	"conclave/app/chat"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/watch"
)

// hears notes that the process is given a call of a chat that holds text of these origins, if what
// the call says may be of that text. From then on the process may repeat it in any chat: it has it
// in its memory, and may keep it.
func (s *session) hears(origins []chat.Origin, arguments json.RawMessage) {
	if len(origins) == 0 || !saysSomething(arguments) {
		return
	}
	s.mu.Lock()
	first := s.heard == nil
	s.mu.Unlock()
	var stored string
	if first {
		stored = storedState(s.r.h.o.storage(s.r.e.id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard == nil { // no process has been given the call yet
		s.stored = stored
	}
	s.heard = chat.AddOrigins(s.heard, origins...)
}

// keeps notes with the plugin what the process may have kept of what it heard: its storage has
// changed since, or it kept a text elsewhere.
func (s *session) keeps(elsewhere bool) {
	s.mu.Lock()
	heard, before := s.heard, s.stored
	s.mu.Unlock()
	if len(heard) == 0 {
		return
	}
	now := storedState(s.r.h.o.storage(s.r.e.id))
	if now == before && !elsewhere {
		return
	}
	s.mu.Lock()
	s.stored = now
	s.mu.Unlock()
	s.r.e.memory.mayRepeat(savedState{Heard: heard})
}

// origins returns the origins whose text the process may repeat.
func (s *session) origins() []chat.Origin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

// longestToken limits the length of a text that is no more than a date, a unit or a choice, in bytes.
const longestToken = 16

// saysSomething reports whether a call's arguments hold a text that orders could be made of: more
// than numbers, and single words that are no longer than a date.
func saysSomething(arguments json.RawMessage) bool {
	var value any
	if len(arguments) > 0 && json.Unmarshal(arguments, &value) != nil {
		return true
	}
	says := func(text string) bool {
		return len(text) > longestToken || strings.ContainsFunc(text, unicode.IsSpace)
	}
	var within func(value any) bool
	within = func(value any) bool {
		switch v := value.(type) {
		case string:
			return says(v)
		case []any:
			return len(v) > longestToken || slices.ContainsFunc(v, within)
		case map[string]any:
			for key, one := range v {
				if says(key) || within(one) {
					return true
				}
			}
		}
		return false
	}
	return within(value)
}

// without returns the origins that are not among others.
func without(origins, others []chat.Origin) []chat.Origin {
	return slices.DeleteFunc(slices.Clone(origins), func(o chat.Origin) bool { return slices.Contains(others, o) })
}

// storedState returns a text that differs once anything in a storage folder was written. It reads
// no file.
func storedState(dir string) string {
	folder, err := safefs.Open(dir)
	if err != nil {
		return "" // there is none
	}
	defer folder.Close() //nolint:errcheck // only looked at
	sum := sha256.New()
	err = folder.Walk(".", func(name string, entry fs.DirEntry) error {
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // it went away meanwhile
		}
		size := info.Size()
		if info.IsDir() {
			size = 0 // what is in it is looked at by itself
		}
		fmt.Fprintf(sum, "%q %s %d %d\n", name, info.Mode(), size, watch.Changed(info).UnixNano())
		return nil
	})
	fmt.Fprintln(sum, err)
	return hex.EncodeToString(sum.Sum(nil))
}
