package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"conclave/app/bus"
	"conclave/app/chat"
	conv "conclave/app/conversation"
	"conclave/app/fault"
	"conclave/app/limit"
	"conclave/app/settings"
	"conclave/app/tool"
	"conclave/app/transcript"
	"conclave/app/turn"
)

// Chats is bound: conversations, their messages, and the turns that run.
type Chats struct {
	*life
	core Core
	log  *slog.Logger
	undo *undos

	mu          sync.Mutex // guards the fields below
	transcripts map[chat.ConversationID]*transcript.Transcript
	past        uint64 // the newest revision of a transcript that was closed
	unread      map[chat.ConversationID]bool
	attached    map[string]chat.Media // by id, since the program started
	seen        chat.ConversationID
	run         context.Context //nolint:containedctx // of turns: a turn outlives the call that began it; nil before start
	cancel      context.CancelCauseFunc
	naming      context.Context //nolint:containedctx // of titles that models make: it ends with the window
	turns       sync.WaitGroup
}

func newChats(l *life, core Core, log *slog.Logger, undo *undos) *Chats {
	return &Chats{
		life: l, core: core, log: log, undo: undo,
		transcripts: map[chat.ConversationID]*transcript.Transcript{}, unread: map[chat.ConversationID]bool{},
		attached: map[string]chat.Media{},
	}
}

// start lets turns begin: they run until they end, or stop is called.
func (c *Chats) start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.naming = ctx
}

// stop stops all turns that the window began, and waits for them.
func (c *Chats) stop() {
	c.mu.Lock()
	if c.cancel != nil {
		c.cancel(errClosing)
	}
	c.mu.Unlock()
	c.turns.Wait()
}

// running returns the context of turns; the error says that none can begin.
func (c *Chats) running() (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil || c.run.Err() != nil {
		return nil, errClosing
	}
	return c.run, nil
}

var (
	errClosing = fault.New(fault.Canceled, "app.close", "Conclave closed.", "")
	errStopped = fault.New(fault.Canceled, "app.stop", "You stopped it.", "")
)

// maxTranscripts bounds how many conversations stay drawn.
const maxTranscripts = 20

// transcript returns the transcript of a conversation, a new one if need be.
func (c *Chats) transcript(id chat.ConversationID) *transcript.Transcript {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.transcripts[id]; t != nil {
		return t
	}
	if len(c.transcripts) >= maxTranscripts {
		for old := range c.transcripts {
			if old != c.seen && !c.core.Conversations.Running(old) {
				c.closeTranscript(old)
				break
			}
		}
	}
	t := transcript.New(transcript.Options{
		Conversation: id, Store: c.core.Keep, After: c.past, Log: c.log, Chat: c.chatView, ModelTitle: c.modelTitle,
		Words: c.callWords,
		Changed: func(revision uint64) {
			c.core.Bus.Publish(bus.Notice{Topic: bus.Chat, ID: string(id), Revision: revision})
		},
	})
	c.transcripts[id] = t
	return t
}

// closeTranscript lets go of a transcript. Those made after it go on from its
// revision, so that a page that still holds it starts anew. The caller holds mu.
func (c *Chats) closeTranscript(id chat.ConversationID) {
	if t := c.transcripts[id]; t != nil {
		c.past = max(c.past, t.Revision())
		delete(c.transcripts, id)
	}
}

// known returns the transcript of a conversation, nil when there is none.
func (c *Chats) known(id chat.ConversationID) *transcript.Transcript {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.transcripts[id]
}

// callWords says what a call's tool and plugin are called.
func (c *Chats) callWords(r chat.CallRecord) transcript.Words {
	t, ok := c.core.Tools.Set().ByID(r.ToolID)
	if !ok {
		t = tool.Tool{Name: r.ToolName}
	}
	words := transcript.Words{Title: t.Human(), Doing: t.Doing(), Did: t.Did(), Plugin: r.Plugin}
	if r.Plugin != "" {
		if s, err := c.core.Host.Status(r.Plugin); err == nil {
			words.Plugin = s.Manifest.Name
		}
	}
	return words
}

func id(conversation string) chat.ConversationID { return chat.ConversationID(conversation) }

// maxAsked bounds how many rows or pieces of a chat one call returns.
const maxAsked = 200

// Pull returns what changed since a revision, 0 opens the conversation, and what the
// page wants beside that, at most 200 pieces.
func (c *Chats) Pull(conversation string, since uint64, wants []transcript.Want) (transcript.Pull, error) {
	ctx := c.call()
	return c.transcript(id(conversation)).Pull(ctx, since, wants[:min(len(wants), maxAsked)]...)
}

// Send saves a message and starts a turn; conversation "" makes one. It returns
// at once.
func (c *Chats) Send(conversation string, message Outgoing) (Sent, error) {
	ctx := c.call()
	if strings.TrimSpace(message.Text) == "" && len(message.Attachments) == 0 {
		return Sent{}, fault.New(fault.Invalid, "app.send", "There is nothing to send.", "Write a message first.")
	}
	attachments, err := c.attachments(ctx, message.Attachments)
	if err != nil {
		return Sent{}, err
	}
	if conversation == "" {
		name := message.Model
		if name == "" {
			if name, err = c.core.Models.Default(ctx); err != nil {
				return Sent{}, err
			}
		}
		if _, err := c.core.Models.Open(ctx, name); err != nil {
			return Sent{}, err // before there is a chat without an answer
		}
		made := chat.Conversation{Model: name, Demo: name == settings.DemoModel}
		if err := c.core.Keep.CreateConversation(ctx, &made); err != nil {
			return Sent{}, err
		}
		conversation = string(made.ID)
	}
	c.core.Keep.SaveDraft(id(conversation), "")
	asked := turn.Request{Text: message.Text, Attachments: attachments}
	return c.begin(ctx, id(conversation), asked, message.Model, message.NoTools)
}

func (c *Chats) attachments(ctx context.Context, ids []string) ([]chat.Part, error) {
	var parts []chat.Part
	for _, mediaID := range ids {
		data, err := c.core.Keep.Media(ctx, mediaID)
		if err != nil {
			return nil, err
		}
		media := c.described(mediaID, data)
		parts = append(parts, chat.Part{Kind: chat.PartMedia, Text: media.Name, Media: &media})
	}
	return parts, nil
}

// described returns the media of an attached file under the name it was attached
// with; after a restart, under none.
func (c *Chats) described(mediaID string, data []byte) chat.Media {
	c.mu.Lock()
	m, ok := c.attached[mediaID]
	c.mu.Unlock()
	if ok {
		return m
	}
	kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
	return chat.Media{ID: mediaID, MIME: kind, Name: "attachment", Size: int64(len(data))}
}

// begin starts a turn in a conversation that has none running.
func (c *Chats) begin(
	ctx context.Context, conversation chat.ConversationID, r turn.Request, model string, noTools bool,
) (Sent, error) {
	current, err := c.core.Keep.Conversation(ctx, conversation)
	if err != nil {
		return Sent{}, err
	}
	if model == "" {
		model = c.modelOf(ctx, current)
	}
	opened, err := c.core.Models.Open(ctx, model)
	if err != nil {
		return Sent{}, err
	}
	if current.Model == "" { // a chat keeps the model that answers it
		choose := func(v *chat.Conversation) { v.Model = opened.Info().Name() }
		if err := c.core.Keep.UpdateConversation(ctx, conversation, choose); err != nil {
			return Sent{}, err
		}
	}
	set, err := c.core.Settings.Settings(ctx)
	if err != nil {
		return Sent{}, err
	}
	r.ID, r.Conversation, r.Model, r.ChainLimit = uuid.Must(uuid.NewV7()).String(), conversation, opened, set.ChainLimit
	if !noTools {
		r.Tools = c.core.Tools.Set().ForModel()
	}
	run, err := c.running()
	if err != nil {
		return Sent{}, err
	}
	begun := make(chan chat.MessageSeq, 1)
	failed := make(chan error, 1)
	c.turns.Go(func() { // ends with the turn; Shutdown cancels it
		shown := shownTurn{c: c, r: r, model: opened.Info().Title, begun: begun}
		out, err := c.core.Conversations.Run(run, r, func(e turn.Event) { shown.hear(run, e) })
		if err != nil {
			failed <- err
		} else if set.ModelTitles && current.Head == 0 && out.Reason == chat.EndDone && out.Message != nil &&
			opened.Info().Connection != "demo" {
			c.name(turn.Naming{
				Conversation: conversation, Model: opened, Question: r.Text, Answer: chat.TextOf(out.Message.Parts),
			})
		}
	})
	select {
	case seq := <-begun:
		return Sent{Conversation: string(conversation), Turn: r.ID, Seq: uint64(seq)}, nil
	case err := <-failed:
		return Sent{}, err
	case <-ctx.Done():
		return Sent{}, context.Cause(ctx)
	}
}

// name has a chat named by its model after its first answer, while the person reads
// that. The title of its first words stays where that comes to nothing.
func (c *Chats) name(n turn.Naming) {
	c.mu.Lock()
	ctx, run := c.naming, c.run
	c.mu.Unlock()
	if run.Err() != nil {
		return
	}
	c.turns.Go(func() { // ends with the request, which has a deadline, or with Shutdown
		err := c.core.Turns.NameChat(ctx, n)
		if err != nil {
			c.log.Debug("A model made no title.", "conversation", n.Conversation, "model", n.Model.Info().Name(), "err", err)
		}
		if err := c.transcript(n.Conversation).Refresh(ctx); err != nil {
			return // the chat is gone
		}
		c.core.Bus.Changed(bus.Chats, "")
	})
}

// finished marks a chat unread whose answer ended when it was not looked at.
func (c *Chats) finished(conversation chat.ConversationID) {
	c.mu.Lock()
	if c.seen != conversation {
		c.unread[conversation] = true
	}
	c.mu.Unlock()
	c.core.Bus.Changed(bus.Chats, "")
	c.core.Bus.Changed(bus.Tools, "") // "last used"
}

// stopTime bounds how long Stop waits for what was said to be saved.
const stopTime = 5 * time.Second

// Stop stops what runs in the chat and keeps what was said. No turn is no error.
func (c *Chats) Stop(conversation string) error {
	ctx, cancel := context.WithTimeout(c.call(), stopTime) // then it goes on stopping; the window sees when it has
	defer cancel()
	c.core.Conversations.Stop(ctx, id(conversation), errStopped)
	return nil
}

// Regenerate answers again beside the answer seq; model "" is the chat's.
func (c *Chats) Regenerate(conversation string, seq uint64, model string) (Sent, error) {
	ctx := c.call()
	entry, err := c.entryOf(ctx, id(conversation), chat.MessageSeq(seq))
	if err != nil {
		return Sent{}, err
	}
	parent := entry.Parent
	if entry.Role == chat.RoleUser { // an unanswered question is answered
		parent = entry.Seq
	}
	return c.begin(ctx, id(conversation), turn.Request{Parent: &parent}, model, false)
}

func (c *Chats) entryOf(
	ctx context.Context, conversation chat.ConversationID, seq chat.MessageSeq,
) (transcript.Node, error) {
	o, err := c.core.Keep.Outline(ctx, conversation)
	if err != nil {
		return transcript.Node{}, err
	}
	n, ok := o.Node(seq)
	if !ok {
		return transcript.Node{}, fault.New(fault.NotFound, "app.chats", "That message is no longer there.", "")
	}
	return n, nil
}

// Edit changes a message. Without answerAgain its text changes and later messages
// stay; with it, a sibling is made and answered, which only the person's own
// messages can be.
func (c *Chats) Edit(conversation string, seq uint64, text string, answerAgain bool) (Sent, error) {
	ctx := c.call()
	if strings.TrimSpace(text) == "" {
		return Sent{}, fault.New(fault.Invalid, "app.edit", "A message cannot be empty.",
			"Delete the chat, or hide the message from the model.")
	}
	if answerAgain {
		return c.ask(ctx, id(conversation), chat.MessageSeq(seq), text)
	}
	entry, err := c.entry(ctx, id(conversation), chat.MessageSeq(seq))
	if err != nil {
		return Sent{}, err
	}
	if err := c.core.Conversations.Edit(ctx, id(conversation), entry.Messages, conv.Edit{Text: &text}); err != nil {
		return Sent{}, err
	}
	return Sent{Conversation: conversation, Seq: seq}, c.transcript(id(conversation)).Refresh(ctx, entry.Seq)
}

// ask makes a sibling of a question, with its attachments and another text, and has it
// answered.
func (c *Chats) ask(
	ctx context.Context, conversation chat.ConversationID, seq chat.MessageSeq, text string,
) (Sent, error) {
	if _, err := c.entryOf(ctx, conversation, seq); err != nil {
		return Sent{}, err
	}
	messages, err := c.core.Keep.Messages(ctx, conversation, []chat.MessageSeq{seq})
	if err != nil {
		return Sent{}, err
	}
	m := messages[0]
	if m.Role != chat.RoleUser {
		return Sent{}, fault.New(fault.Invalid, "app.edit", "Only your own messages can be answered again.", "")
	}
	media := slices.DeleteFunc(m.Parts, func(p chat.Part) bool { return p.Kind != chat.PartMedia })
	return c.begin(ctx, conversation, turn.Request{Parent: &m.Parent, Text: text, Attachments: media}, "", false)
}

// SwitchVersion shows the path through the sibling seq, to its newest leaf.
func (c *Chats) SwitchVersion(conversation string, seq uint64) error {
	ctx := c.call()
	o, err := c.core.Keep.Outline(ctx, id(conversation))
	if err != nil {
		return err
	}
	head := o.NewestLeaf(chat.MessageSeq(seq))
	err = c.core.Conversations.WhileIdle(ctx, id(conversation), func() error {
		return c.core.Keep.UpdateConversation(ctx, id(conversation), func(v *chat.Conversation) { v.Head = head })
	})
	if err != nil {
		return err
	}
	return c.transcript(id(conversation)).Refresh(ctx)
}

// SetHidden keeps an entry from the model, or gives it back.
func (c *Chats) SetHidden(conversation string, seq uint64, hidden bool) error {
	ctx := c.call()
	entry, err := c.entry(ctx, id(conversation), chat.MessageSeq(seq))
	if err != nil {
		return err
	}
	if err := c.core.Conversations.Edit(ctx, id(conversation), entry.Messages, conv.Edit{Hidden: &hidden}); err != nil {
		return err
	}
	return c.transcript(id(conversation)).Refresh(ctx, entry.Seq)
}

// entry returns the entry of the visible path that begins with a message.
func (c *Chats) entry(
	ctx context.Context, conversation chat.ConversationID, seq chat.MessageSeq,
) (transcript.Folded, error) {
	o, err := c.core.Keep.Outline(ctx, conversation)
	if err != nil {
		return transcript.Folded{}, err
	}
	for _, f := range o.Fold() {
		if f.Seq == seq {
			return f, nil
		}
	}
	return transcript.Folded{}, fault.New(fault.NotFound, "app.chats",
		"That message is not on the path that is shown.", "")
}

// entryMessages reads the messages that an entry is drawn of.
func (c *Chats) entryMessages(ctx context.Context, conversation string, seq uint64) ([]chat.Message, error) {
	entry, err := c.entry(ctx, id(conversation), chat.MessageSeq(seq))
	if err != nil {
		return nil, err
	}
	return c.core.Keep.Messages(ctx, id(conversation), entry.Messages)
}

// Source returns the Markdown of an entry's text, for copy, quote and edit.
func (c *Chats) Source(conversation string, seq uint64) (string, error) {
	ctx := c.call()
	messages, err := c.entryMessages(ctx, conversation, seq)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, m := range messages {
		if m.Role == chat.RoleTool {
			continue
		}
		if text := strings.TrimSpace(chat.TextOf(m.Parts)); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// Info returns the requests behind an answer, as they would be made again: no
// key is part of them.
func (c *Chats) Info(conversation string, seq uint64) (MessageInfo, error) {
	ctx := c.call()
	messages, err := c.entryMessages(ctx, conversation, seq)
	if err != nil {
		return MessageInfo{}, err
	}
	out := MessageInfo{Requests: []RequestInfo{}}
	var usage chat.Usage
	for _, m := range messages {
		if m.Role != chat.RoleAssistant {
			continue
		}
		request, err := c.core.Turns.RequestBefore(ctx, m)
		if err != nil {
			return MessageInfo{}, err
		}
		body, err := json.MarshalIndent(request, "", "  ")
		if err != nil {
			return MessageInfo{}, err
		}
		info := RequestInfo{
			Model: m.Model, Sent: stamp(m.Created), MS: m.Ended.Sub(m.Created).Milliseconds(), Body: string(body),
		}
		if m.Usage != nil {
			usage = usage.Add(*m.Usage)
			info.Usage = *transcript.UsageOf(*m.Usage)
		}
		out.Requests = append(out.Requests, info)
		out.MS = m.Ended.Sub(messages[0].Created).Milliseconds()
	}
	out.Usage = *transcript.UsageOf(usage)
	return out, nil
}

// Call returns everything about one tool call.
func (c *Chats) Call(_ string, call string) (CallDetail, error) {
	ctx := c.call()
	number, err := strconv.ParseUint(call, 10, 64)
	if err != nil {
		return CallDetail{}, fault.New(fault.NotFound, "app.call", "That call is not on record.", "")
	}
	r, err := c.core.Keep.Call(ctx, number)
	if err != nil {
		return CallDetail{}, err
	}
	return callDetail(r), nil
}

// Find returns the messages of the visible path that hold the words, at most
// 1,000.
func (c *Chats) Find(conversation, words string) ([]Find, error) {
	ctx := c.call()
	found := []Find{}
	words = strings.TrimSpace(words)
	if words == "" {
		return found, nil
	}
	o, err := c.core.Keep.Outline(ctx, id(conversation))
	if err != nil {
		return nil, err
	}
	messages, err := c.core.Keep.Holding(ctx, id(conversation), words)
	if err != nil {
		return nil, err
	}
	bySeq := make(map[chat.MessageSeq]chat.Message, len(messages))
	for _, m := range messages {
		bySeq[m.Seq] = m
	}
	for i, f := range o.Fold() {
		for _, seq := range f.Messages {
			m, held := bySeq[seq]
			if !held || m.Role == chat.RoleTool {
				continue
			}
			if e, ok := excerpt(chat.TextOf(m.Parts), words); ok {
				found = append(found, Find{Seq: uint64(f.Seq), Index: i, Excerpt: e})
				break
			}
		}
		if len(found) == 1000 {
			break
		}
	}
	return found, nil
}

// Place returns where the words stand first in an entry; its first block when they
// stand in none.
func (c *Chats) Place(conversation string, seq uint64, words string) (transcript.Spot, error) {
	ctx := c.call()
	return c.transcript(id(conversation)).Place(ctx, seq, strings.TrimSpace(words))
}

// Seen says that the conversation is being looked at: it is read, and opened at
// the next start. "" is none.
func (c *Chats) Seen(conversation string) error {
	ctx := c.call()
	c.mu.Lock()
	was := c.unread[id(conversation)]
	c.seen = id(conversation)
	delete(c.unread, c.seen)
	c.mu.Unlock()
	if was {
		c.core.Bus.Changed(bus.Chats, "")
	}
	_, err := c.core.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.OpenChat = conversation })
	return err
}

// update changes a conversation and tells the page.
func (c *Chats) update(ctx context.Context, conversation string, change func(*chat.Conversation)) error {
	if err := c.core.Keep.UpdateConversation(ctx, id(conversation), change); err != nil {
		return err
	}
	c.core.Bus.Changed(bus.Chats, "")
	return c.transcript(id(conversation)).Refresh(ctx)
}

// Rename gives the conversation a title.
func (c *Chats) Rename(conversation, title string) error {
	ctx := c.call()
	title, _ = tool.Strip(strings.Join(strings.Fields(title), " "))
	if title == "" {
		return fault.New(fault.Invalid, "app.rename", "A chat cannot have an empty title.", "")
	}
	return c.update(ctx, conversation, func(v *chat.Conversation) {
		v.Title, v.Named = string([]rune(title)[:min(200, len([]rune(title)))]), true
	})
}

// SetPinned pins the conversation or lets it go.
func (c *Chats) SetPinned(conversation string, pinned bool) error {
	ctx := c.call()
	return c.update(ctx, conversation, func(v *chat.Conversation) { v.Pinned = pinned })
}

// SetArchived puts the conversation into the archive or takes it out.
func (c *Chats) SetArchived(conversation string, archived bool) error {
	ctx := c.call()
	return c.update(ctx, conversation, func(v *chat.Conversation) { v.Archived = archived })
}

// SetModel chooses the conversation's model.
func (c *Chats) SetModel(conversation, model string) error {
	ctx := c.call()
	if model != "" {
		if _, err := c.core.Models.Open(ctx, model); err != nil {
			return err
		}
	}
	return c.update(ctx, conversation, func(v *chat.Conversation) {
		v.Model = model
		v.Demo = v.Demo && model == settings.DemoModel
	})
}

// SetSystem sets the conversation's system text.
func (c *Chats) SetSystem(conversation, text string) error {
	ctx := c.call()
	return c.update(ctx, conversation, func(v *chat.Conversation) { v.System = text })
}

// Delete deletes a conversation, with undo until the program quits. A running turn
// is stopped.
func (c *Chats) Delete(conversation string) (Undo, error) {
	ctx := c.call()
	v, err := c.core.Keep.Conversation(ctx, id(conversation))
	if err != nil {
		return Undo{}, err
	}
	title := v.Title
	if title == "" {
		title = "New chat"
	}
	back, err := c.delete(ctx, []chat.Conversation{v})
	if err != nil {
		return Undo{}, err
	}
	return c.undo.add("“"+title+"” was deleted.", back), nil
}

// DeleteDemo deletes every chat that talked to Demo guide only.
func (c *Chats) DeleteDemo() (Undo, error) {
	ctx := c.call()
	var demo []chat.Conversation
	for _, which := range []Which{InUse, Pinned, Archived} {
		rows, _, err := c.core.Keep.Conversations(ctx, which, 0, 0)
		if err != nil {
			return Undo{}, err
		}
		for _, v := range rows {
			if v.Demo {
				demo = append(demo, v)
			}
		}
	}
	back, err := c.delete(ctx, demo)
	if err != nil {
		return Undo{}, err
	}
	return c.undo.add(fmt.Sprintf("%d demo chats were deleted.", len(demo)), back), nil
}

func (c *Chats) delete(ctx context.Context, all []chat.Conversation) (func(context.Context) error, error) {
	var tokens []string
	for _, v := range all {
		token, err := c.core.Conversations.Delete(ctx, v.ID, errStopped)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
		c.mu.Lock()
		c.closeTranscript(v.ID)
		delete(c.unread, v.ID)
		c.mu.Unlock()
	}
	c.core.Bus.Changed(bus.Chats, "")
	return func(ctx context.Context) error {
		var errs []error
		for _, token := range tokens {
			errs = append(errs, c.core.Keep.Undelete(ctx, token))
		}
		c.core.Bus.Changed(bus.Chats, "")
		return errors.Join(errs...)
	}, nil
}

// keptDraft is a draft as it is stored with the conversation.
type keptDraft struct {
	Text        string             `json:"text"`
	Cursor      int                `json:"cursor"`
	Attachments []transcript.Media `json:"attachments,omitempty"`
	Queued      []Queued           `json:"queued,omitempty"`
}

// Draft returns the half-written message; conversation "" is the welcome page's.
func (c *Chats) Draft(conversation string) (Draft, error) {
	ctx := c.call()
	raw := ""
	if conversation == "" {
		s, err := c.core.Settings.Settings(ctx)
		if err != nil {
			return Draft{}, err
		}
		raw = s.Draft
	} else {
		v, err := c.core.Keep.Conversation(ctx, id(conversation))
		if err != nil {
			return Draft{}, err
		}
		raw = v.Draft
	}
	var kept keptDraft
	if raw != "" && json.Unmarshal([]byte(raw), &kept) != nil {
		kept = keptDraft{Text: raw, Cursor: len(raw)}
	}
	for i := range kept.Queued {
		kept.Queued[i].Attachments = list(kept.Queued[i].Attachments)
	}
	return Draft{kept.Text, kept.Cursor, list(kept.Attachments), list(kept.Queued)}, nil
}

// SaveDraft keeps the half-written message; it waits for no disk.
func (c *Chats) SaveDraft(conversation string, draft Draft) error {
	ctx := c.call()
	raw := ""
	if draft.Text != "" || len(draft.Attachments) > 0 || len(draft.Queued) > 0 {
		text, err := json.Marshal(keptDraft(draft))
		if err != nil {
			return err
		}
		raw = string(text)
	}
	if conversation == "" {
		_, err := c.core.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.Draft = raw })
		return err
	}
	c.core.Keep.SaveDraft(id(conversation), raw)
	return nil
}

// Attach keeps a file; data is its bytes in base64.
func (c *Chats) Attach(name, mimeType, data string) (transcript.Media, error) {
	ctx := c.call()
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return transcript.Media{}, fault.Wrap(fault.Invalid, "app.attach", "The file "+name+" could not be read.",
			"Try again.", err)
	}
	if int64(len(raw)) > limit.Attachment.Value {
		return transcript.Media{}, fault.New(fault.Invalid, "app.attach",
			fmt.Sprintf("The file %s has more than %s, the most that is taken.", name, limit.Attachment),
			"Choose a smaller file, or a part of it.")
	}
	if len(raw) == 0 {
		return transcript.Media{}, fault.New(fault.Invalid, "app.attach", "The file "+name+" is empty.",
			"Choose another file.")
	}
	kind, _, _ := strings.Cut(mimeType, ";")
	sniffed, _, _ := strings.Cut(http.DetectContentType(raw), ";")
	if kind == "" || strings.HasPrefix(kind, "image/") && !strings.HasPrefix(sniffed, "image/") {
		kind = sniffed
	}
	if strings.HasPrefix(kind, "text/") && bytes.IndexByte(raw, 0) >= 0 {
		kind = "application/octet-stream"
	}
	m := chat.Media{MIME: kind, Name: name, Data: raw}
	if err := c.core.Keep.PutMedia(ctx, &m); err != nil {
		return transcript.Media{}, err
	}
	m.Data = nil
	c.mu.Lock()
	c.attached[m.ID] = m
	c.mu.Unlock()
	return *transcript.MediaOf(m), nil
}
