package chat

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"conclave/app/base/limit"
)

// Origin describes where text of a chat came from that neither the person nor the chat's own
// model wrote. Whoever wrote such a text may have meant it for the model.
type Origin struct {
	Kind OriginKind `json:"kind"`
	Name string     `json:"name,omitempty"` // of the host, the file, the plugin, the member; see NewOrigin
}

// OriginKind describes what Origin.Name is the name of.
type OriginKind string

// The kinds of origins.
const (
	FromWeb        OriginKind = "web"         // a page or an answer of a host
	FromAttachment OriginKind = "attachment"  // a file that was attached
	FromTool       OriginKind = "tool"        // what a plugin's tool returned that reads from outside
	FromPlugin     OriginKind = "plugin_text" // what a plugin put into the chat, or made of it
	FromMember     OriginKind = "member"      // what a member of the council said, or all of it
	FromImport     OriginKind = "import"      // a file that the chat was read from
	FromMore       OriginKind = "more"        // origins beyond limit.ChatOrigins, which are not named
)

// maxOriginName bounds a stored name, in characters.
const maxOriginName = 80

// NewOrigin returns an origin with its name as one line of what can be seen.
func NewOrigin(kind OriginKind, name string) Origin {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	runes := []rune(strings.Join(strings.Fields(name), " "))
	if len(runes) > maxOriginName {
		runes = append(runes[:maxOriginName-1:maxOriginName-1], '…')
	}
	return Origin{kind, string(runes)}
}

// String returns the origin as words that follow “this chat contains”.
func (o Origin) String() string {
	switch o.Kind {
	case FromWeb:
		return "text from " + o.Name
	case FromAttachment:
		if o.Name == "" {
			return "an attachment without a name"
		}
		return "the attachment “" + o.Name + "”"
	case FromImport:
		return "the imported file “" + o.Name + "”"
	case FromTool:
		return "what the plugin " + o.Name + " returned"
	case FromPlugin:
		return "what the plugin " + o.Name + " wrote"
	case FromMember:
		return "what " + o.Name + " said"
	}
	return "text from more places"
}

// ReadOrigins returns origins that a file says its texts have.
func ReadOrigins(given []Origin) []Origin {
	var all []Origin
	for _, o := range given {
		switch o.Kind {
		case FromWeb, FromAttachment, FromTool, FromPlugin, FromMember, FromImport:
			all = AddOrigins(all, NewOrigin(o.Kind, o.Name))
		default:
			all = AddOrigins(all, Origin{Kind: FromMore})
		}
	}
	return all
}

// AddOrigins returns origins with those of more that are new, in the order in which they
// came. Beyond limit.ChatOrigins one of kind FromMore stands for the rest.
func AddOrigins(origins []Origin, more ...Origin) []Origin {
	return addNew(origins, more, Origin{Kind: FromMore})
}

// addNew returns all with those of more that are new, in the order in which they came. Beyond
// limit.ChatOrigins, rest stands for the others.
func addNew[T comparable](all, more []T, rest T) []T {
	for _, one := range more {
		switch {
		case slices.Contains(all, one):
		case one == rest || len(all) < limit.ChatOrigins:
			all = append(all[:len(all):len(all)], one)
		case !slices.Contains(all, rest):
			all = append(all[:len(all):len(all)], rest)
		}
	}
	return all
}

// Author is a plugin that wrote a text which plugins share: a variable, a world book, a
// character, a persona. The zero Author stands for those that are not named.
type Author struct {
	Plugin string `json:"plugin,omitempty"` // its id, since two plugins may have one name
	Name   string `json:"name,omitempty"`   // as a person reads it
}

// AddAuthors returns authors with those of more that are new, in the order in which they
// came. Beyond limit.ChatOrigins the zero Author stands for the rest.
func AddAuthors(authors []Author, more ...Author) []Author { return addNew(authors, more, Author{}) }

// OriginsBy returns the origins of what these authors wrote.
func OriginsBy(authors []Author) []Origin {
	var all []Origin
	for _, a := range authors {
		origin := Origin{Kind: FromMore}
		if a != (Author{}) {
			origin = NewOrigin(FromPlugin, cmp.Or(a.Name, a.Plugin))
		}
		all = AddOrigins(all, origin)
	}
	return all
}

// Variable is a text that plugins and macros keep under a name.
type Variable struct {
	Value   string
	Authors []Author // who wrote it; nobody is known of one from before authors were kept
}

// Brought returns the origins of what came into the chat with the message, whatever became
// of its text since.
func (m *Message) Brought() []Origin {
	all := m.Origins
	if m.Role == RoleUser {
		for _, p := range m.Parts {
			if p.Media != nil {
				all = AddOrigins(all, NewOrigin(FromAttachment, p.Media.Name))
			}
		}
	}
	return all
}

// OriginsOf returns the origins of a chat along one of its paths. Messages that are hidden
// count: what followed them was made from them.
func OriginsOf(c Conversation, path []Message) []Origin {
	all := AddOrigins(nil, c.Origins...)
	for i := range path {
		all = AddOrigins(all, path[i].Brought()...)
	}
	return all
}
