package service

import (
	"context"
	"strings"

	"conclave/app/chat"
	"conclave/app/council"
)

// Bounds of the background of a chat.
const (
	scanned  = 25       // messages whose words activate entries of world books
	maxWorld = 64 << 10 // bytes of the entries that are activated
)

// Background returns what plugins store that members of a council may read in addition to a
// chat: the person's persona, and the entries of world books that the newest messages
// name. It is worked out once for all members (contracts/spindle, section 10.4). The
// character that the main model is in a chat stands in the chat's system text.
func (s *Memory) Background(ctx context.Context, _ chat.ConversationID,
	path []chat.Message,
) ([]council.Background, error) {
	if s.o.Shared == nil {
		return nil, nil
	}
	persona, err := s.persona(ctx)
	if err != nil {
		return nil, err
	}
	world, err := s.world(ctx, words(path))
	return append(persona, world...), err
}

// persona is the one that is in use, or nothing.
func (s *Memory) persona(ctx context.Context) ([]council.Background, error) {
	ids, values, err := s.o.Shared.Records(ctx, "personas", "")
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		r := recordOf(id, values[i])
		if f := r.Fields; f["is_default"] == true {
			title := textField(f, "name")
			return []council.Background{{
				Kind: "persona", Title: title, Text: joined(title, textField(f, "title"), textField(f, "description")),
				Origins: chat.OriginsBy(r.Authors),
			}}, nil
		}
	}
	return nil, nil
}

// world are the entries that said activates, in the order of books and entries.
func (s *Memory) world(ctx context.Context, said string) ([]council.Background, error) {
	books, _, err := s.o.Shared.Records(ctx, "world_books", "")
	if err != nil {
		return nil, err
	}
	var found []council.Background
	left := maxWorld
	for _, book := range books {
		ids, values, err := s.o.Shared.Records(ctx, "world_books.entries", book)
		if err != nil {
			return nil, err
		}
		for i, id := range ids {
			r := recordOf(id, values[i])
			f := r.Fields
			text := textField(f, "content")
			if text == "" || len(text) > left || !activated(f, said) {
				continue
			}
			left -= len(text)
			title := textField(f, "comment")
			if title == "" {
				title = strings.Join(listField(f, "key"), ", ")
			}
			found = append(found, council.Background{
				Kind: "world", Title: title, Text: text, Origins: chat.OriginsBy(r.Authors),
			})
		}
	}
	return found, nil
}

// activated reports whether an entry belongs to what is said: one of its keys is in it,
// and where it is selective one of its second keys too. said is in small letters.
func activated(entry map[string]any, said string) bool {
	if entry["disabled"] == true {
		return false
	}
	if entry["constant"] == true {
		return true
	}
	names := func(keys []string) bool {
		for _, key := range keys {
			if key = strings.ToLower(strings.TrimSpace(key)); key != "" && strings.Contains(said, key) {
				return true
			}
		}
		return false
	}
	second := listField(entry, "keysecondary")
	return names(listField(entry, "key")) && (entry["selective"] != true || len(second) == 0 || names(second))
}

// words are those of the newest messages, in small letters.
func words(path []chat.Message) string {
	var all strings.Builder
	for _, m := range path[max(0, len(path)-scanned):] {
		if !m.Hidden && (m.Role == chat.RoleUser || m.Role == chat.RoleAssistant) {
			_, _ = all.WriteString(strings.ToLower(chat.TextOf(m.Parts)) + "\n")
		}
	}
	return all.String()
}

func textField(fields map[string]any, name string) string {
	text, _ := fields[name].(string)
	return strings.TrimSpace(text)
}

func listField(fields map[string]any, name string) []string {
	list, _ := fields[name].([]any)
	var texts []string
	for _, each := range list {
		if text, ok := each.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// joined puts each part that is not empty on a line.
func joined(parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, "\n")
}
