package turn

import (
	"cmp"
	"context"
	"strings"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
)

// question reads the conversation and saves the person's message, or moves the head to what is answered
// again. It returns the saved message, whose number is 0 where there is none, or the calls to make
// first.
func (t *run) question(ctx context.Context) (saved chat.Message, open []*chat.ToolCall, err error) {
	conversation, err := t.conversation(ctx)
	if err != nil {
		return saved, nil, err
	}
	parent := conversation.Head
	if t.req.Parent != nil {
		parent = *t.req.Parent
	}
	if t.req.GoOn != 0 {
		if parent, err = t.takeUp(ctx); err != nil {
			return saved, nil, err
		}
	}
	asks := t.req.Text == "" && len(t.req.Attachments) == 0
	if parent != conversation.Head && asks {
		if err := t.log.UpdateConversation(ctx, t.req.Conversation,
			func(c *chat.Conversation) { c.Head = parent }); err != nil {
			return saved, nil, err
		}
	}
	t.system, t.plain = conversation.System, conversation.Origins
	if cmp.Or(t.req.Caller, gate.Main) == gate.Main {
		t.asking = conversation.Asking
	}
	if !t.can.Reasoning { // the picker says so
		t.asking.Reasoning = ""
	}
	t.scribe.head, t.scribe.given = parent, conversation.Last
	named, err := NameTools(ctx, t.log, &conversation, t.req.Tools)
	named = t.makeRoom(ctx, named)
	t.req.Tools, t.callTurn.Tools, t.names = named, named, chatNames{t.log, conversation}
	if err != nil {
		return chat.Message{}, nil, err
	}
	if asks {
		open, err := t.again(ctx)
		return saved, open, err
	}
	if saved, err = t.saveQuestion(ctx, parent); err != nil {
		return chat.Message{}, nil, err
	}
	t.scribe.head, t.scribe.given = saved.Seq, saved.Seq
	if conversation.Title == "" {
		if title := Title(t.req.Text); title != "" {
			if err := t.log.UpdateConversation(ctx, t.req.Conversation, func(c *chat.Conversation) {
				if c.Title == "" {
					c.Title = title
				}
			}); err != nil {
				return saved, nil, err
			}
		}
	}
	t.path, err = t.log.Path(ctx, t.req.Conversation)
	return saved, nil, err
}

// conversation returns the chat of the turn: that of the log, or the one that begins, with the names of its
// tools.
func (t *run) conversation(ctx context.Context) (chat.Conversation, error) {
	if t.req.Begins == nil {
		return t.log.Conversation(ctx, t.req.Conversation)
	}
	if t.req.Tools != nil && t.req.Tools.Len() > 0 {
		_, t.req.Begins.ToolNames = t.req.Tools.Named(nil)
	}
	return *t.req.Begins, nil
}

// again reads what is answered again, and returns its calls that have no result.
func (t *run) again(ctx context.Context) ([]*chat.ToolCall, error) {
	var err error
	if t.path, err = t.log.Path(ctx, t.req.Conversation); err != nil {
		return nil, err
	}
	i, open := openCalls(t.path)
	if len(open) > 0 {
		if turn := t.path[i].Turn; turn != "" && t.req.ID == "" {
			t.turn = turn
		}
		return open, nil
	}
	if n := len(t.path); n == 0 || t.path[n-1].Role == chat.RoleAssistant {
		return nil, fault.New(fault.Invalid, "turn.run", "There is nothing to answer.", "Write a message first.")
	}
	last := &t.path[len(t.path)-1]
	last.Reason = "" // nothing ends with it any more
	return nil, t.scribe.update(ctx, last.Seq, func(m *chat.Message) { m.Reason, m.Open = "", true })
}

// saveQuestion saves the person's message.
func (t *run) saveQuestion(ctx context.Context, parent chat.MessageSeq) (chat.Message, error) {
	m := chat.Message{
		Conversation: t.req.Conversation, Parent: parent, Turn: t.turn, Role: chat.RoleUser, State: chat.Complete,
		Created: t.o.Now(), Ended: t.o.Now(), Open: true,
	}
	if t.req.Text != "" {
		m.Parts = append(m.Parts, chat.TextPart(t.req.Text))
	}
	for _, p := range t.req.Attachments {
		if p.Media != nil {
			media, kept := *p.Media, p.Media.ID != ""
			if !kept {
				if err := t.log.PutMedia(ctx, &media); err != nil {
					return m, err
				}
			}
			if c, there := t.history.files.content(ctx, media); there {
				m.Notes, _ = chat.AddNote(m.Notes, noteOf(c.Lost))
				if !kept {
					media.MIME = c.MIME
				}
			}
			media.Data = nil
			p.Media = &media
		}
		m.Parts = append(m.Parts, p)
	}
	if t.req.Begins != nil {
		return m, t.log.Begin(ctx, t.req.Begins, &m)
	}
	return m, t.log.Append(ctx, &m)
}

// maxTitle is the length of a made title in characters: what fits the chat list.
const maxTitle = 60

// marks are the marks of Markdown that can be removed from a line wherever they stand: “__” is more often a part
// of a name.
var marks = strings.NewReplacer("**", "", "`", "", "~~", "")

// Title makes a conversation's title from its first message: the words of the first line, without
// marks of Markdown, at most 60 characters.
func Title(text string) string {
	clean, _ := tool.Strip(text)
	for line := range strings.Lines(clean) {
		line = marks.Replace(strings.TrimLeft(line, "#>*-+` \t"))
		line = strings.Join(strings.Fields(line), " ")
		if line == "" {
			continue
		}
		if utf8.RuneCountInString(line) <= maxTitle {
			return line
		}
		cut := string([]rune(line)[:maxTitle-1])
		if i := strings.LastIndex(cut, " "); i > maxTitle/2 {
			cut = cut[:i]
		}
		return cut + "…"
	}
	return ""
}
