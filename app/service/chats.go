package service

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"conclave/app/bus"
	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Chats is what services ask of the store.
type Chats interface {
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	Conversations(ctx context.Context, offset, limit int) ([]chat.Conversation, int, error)
	UpdateConversation(ctx context.Context, id chat.ConversationID, change func(*chat.Conversation)) error
	Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error)
	Append(ctx context.Context, m *chat.Message) error
	Replace(ctx context.Context, m chat.Message) error
	PutMedia(ctx context.Context, m *chat.Media) error
}

// Bounds of what is read and written at once.
const (
	defaultPage  = 50
	maxPage      = 200
	maxContent   = 1 << 20
	maxAttached  = 4
	maxReplanted = 200 // messages after one that is removed
	maxWaiting   = 50  // changes of one chat that wait for the end of an answer
	maxSystem    = 256 << 10
)

// Chat is a conversation as plugins see it.
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

// Message is one entry of a chat as plugins see it: what a person wrote, or an
// answer as a whole with the rounds of tools it took.
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
}

// ChatOf is a conversation as plugins see it.
func ChatOf(c chat.Conversation) Chat {
	return Chat{c.ID, c.Title, c.System, c.Model, c.Created.UnixMilli(), c.Updated.UnixMilli(), c.Pinned, c.Archived}
}

// entry is what is shown as one: a question, or the messages of one answer.
type entry struct {
	from, to int // of the path, to not included
	view     Message
}

// Entries folds a path into what plugins see of it.
func Entries(path []chat.Message) []Message {
	var out []Message
	for _, e := range entries(path) {
		out = append(out, e.view)
	}
	return out
}

// EntryAt returns the entry of a path that a message belongs to.
func EntryAt(path []chat.Message, seq chat.MessageSeq) (Message, bool) {
	for _, e := range entries(path) {
		for _, m := range path[e.from:e.to] {
			if m.Seq == seq {
				return e.view, true
			}
		}
	}
	return Message{}, false
}

func entries(path []chat.Message) []entry {
	var out []entry
	for i, m := range path {
		if m.Role == chat.RoleSystem {
			continue
		}
		if n := len(out); n > 0 && m.Role != chat.RoleUser && m.Turn != "" && out[n-1].to == i && out[n-1].view.Role == chat.RoleAssistant && path[out[n-1].from].Turn == m.Turn {
			out[n-1].to = i + 1
			out[n-1].view.take(m)
			continue
		}
		role := m.Role
		if role == chat.RoleTool {
			role = chat.RoleAssistant
		}
		v := Message{ID: idOf(m), Chat: m.Conversation, Index: len(out), Role: role, Created: m.Created.UnixMilli(), Model: m.Model, Hidden: m.Hidden, Media: []chat.Media{}}
		v.take(m)
		out = append(out, entry{i, i + 1, v})
	}
	return out
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

// find returns the chat that is meant: the one named, else the one of the call,
// else the open one.
func (s *Services) find(ctx context.Context, by plugin.Caller, id chat.ConversationID) (chat.Conversation, error) {
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

func (s *Services) active(ctx context.Context, by plugin.Caller, _ struct{}) (any, error) {
	c, err := s.find(ctx, by, "")
	return maybeChat(c, err)
}

func maybeChat(c chat.Conversation, err error) (any, error) {
	if fault.KindOf(err) == fault.NotFound {
		return map[string]any{"chat": nil}, nil
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"chat": ChatOf(c)}, nil
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

func (s *Services) chat(ctx context.Context, _ plugin.Caller, a chatArgs) (any, error) {
	if a.Chat == "" {
		return nil, invalid("Which chat? Its id is needed.")
	}
	return maybeChat(s.o.Chats.Conversation(ctx, a.Chat))
}

func (s *Services) list(ctx context.Context, _ plugin.Caller, a chatArgs) (any, error) {
	offset, limit := a.page()
	rows, total, err := s.o.Chats.Conversations(ctx, offset, limit)
	if err != nil {
		return nil, err
	}
	out := make([]Chat, len(rows))
	for i, c := range rows {
		out[i] = ChatOf(c)
	}
	return map[string]any{"chats": out, "total": total}, nil
}

func (s *Services) update(ctx context.Context, by plugin.Caller, a chatArgs) (any, error) {
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
		if err := s.o.Chats.UpdateConversation(ctx, c.ID, func(v *chat.Conversation) { v.Title, v.System = c.Title, c.System }); err != nil {
			return nil, err
		}
		s.o.Bus.Changed(bus.Edits, string(c.ID))
		s.o.Publish("CHAT_CHANGED", map[string]any{"chat": ChatOf(c), "changedFields": fields})
	}
	return map[string]any{"chat": ChatOf(c)}, nil
}

func (s *Services) messages(ctx context.Context, by plugin.Caller, a chatArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	path, err := s.o.Chats.Path(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	all := Entries(path)
	total := len(all)
	if a.Limit > 0 || a.Offset > 0 { // a chat is asked for as a whole otherwise
		offset := min(max(0, a.Offset), total)
		all = all[offset:]
		if a.Limit > 0 {
			all = all[:min(a.Limit, len(all))]
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
		if size += len(all[i].Content) + 300; size > maxRead {
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
	Media   []struct {
		MIME string `json:"mime_type"`
		Name string `json:"name"`
		Data []byte `json:"base64"`
	} `json:"media"`
}

// append writes a message at the end of a chat.
func (s *Services) append(ctx context.Context, by plugin.Caller, a messageArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	m := chat.Message{Conversation: c.ID, Turn: uuid.Must(uuid.NewV7()).String(), State: chat.Complete, Parts: []chat.Part{}, Hidden: a.Hidden != nil && *a.Hidden}
	switch a.Role {
	case "user":
		m.Role = chat.RoleUser
	case "assistant":
		m.Role, m.Model, m.Reason = chat.RoleAssistant, "plugin/"+by.Plugin, chat.EndDone
	case "system":
		return nil, invalid("A chat of Conclave's has one system text and no system messages. Set it with chats.update, or use an interceptor.")
	default:
		return nil, invalid("The role of a message is user or assistant.")
	}
	if a.Content != nil && *a.Content != "" {
		if len(*a.Content) > maxContent {
			return nil, invalid(fmt.Sprintf("A message may have at most %d KB.", maxContent>>10))
		}
		m.Parts = append(m.Parts, chat.Part{Kind: chat.PartText, Text: strings.ToValidUTF8(*a.Content, "\uFFFD")})
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
	view := entries([]chat.Message{m})[0].view
	view.Created = s.o.Now().UnixMilli()
	id := "later-" + uuid.NewString()
	waits, err := s.whenIdle(ctx, c.ID, func(ctx context.Context) error {
		written, err := s.write(ctx, m)
		if err == nil {
			view = written
			s.mu.Lock()
			s.later[id] = seqOf(c.ID, written.ID)
			s.mu.Unlock()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if waits {
		path, err := s.o.Chats.Path(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		view.ID, view.Index, view.Waits = id, len(entries(path)), true
	}
	return map[string]any{"message": view}, nil
}

// write appends m to the visible path, and tells.
func (s *Services) write(ctx context.Context, m chat.Message) (Message, error) {
	c, err := s.o.Chats.Conversation(ctx, m.Conversation)
	if err != nil {
		return Message{}, err
	}
	m.Parent, m.Created, m.Ended = c.Head, s.o.Now(), s.o.Now()
	if err := s.o.Chats.Append(ctx, &m); err != nil {
		return Message{}, err
	}
	path, err := s.o.Chats.Path(ctx, m.Conversation)
	if err != nil {
		return Message{}, err
	}
	all := Entries(path)
	view := all[len(all)-1]
	s.o.Bus.Changed(bus.Edits, string(m.Conversation))
	s.o.Publish("MESSAGE_SENT", map[string]any{"chatId": m.Conversation, "message": view})
	return view, nil
}

// idOf is a message's id for plugins, the same in no two chats: that of its chat,
// a colon, and its number there.
func idOf(m chat.Message) string {
	return string(m.Conversation) + ":" + strconv.FormatUint(uint64(m.Seq), 10)
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
func (s *Services) entryOf(ctx context.Context, c chat.ConversationID, id string) ([]chat.Message, entry, error) {
	seq := seqOf(c, id)
	s.mu.Lock()
	if kept, ok := s.later[id]; ok {
		seq = kept
	}
	s.mu.Unlock()
	path, err := s.o.Chats.Path(ctx, c)
	if err != nil {
		return nil, entry{}, err
	}
	for _, e := range entries(path) {
		for i := e.from; i < e.to; i++ {
			if path[i].Seq == seq {
				return path, e, nil
			}
		}
	}
	return nil, entry{}, missing("There is no message " + id + " in that chat.")
}

// edit changes what an entry says, or whether the model is told of it.
func (s *Services) edit(ctx context.Context, by plugin.Caller, a messageArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	if a.Content != nil && (*a.Content == "" || len(*a.Content) > maxContent) {
		return nil, invalid(fmt.Sprintf("A message has between 1 byte and %d KB.", maxContent>>10))
	}
	path, e, err := s.entryOf(ctx, c.ID, a.Message)
	if err != nil {
		return nil, err
	}
	for i := e.from; i < e.to; i++ {
		if path[i].State == chat.Streaming {
			return nil, fault.New(fault.Conflict, "service.edit", "That message is still being written.", "")
		}
	}
	placed := a.Content == nil
	for i := e.from; i < e.to; i++ {
		m := path[i]
		if a.Hidden != nil {
			m.Hidden = *a.Hidden
		}
		if a.Content != nil && m.Role != chat.RoleTool {
			m.Parts = rewritten(m.Parts, *a.Content, &placed, i == e.to-1)
		}
		if err := s.o.Chats.Replace(ctx, m); err != nil {
			return nil, err
		}
		path[i] = m
	}
	view := entries(path)[e.view.Index].view
	s.o.Bus.Changed(bus.Edits, string(c.ID))
	s.o.Publish("MESSAGE_EDITED", map[string]any{"chatId": c.ID, "message": view})
	return map[string]any{"message": view}, nil
}

// rewritten puts text where the first text of an entry stood; its other texts
// go. last says that there is no further message to put it in.
func rewritten(parts []chat.Part, text string, placed *bool, last bool) []chat.Part {
	out := []chat.Part{}
	for _, p := range parts {
		if p.Kind == chat.PartText {
			if *placed {
				continue
			}
			p.Text, *placed = text, true
		}
		out = append(out, p)
	}
	if !*placed && last {
		out = append([]chat.Part{{Kind: chat.PartText, Text: text}}, out...)
		*placed = true
	}
	return out
}

// remove takes an entry off the visible path. Nothing is overwritten: what
// followed it is written again on a branch without it, and the old branch stays
// among the versions.
func (s *Services) remove(ctx context.Context, by plugin.Caller, a messageArgs) (any, error) {
	c, err := s.find(ctx, by, a.Chat)
	if err != nil {
		return nil, err
	}
	if _, _, err := s.entryOf(ctx, c.ID, a.Message); err != nil {
		return nil, err
	}
	waits, err := s.whenIdle(ctx, c.ID, func(ctx context.Context) error {
		path, e, err := s.entryOf(ctx, c.ID, a.Message)
		if err != nil {
			return err
		}
		after := path[e.to:]
		if len(after) > maxReplanted {
			return fault.New(fault.Invalid, "service.remove", fmt.Sprintf("Only one of the last %d messages can be removed.", maxReplanted), "")
		}
		head := path[e.from].Parent
		if err := s.o.Chats.UpdateConversation(ctx, c.ID, func(v *chat.Conversation) { v.Head = head }); err != nil {
			return err
		}
		for _, m := range after {
			m.Parent = head
			if err := s.o.Chats.Append(ctx, &m); err != nil {
				return err
			}
			head = m.Seq
		}
		s.o.Bus.Changed(bus.Edits, string(c.ID))
		s.o.Publish("MESSAGE_DELETED", map[string]any{"chatId": c.ID, "messageId": e.view.ID})
		return nil
	})
	return map[string]any{"removed": err == nil, "waits": waits}, err
}

// writeTime bounds what is written once a turn has ended.
const writeTime = 30 * time.Second

// whenIdle does what changes the path of a chat: at once, or once the turn that
// runs in it has ended, in the order it was asked for. waits says which.
func (s *Services) whenIdle(ctx context.Context, id chat.ConversationID, do func(ctx context.Context) error) (waits bool, err error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false, fault.New(fault.Unavailable, "service.chats", "Conclave is closing.", "")
	}
	if len(s.queues[id]) > 0 {
		defer s.mu.Unlock()
		return true, s.queueLocked(id, do)
	}
	s.mu.Unlock()
	release, ended, err := s.o.Hold(ctx, id)
	if err != nil {
		return false, err
	}
	if ended == nil {
		defer release()
		return false, do(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, fault.New(fault.Unavailable, "service.chats", "Conclave is closing.", "")
	}
	first := len(s.queues[id]) == 0
	if err := s.queueLocked(id, do); err != nil {
		return true, err
	}
	if first {
		s.wg.Go(func() { s.drain(id) }) // ends when nothing waits, or with Close
	}
	return true, nil
}

func (s *Services) queueLocked(id chat.ConversationID, do func(ctx context.Context) error) error {
	if len(s.queues[id]) >= maxWaiting {
		return refused(fmt.Sprintf("%d changes of this chat wait for its answer to end, which is the most there may be.", maxWaiting))
	}
	s.queues[id] = append(s.queues[id], do)
	return nil
}

// drain does what waits for a chat, until nothing does. A turn that runs is
// waited for.
func (s *Services) drain(id chat.ConversationID) {
	for {
		release, ended, err := s.o.Hold(s.ctx, id)
		if err == nil && ended != nil {
			select {
			case <-ended:
				continue
			case <-s.ctx.Done():
			}
		}
		if s.ctx.Err() != nil || err != nil {
			if release != nil {
				release()
			}
			s.mu.Lock()
			delete(s.queues, id)
			s.mu.Unlock()
			return
		}
		s.mu.Lock()
		do := s.queues[id][0]
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(s.ctx, writeTime)
		if err := do(ctx); err != nil {
			s.o.Log.Warn("what a plugin wanted to change of a chat could not be written", "conversation", id, "err", err)
		}
		cancel()
		release()
		s.mu.Lock()
		s.queues[id] = s.queues[id][1:]
		over := len(s.queues[id]) == 0
		if over {
			delete(s.queues, id)
		}
		s.mu.Unlock()
		if over {
			return
		}
	}
}
