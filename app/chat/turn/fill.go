package turn

import (
	"context"
	"fmt"
	"sync"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/document"
	"conclave/app/model"
	"conclave/app/tool"
)

// Fill has the parts of the next request to a model, by the count with which a turn decides what it sends.
// Its numbers of tokens are estimates.
type Fill struct {
	Window  int64 // how many tokens the model reads; 0 is not known
	Answer  int64 // left free for the answer
	System  int64
	Tools   int64 // definitions, and what plugins say about using them
	Council int64 // left free for the notes of the council
	Summary int64
	Turns   int64 // the messages that are sent
	Draft   int64 // the message that is being written, with its files

	Summed *chat.Summary   // stands for the beginning of the chat; nil is none
	From   chat.MessageSeq // the first message that is sent as it is; 0 if nothing is before it
	// Left counts the questions and answers that no longer fit: they are neither sent nor in the summary.
	Left     int
	LeftUpto chat.MessageSeq // the last message of these
}

// Used returns how many tokens the request takes.
func (f Fill) Used() int64 {
	return f.System + f.Tools + f.Council + f.Summary + f.Turns + f.Draft
}

// room returns how many tokens are left for messages.
func (f Fill) room() int64 {
	return max(f.Window-f.Answer-f.System-f.Tools-f.Council-f.Summary, 0)
}

const (
	// answerShare of a context, at most maxAnswer tokens, is left free for the answer, unless the chat bounds its
	// answers: then as much, up to half of the context.
	answerShare = 8
	maxAnswer   = 8_000
	// messageTokens is taken for what a vendor writes around a message.
	messageTokens = 4
	// dropShare of the room is how much a chat that has become too long is shortened by at once: the requests of the
	// next turns then begin alike, and what a vendor has cached of them is still good.
	dropShare = 8
)

// sumUpWords stand before a summary in a request.
const sumUpWords = "The chat began earlier. Its first messages are not repeated here; this is a summary of them:\n\n"

// extent works out for a turn how much of its chat is sent.
type extent struct{ *run }

// beginning is where a request begins in the path of its turn.
type beginning struct {
	known  bool
	from   int           // the first message that is sent
	summed *chat.Summary // sent for those before it; nil is none
}

// of returns the part of a path that is sent.
func (b beginning) of(path []chat.Message) []chat.Message { return path[min(b.from, len(path)):] }

// weighed is a message of a path, with the tokens that it takes in a request.
type weighed struct {
	seq    chat.MessageSeq
	role   chat.Role
	hidden bool
	tokens int64
}

// fill measures what a request of the chat holds but for messages, given the tools that it defines. It returns the
// first message of the path that no summary stands for.
func (t extent) fill(path []chat.Message, tools []model.ToolDefinition) (f Fill, from int) {
	f.System, f.Council = model.Tokens(t.system), t.req.Reserve
	f.Tools = model.Tokens(guided(t.system, t.req.Tools)) - f.System
	for _, d := range tools {
		f.Tools += int64(tool.Tool{WireName: d.Name, Description: d.Description, Parameters: d.Parameters}.Tokens())
	}
	reminded := model.Request{Tools: tools}
	toolSearch{t.req.Tools, path}.remind(&reminded)
	for _, m := range reminded.Messages {
		f.Tools += model.PartTokens(m.Parts)
	}
	if f.Summed, from = t.names.chat.SummaryOf(path); f.Summed != nil {
		f.Summary = model.Tokens(sumUpWords + f.Summed.Text)
	}
	return f, from
}

// with returns the measure with the messages of a path from one on, for a model with such a window and answers of at
// most that many tokens (0 is not set), and the first message that fits.
func (f Fill) with(path []weighed, from int, window, longest int64) (Fill, int) {
	f.Window, f.Answer = window, min(window/answerShare, maxAnswer)
	if longest > 0 {
		f.Answer = min(longest, window/2)
	}
	for _, m := range path[from:] {
		f.Turns += m.tokens
	}
	if room := f.room(); f.Window > 0 && f.Turns > room {
		step := max(room/dropShare, 1)
		from = f.drop(path, from, (f.Turns-room+step-1)/step*step)
	}
	if from > 0 && from < len(path) {
		f.From = path[from].seq
	}
	return f, from
}

// drop leaves out the oldest questions with all that answers them, so that over tokens are saved, but never the
// newest. It returns the first message that is sent.
func (f *Fill) drop(path []weighed, from int, over int64) int {
	for over > 0 {
		next := from + 1
		for next < len(path) && path[next].role != chat.RoleUser {
			next++
		}
		if next >= len(path) {
			return from
		}
		answered := false
		for _, m := range path[from:next] {
			over, f.Turns = over-m.tokens, f.Turns-m.tokens
			switch {
			case m.hidden:
			case m.role == chat.RoleUser:
				f.Left++
			case !answered:
				f.Left, answered = f.Left+1, true
			}
		}
		f.LeftUpto, from = path[next-1].seq, next
	}
	return from
}

// weigh estimates the tokens of each message of a path as it is sent in a turn.
func (h *history) weigh(ctx context.Context, turn string, path []chat.Message) []weighed {
	h.files.begin(ctx, turn, path)
	out := make([]weighed, len(path))
	for i, m := range path {
		out[i] = weighed{seq: m.Seq, role: m.Role, hidden: m.Hidden}
		var parts []chat.Part
		switch {
		case m.Hidden || m.Role == chat.RoleSystem:
			continue
		case m.Role == chat.RoleAssistant:
			parts = h.answer(ctx, m)
		case m.Role == chat.RoleUser:
			parts = h.content(ctx, m.Turn, m.Parts)
		default:
			for _, p := range m.Parts {
				if p.Result != nil {
					parts = append(parts, h.content(ctx, m.Turn, p.Result.Content)...)
				}
			}
		}
		out[i].tokens = model.PartTokens(parts) + messageTokens
	}
	return out
}

// place decides, once in a turn, from which message on the chat is sent, and says so if it is shortened.
func (t extent) place(ctx context.Context) {
	if t.begins.known {
		return
	}
	t.begins.known = true
	summed, from := t.names.chat.SummaryOf(t.path)
	if t.begins.summed = summed; t.window() <= 0 || fitsAnyway(guided(t.system, t.req.Tools), t.path[from:], t.window()) {
		t.begins.from = from
		return
	}
	var f Fill
	f, t.begins.from = t.fitting(ctx)
	if f.Left == 0 {
		return
	}
	text := fmt.Sprintf("%s of this chat %s not sent: %s reads about %d tokens.",
		limit.Counted(f.Left, "older message"), wasOrWere(f.Left), t.model, f.Window)
	if !t.history.files.saved[noteOf(text).Text] {
		t.note(text)
	}
}

func wasOrWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// fitsAnyway reports whether a system text and messages without files fill less than half of a context even if each of
// their characters is a token. It does not look at the characters of a long chat.
func fitsAnyway(system string, path []chat.Message, window int64) bool {
	r := model.Request{System: system, Messages: make([]model.Message, 0, len(path))}
	for i := range path {
		for j := range path[i].Parts {
			if path[i].Parts[j].Media != nil {
				return false
			}
		}
		r.Messages = append(r.Messages, model.Message{Parts: path[i].Parts})
	}
	bytes, texts := model.TextBytes(r)
	return bytes/3+texts*messageTokens < window/2 // characters that are a token each have three bytes
}

// withSummary puts the summary of what is not sent before the messages.
func withSummary(messages []model.Message, s *chat.Summary) []model.Message {
	if s == nil {
		return messages
	}
	part := chat.TextPart(sumUpWords + s.Text)
	if len(messages) > 0 && messages[0].Role == chat.RoleUser {
		messages[0].Parts = append([]chat.Part{part}, messages[0].Parts...)
		return messages
	}
	return append([]model.Message{{Role: chat.RoleUser, Parts: []chat.Part{part}}}, messages...)
}

// window returns how many tokens the model reads: what is known of it, or less where it refused a request as too long.
func (t extent) window() int64 {
	known := t.req.Model.Info().Context
	if learnt, ok := t.windows.Load(t.model); ok {
		if n, ok := learnt.(int64); ok && (known <= 0 || n < known) {
			return n
		}
	}
	return known
}

// shorter takes in that a model refused a request as too long, and reports whether it can be repeated with less of the
// chat.
func (t extent) shorter(ctx context.Context) bool {
	if len(t.begins.of(t.path)) == 0 {
		return false
	}
	f, _ := t.fitting(ctx)
	most := f.Used() + f.Answer
	for range 4 { // until a question fewer fits
		most = most * 3 / 4
		t.windows.Store(t.model, most)
		if _, from := t.fitting(ctx); from > t.begins.from {
			t.begins.known, t.hooked = false, nil
			return true
		}
	}
	t.windows.Delete(t.model)
	return false
}

// fitting measures what of the path fits the model, and returns the first message that does.
func (t extent) fitting(ctx context.Context) (Fill, int) {
	f, from := t.fill(t.path, toolSearch{t.req.Tools, t.path}.definitions())
	return f.with(t.history.weigh(ctx, t.turn, t.path), from, t.window(), t.asking.MaxTokens)
}

// FillRequest asks what the next request of a chat would hold.
type FillRequest struct {
	Conversation chat.ConversationID // "" is a chat that is not begun
	Model        model.Model
	Tools        *tool.Set // nil is none
	Reserve      int64     // as in Request
	// Begins has the system text and the settings of the model of a chat that is not begun.
	Begins chat.Conversation
}

// Ahead measures the next request of a chat as the chat is now, again and again while a message is written. Use
// Runner.Ahead. It is safe for concurrent use.
type Ahead struct {
	mu   sync.Mutex // guards turn, which reads files
	turn *run
	fill Fill // but for messages
	path []weighed
	from int
}

// Ahead reads a chat. It writes nothing. The kind is not_found for an unknown conversation.
func (r *Runner) Ahead(ctx context.Context, req FillRequest) (*Ahead, error) {
	t, err := r.ahead(ctx, req)
	if err != nil {
		return nil, err
	}
	a := &Ahead{turn: t, path: t.history.weigh(ctx, t.turn, t.path)}
	a.fill, a.from = extent{t}.fill(t.path, toolSearch{t.req.Tools, t.path}.definitions())
	t.path, t.history.files.shown = nil, map[fileKey]document.Content{} // only their sizes are needed from here on
	return a, nil
}

// Fill returns what the next request holds with a message that is being written.
func (a *Ahead) Fill(ctx context.Context, text string, attachments []chat.Part) Fill {
	a.mu.Lock()
	defer a.mu.Unlock()
	draft := chat.Message{Role: chat.RoleUser, Turn: a.turn.turn, Parts: attachments}
	if text != "" {
		draft.Parts = append([]chat.Part{chat.TextPart(text)}, attachments...)
	}
	written := a.turn.history.weigh(ctx, a.turn.turn, []chat.Message{draft})
	if len(draft.Parts) == 0 {
		written[0].tokens = 0
	}
	path := append(a.path[:len(a.path):len(a.path)], written...)
	f, _ := a.fill.with(path, a.from, extent{a.turn}.window(), a.turn.asking.MaxTokens)
	f.Draft = written[0].tokens
	f.Turns -= f.Draft
	return f
}

// ahead returns a turn that does not run, with its path and tools.
func (r *Runner) ahead(ctx context.Context, req FillRequest) (*run, error) {
	t := r.newRun(Request{
		Conversation: req.Conversation, Model: req.Model, Tools: req.Tools, Reserve: req.Reserve,
	}, nil)
	t.history.files.note = func(string) {}
	if !t.can.Tools {
		t.offerNoTools()
	}
	conversation := req.Begins
	if req.Conversation != "" {
		var err error
		if conversation, err = t.log.Conversation(ctx, req.Conversation); err != nil {
			return nil, err
		}
		if t.path, err = t.log.Path(ctx, req.Conversation); err != nil {
			return nil, err
		}
		t.names = chatNames{t.log, conversation}
	}
	t.system, t.asking = conversation.System, conversation.Asking
	t.req.Tools = t.makeRoom(ctx, t.req.Tools)
	return t, nil
}
