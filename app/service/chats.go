package service

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/tool"

	"github.com/google/uuid"
)

// Chats reads and writes chats for services; store.Turns is the real one.
type Chats interface {
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	List(ctx context.Context, o chat.ListOptions) (chat.Page, error)
	UpdateConversation(ctx context.Context, id chat.ConversationID, change func(*chat.Conversation)) error
	Append(ctx context.Context, messages ...*chat.Message) error
	Outline(ctx context.Context, id chat.ConversationID) (chat.Outline, error)
	Message(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error)
	Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error)
	PutMedia(ctx context.Context, m *chat.Media) error
}

// Bounds of what is read and written at once.
const (
	defaultPage = 50
	maxPage     = 200
	maxContent  = 1 << 20
	maxAttached = 4
	maxSystem   = 256 << 10
)

// Chat is a conversation as plugins get it.
type Chat struct {
	ID       chat.ConversationID `json:"id"`
	Title    string              `json:"title"`
	System   string              `json:"system"`
	Model    string              `json:"model"`
	Created  int64               `json:"created_ms"`
	Updated  int64               `json:"updated_ms"`
	Pinned   bool                `json:"pinned"`
	Archived bool                `json:"archived"`
}

// Message is one entry of a chat as plugins get it: what a person wrote, or a whole
// answer with its rounds of tools.
type Message struct {
	ID      string              `json:"id"`
	Chat    chat.ConversationID `json:"chat"`
	Index   int                 `json:"index"` // on the visible path, from 0
	Role    chat.Role           `json:"role"`  // user or assistant
	Content string              `json:"content"`
	Created int64               `json:"created_ms"`
	Model   string              `json:"model"`
	Hidden  bool                `json:"hidden"` // kept from the model
	State   chat.MessageState   `json:"state"`
	Media   []chat.Media        `json:"media"`
	Waits   bool                `json:"waits,omitempty"` // it is written once the answer under way has ended
	// Metadata is an object that plugins stored with it.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Versions are all versions of it where it has more than one, oldest first; Version is the
	// place of this one among them.
	Versions []Version `json:"versions,omitempty"`
	Version  int       `json:"version,omitempty"`
}

// ChatOf returns a conversation as plugins get it.
func ChatOf(c chat.Conversation) Chat {
	return Chat{c.ID, c.Title, c.System, c.Model, c.Created.UnixMilli(), c.Updated.UnixMilli(), c.Pinned, c.Archived}
}

// Messages returns the entries of a path as plugins get them.
func Messages(path []chat.Message) []Message {
	out := []Message{}
	for _, e := range chat.Entries(path) {
		if e.Role != chat.RoleSystem {
			out = append(out, viewOf(e, len(out)))
		}
	}
	return out
}

// MessageAt returns the entry that a message belongs to as plugins get it.
func MessageAt(path []chat.Message, seq chat.MessageSeq) (Message, bool) {
	entries := chat.Entries(path)
	i := chat.EntryOf(entries, seq)
	if i < 0 || entries[i].Role == chat.RoleSystem {
		return Message{}, false
	}
	before := 0
	for _, e := range entries[:i] {
		if e.Role != chat.RoleSystem {
			before++
		}
	}
	return viewOf(entries[i], before), true
}

// viewOf is an entry as plugins see it; index is its place among those they see.
func viewOf(e chat.Entry[chat.Message], index int) Message {
	m := e.Messages[0]
	v := Message{
		ID: IDOf(m.Conversation, m.Seq), Chat: m.Conversation, Index: index, Role: e.Role, Created: m.Created.UnixMilli(),
		Model: m.Model, Hidden: m.Hidden, Media: []chat.Media{}, Metadata: m.Metadata,
	}
	for _, m := range e.Messages {
		v.take(m)
	}
	return v
}

func (v *Message) take(m chat.Message) {
	if m.Role != chat.RoleTool {
		v.State = m.State
		if text := chat.TextOf(m.Parts); text != "" {
			if v.Content != "" {
				v.Content += "\n\n"
			}
			v.Content += text
		}
	}
	for _, p := range m.Parts {
		if p.Media != nil {
			v.Media = append(v.Media, *p.Media)
		}
	}
}

// chatServices read and change chats.
type chatServices struct {
	o       *Options
	members *members

	mu    sync.Mutex                 // guards later
	later map[string]chat.MessageSeq // messages that were kept back, by the id given for them
}

// find returns the chat that is meant: the one named, else the one of the call,
// else the open one.
func (s *chatServices) find(ctx context.Context, by plugin.Caller, id chat.ConversationID) (chat.Conversation, error) {
	if err := s.members.ofMember(by, id); err != nil {
		return chat.Conversation{}, err
	}
	if id = cmp.Or(id, by.Conversation); id != "" {
		return s.o.Chats.Conversation(ctx, id)
	}
	c, err := s.o.Active(ctx)
	if err != nil {
		return chat.Conversation{}, err
	}
	if c == nil {
		return chat.Conversation{}, missing("No chat is open.")
	}
	return *c, nil
}

func (s *chatServices) active(ctx context.Context, by plugin.Caller, _ struct{}) (any, error) {
	c, err := s.find(ctx, by, "")
	return s.maybeChat(by, c, err)
}

func (s *chatServices) maybeChat(by plugin.Caller, c chat.Conversation, err error) (any, error) {
	if fault.KindOf(err) == fault.NotFound {
		return map[string]any{"chat": nil}, nil
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"chat": s.chatFor(by, c)}, nil
}

type chatArgs struct {
	Chat   chat.ConversationID `json:"chat"`
	Limit  int                 `json:"limit"`
	Offset int                 `json:"offset"`
	Title  *string             `json:"title"`
	System *string             `json:"system"`
}

// page is the part that is asked for: 50 unless said otherwise, at most 200.
func (a chatArgs) page() (offset, limit int) {
	limit = a.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	return max(0, a.Offset), min(limit, maxPage)
}

func (s *chatServices) chat(ctx context.Context, by plugin.Caller, a chatArgs) (any, error) {
	if a.Chat == "" {
		return nil, invalid("Which chat? Its id is needed.")
	}
	c, err := s.find(ctx, by, a.Chat)
	return s.maybeChat(by, c, err)
}

func (s *chatServices) list(ctx context.Context, by plugin.Caller, a chatArgs) (any, error) {
	if _, is := s.members.given(by); is {
		c, err := s.find(ctx, by, "")
		return map[string]any{"chats": []Chat{s.chatFor(by, c)}, "total": 1}, err
	}
	offset, limit := a.page()
	page, err := s.o.Chats.List(ctx, chat.ListOptions{Offset: offset, Limit: limit})
	if err != nil {
		return nil, err
	}
	out := make([]Chat, len(page.Conversations))
	for i, c := range page.Conversations {
		out[i] = ChatOf(c)
	}
	return map[string]any{"chats": out, "total": page.Total}, nil
}

func (s *chatServices) update(ctx context.Context, by plugin.Caller, a chatArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	fields := []string{}
	if a.Title != nil {
		title, _ := tool.Strip(strings.Join(strings.Fields(*a.Title), " "))
		if title == "" {
			return nil, invalid("A chat cannot have an empty title.")
		}
		c.Title = string([]rune(title)[:min(200, len([]rune(title)))])
		fields = append(fields, "name")
	}
	if a.System != nil {
		if len(*a.System) > maxSystem {
			return nil, invalid(fmt.Sprintf("The system text of a chat may have at most %d KB.", maxSystem>>10))
		}
		c.System = *a.System
		fields = append(fields, "system")
	}
	if len(fields) > 0 {
		if err := s.o.Chats.UpdateConversation(ctx, c.ID,
			func(v *chat.Conversation) {
				v.Title, v.System = c.Title, c.System
				if a.System != nil {
					v.Origins = chat.AddOrigins(v.Origins, writtenBy(by)...)
				}
			}); err != nil {
			return nil, err
		}
		s.o.Bus.Changed(bus.Edits, string(c.ID))
		s.o.Publish("CHAT_CHANGED", map[string]any{"chat": ChatOf(c), "changedFields": fields})
	}
	return map[string]any{"chat": ChatOf(c)}, nil
}

func (s *chatServices) messages(ctx context.Context, by plugin.Caller, a chatArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	path, err := s.pathFor(ctx, by, c.ID)
	if err != nil {
		return nil, err
	}
	all := Messages(path)
	total := len(all)
	if a.Limit > 0 || a.Offset > 0 { // a chat is asked for as a whole otherwise
		offset := min(max(0, a.Offset), total)
		all = all[offset:]
		if a.Limit > 0 {
			all = all[:min(a.Limit, len(all))]
		}
	}
	if _, is := s.members.given(by); !is { // a member is given one version
		if err := s.addVersions(ctx, c.ID, all); err != nil {
			return nil, err
		}
	}
	return map[string]any{"messages": fitting(all), "total": total}, nil
}

// maxRead bounds the text of one answer to chats.messages; a line of the wire
// holds 4 MiB.
const maxRead = 3 << 20

// fitting is the newest of all that fit into one answer.
func fitting(all []Message) []Message {
	size := 0
	for i := len(all) - 1; i >= 0; i-- {
		size += len(all[i].Content) + len(all[i].Metadata) + 300
		for _, v := range all[i].Versions {
			size += len(v.Content)
		}
		if size > maxRead {
			return all[i+1:]
		}
	}
	return append([]Message{}, all...)
}

type messageArgs struct {
	Chat    chat.ConversationID `json:"chat"`
	Message string              `json:"message"`
	Role    string              `json:"role"`
	Content *string             `json:"content"`
	Hidden  *bool               `json:"hidden"`
	// Metadata is an object to be stored with the message, in place of the one there is.
	Metadata json.RawMessage `json:"metadata"`
	Versions []string        `json:"versions"` // texts of all versions: those there are, and new ones behind them
	Version  *int            `json:"version"`  // the version to show, from 0
	Media    []struct {
		MIME string `json:"mime_type"`
		Name string `json:"name"`
		Data []byte `json:"base64"`
	} `json:"media"`
}

// append writes a message at the end of a chat.
func (s *chatServices) append(ctx context.Context, by plugin.Caller, a messageArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	m := chat.Message{
		Conversation: c.ID, Turn: uuid.Must(uuid.NewV7()).String(), State: chat.Complete, Parts: []chat.Part{},
		Hidden: a.Hidden != nil && *a.Hidden, Origins: writtenBy(by), Metadata: a.Metadata,
	}
	if err := metadataOf(a.Metadata); err != nil {
		return nil, err
	}
	switch a.Role {
	case "user":
		m.Role = chat.RoleUser
	case "assistant":
		m.Role, m.Model, m.Reason = chat.RoleAssistant, "plugin/"+by.Plugin, chat.EndDone
	case "system":
		return nil, invalid("A chat of Conclave's has one system text and no system messages. " +
			"Set it with chats.update, or use an interceptor.")
	default:
		return nil, invalid("The role of a message is user or assistant.")
	}
	if a.Content != nil && *a.Content != "" {
		if len(*a.Content) > maxContent {
			return nil, invalid(fmt.Sprintf("A message may have at most %d KB.", maxContent>>10))
		}
		m.Parts = append(m.Parts, chat.TextPart(strings.ToValidUTF8(*a.Content, "\uFFFD")))
	}
	if len(a.Media) > maxAttached {
		return nil, invalid(fmt.Sprintf("A message may have at most %d attachments.", maxAttached))
	}
	for _, f := range a.Media {
		media := chat.Media{MIME: cmp.Or(f.MIME, "application/octet-stream"), Name: shown(f.Name), Data: f.Data}
		if err := s.o.Chats.PutMedia(ctx, &media); err != nil {
			return nil, err
		}
		media.Data = nil
		m.Parts = append(m.Parts, chat.Part{Kind: chat.PartMedia, Text: media.Name, Media: &media})
	}
	if len(m.Parts) == 0 {
		return nil, invalid("A message cannot be empty.")
	}
	view := viewOf(chat.Entries([]chat.Message{m})[0], 0)
	view.Created = s.o.Now().UnixMilli()
	id := "later-" + uuid.NewString()
	waits, err := s.o.Conversations.Append(ctx, c.ID, []chat.Message{m},
		func(ctx context.Context, written []chat.Message) {
			s.mu.Lock()
			s.later[id] = written[0].Seq
			s.mu.Unlock()
			if path, err := s.o.Chats.Path(ctx, c.ID); err == nil {
				view, _ = MessageAt(path, written[0].Seq)
				s.o.Publish("MESSAGE_SENT", map[string]any{"chatId": c.ID, "message": view})
			}
			s.o.Bus.Changed(bus.Edits, string(c.ID))
		})
	if err != nil {
		return nil, err
	}
	if waits {
		path, err := s.o.Chats.Path(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		later := viewOf(chat.Entries([]chat.Message{m})[0], len(Messages(path)))
		later.ID, later.Created, later.Waits = id, s.o.Now().UnixMilli(), true
		return map[string]any{"message": later}, nil
	}
	return map[string]any{"message": view}, nil
}

// IDOf returns a message's id for plugins, unique among all chats: the id of its chat,
// a colon, and its number there.
func IDOf(c chat.ConversationID, seq chat.MessageSeq) string {
	return string(c) + ":" + strconv.FormatUint(uint64(seq), 10)
}

// seqOf is the number of a message of chat c by its id, or by its number alone; 0
// for an id of another chat.
func seqOf(c chat.ConversationID, id string) chat.MessageSeq {
	n, err := strconv.ParseUint(strings.TrimPrefix(id, string(c)+":"), 10, 64)
	if err != nil {
		return 0
	}
	return chat.MessageSeq(n)
}

// entryOf finds an entry of a chat's visible path by its id.
func (s *chatServices) entryOf(ctx context.Context, c chat.ConversationID, id string) ([]chat.MessageSeq, error) {
	seq := seqOf(c, id)
	s.mu.Lock()
	if kept, ok := s.later[id]; ok {
		seq = kept
	}
	s.mu.Unlock()
	path, err := s.o.Chats.Path(ctx, c)
	if err != nil {
		return nil, err
	}
	entries := chat.Entries(path)
	i := chat.EntryOf(entries, seq)
	if i < 0 || entries[i].Role == chat.RoleSystem {
		return nil, missing("There is no message " + id + " in that chat.")
	}
	var seqs []chat.MessageSeq
	for _, m := range entries[i].Messages {
		seqs = append(seqs, m.Seq)
	}
	return seqs, nil
}

// edit changes what an entry and its other versions say, what is stored with it, which version
// is shown, and whether the model gets it.
func (s *chatServices) edit(ctx context.Context, by plugin.Caller, a messageArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	if err := metadataOf(a.Metadata); err != nil {
		return nil, err
	}
	entry, err := s.entryOf(ctx, c.ID, a.Message)
	if err != nil {
		return nil, err
	}
	t, err := s.tree(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	wanted, err := s.versionsFor(ctx, t, entry, a)
	if err != nil {
		return nil, err
	}
	if err := s.rewrite(ctx, by, c.ID, t, wanted, a); err != nil {
		return nil, err
	}
	if err := s.branch(ctx, by, c.ID, wanted); err != nil {
		return nil, err
	}
	s.o.Bus.Changed(bus.Edits, string(c.ID))
	path, err := s.o.Chats.Path(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	view, ok := MessageAt(path, entry[0])
	if !ok { // another version is shown now, which stands where it stood
		before := slices.IndexFunc(t.Path, func(seq chat.MessageSeq) bool { return seq == entry[0] })
		view, _ = MessageAt(path, path[min(before, len(path)-1)].Seq)
	}
	views := []Message{view}
	if err := s.addVersions(ctx, c.ID, views); err != nil {
		return nil, err
	}
	return map[string]any{"message": views[0]}, nil
}

// remove takes an entry off the visible path.
func (s *chatServices) remove(ctx context.Context, by plugin.Caller, a messageArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	entry, err := s.entryOf(ctx, c.ID, a.Message)
	if err != nil {
		return nil, err
	}
	waits, err := s.o.Conversations.Remove(ctx, c.ID, entry[0], func() {
		s.o.Bus.Changed(bus.Edits, string(c.ID))
		s.o.Publish("MESSAGE_DELETED", map[string]any{"chatId": c.ID, "messageId": IDOf(c.ID, entry[0])})
	})
	return map[string]any{"removed": err == nil, "waits": waits}, err
}
