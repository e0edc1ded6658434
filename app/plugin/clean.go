package plugin

import (
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/gate"
	"conclave/app/tool"
)

// What a plugin says of itself is foreign text, whichever dialect reads it. It is
// cleaned here, where it enters: hidden, control and bidirectional characters are
// taken out and counted, a name is one line, and every text has a bound.

// scrub cleans texts and counts the characters it took out.
type scrub struct {
	hidden int
	marked []string // the lines of which, as tool.Marked returns them
}

// took notes that characters were taken out of a text.
func (s *scrub) took(n int, text string) {
	s.hidden += n
	if n > 0 {
		s.marked = append(s.marked, tool.Marked(text, nil)...)
		s.marked = s.marked[:min(len(s.marked), tool.MaxMarked)]
	}
}

// lineEnds replaces line ends and tabs by blanks.
var lineEnds = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ", "\u2028", " ", "\u2029", " ")

// line makes a text one line of at most n characters.
func (s *scrub) line(text string, n int) string {
	// A line end becomes a blank, and so is not counted as hidden.
	given := lineEnds.Replace(text)
	text, removed := tool.Strip(given)
	s.took(removed, given)
	return cutText(strings.Join(strings.Fields(text), " "), n)
}

// name makes a text one line as names have it.
func (s *scrub) name(text string) string { return s.line(text, limit.ManifestName) }

// text keeps the lines of a text, up to n characters.
func (s *scrub) text(text string, n int) string {
	clean, removed := tool.Clean(text)
	s.took(removed, text)
	return cutText(strings.TrimSpace(clean), n)
}

// names cleans a list of names: none is empty or there twice.
func (s *scrub) names(list []string) []string {
	if list == nil {
		return nil
	}
	clean := []string{}
	for _, one := range list {
		if one = s.name(one); one != "" && !slices.Contains(clean, one) && len(clean) < limit.ManifestList {
			clean = append(clean, one)
		}
	}
	return clean
}

// permissions cleans the permissions that a manifest asks for. One that becomes a
// permission by being cleaned is left out: the person saw it as one that does nothing here.
func (s *scrub) permissions(list []string) []string {
	return s.names(slices.DeleteFunc(slices.Clone(list), func(p string) bool {
		clean := (&scrub{}).name(p)
		return clean != p && gate.IsPermission(clean)
	}))
}

// cutText shortens a text to n characters; the last one then is “…”.
func cutText(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:n-1])) + "…"
}

// Clean removes hidden characters from what a dialect read, and counts them. What names a file is no text: one that a
// person could not read as it is, is refused. The error is a *Problem.
func (m *Manifest) Clean() error {
	s := &scrub{}
	paths := []string{m.Entry}
	for _, seed := range m.Seeds {
		paths = append(paths, seed.From, seed.To)
	}
	for _, path := range paths {
		if clean, _ := tool.Strip(path); clean != path || strings.ContainsAny(path, "\n\t") ||
			len(path) > limit.ManifestText {
			return &Problem{
				Kind: "refused",
				Message: "Its manifest names a file with hidden characters or line ends, or with a name that is too long: " +
					s.name(path) + ".",
				Hint: "Give the file a name that can be read, then reload the plugin.",
			}
		}
	}
	m.Name, m.Version, m.Author = s.name(m.Name), s.name(m.Version), s.name(m.Author)
	m.Identity = s.line(m.Identity, 2*limit.ManifestName)
	m.Description = s.text(m.Description, limit.ManifestText)
	m.Homepage = s.line(m.Homepage, limit.ManifestText)
	m.Permissions = s.permissions(m.Permissions)
	for i, notice := range m.Notices {
		m.Notices[i] = s.line(notice, limit.ManifestText)
	}
	m.Notices = m.Notices[:min(len(m.Notices), limit.ManifestList)]
	m.Hidden, m.Marked = s.hidden, s.marked
	return nil
}

// Clean removes hidden characters from what reading showed, and counts them in m.
// tool.Normal cleans the rest of the tools.
func (l *Listing) Clean(m *Manifest) {
	s := &scrub{hidden: m.Hidden, marked: m.Marked}
	l.Imports, l.Home = s.names(l.Imports), s.names(l.Home)
	l.Data = l.Data[:min(len(l.Data), limit.ManifestList)]
	for i := range l.Tools {
		t := &l.Tools[i]
		t.Name, t.File = s.line(t.Name, 2*limit.ManifestName), s.line(t.File, limit.ManifestText)
		t.Title, t.Description = s.line(t.Title, 2*limit.ManifestName),
			cutText(t.Description, limit.ToolDefinition)
	}
	m.Hidden, m.Marked = s.hidden, s.marked
}
