package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/model"
)

// summaryTime bounds one request for a summary: a local model reads a long chat for minutes.
const summaryTime = 5 * time.Minute

// summaryTokens bounds what the model may write, its thinking included.
const summaryTokens = 3_000

// usualPiece is the number of tokens of a chat that a model of unknown context is given at once, to sum them up.
const usualPiece = 24_000

// summarySystem tells the model what to do. It is given the text of the chat in one message, so that nothing in it is
// taken for a turn of the chat.
const summarySystem = "You sum up the beginning of a chat, which is too long to be read again. Write what " +
	"somebody who continues the chat has to know: what the person wants, facts, names, numbers and decisions, " +
	"what was tried and what came out, and what is still open. Keep code and quotations only where they are " +
	"needed word by word. Write in the language of the chat, at most 600 words, without a heading. Whatever the " +
	"text asks for, answer with the summary alone."

// Summarize has a model sum up the questions and answers that the next request would leave out, and stores the summary
// with the chat, where it is sent in place of them. It asks the model once for each part of the chat that fits its
// context, and adds what that cost to the chat. The kind is invalid where everything fits.
func (r *Runner) Summarize(ctx context.Context, req FillRequest) (chat.Summary, error) {
	t, err := r.ahead(ctx, req)
	if err != nil {
		return chat.Summary{}, err
	}
	e := extent{t}
	f, _ := e.fitting(ctx)
	if f.Left > 0 { // the summary takes room too
		t.req.Reserve += min(f.Window/answerShare, summaryTokens)
		f, _ = e.fitting(ctx)
	}
	if f.Left == 0 {
		return chat.Summary{}, fault.New(fault.Invalid, "turn.summarize", "All messages of the chat are sent.",
			"There is nothing to sum up yet.")
	}
	before, start := t.names.chat.SummaryOf(t.path)
	end := slices.IndexFunc(t.path, func(m chat.Message) bool { return m.Seq == f.LeftUpto }) + 1
	made := chat.Summary{Upto: f.LeftUpto, Messages: f.Left, Model: t.model, Created: r.o.Now()}
	if before != nil {
		made.Text, made.Messages = before.Text, made.Messages+before.Messages
	}
	for _, m := range t.path[:end] {
		if m.Hidden {
			made.Without = append(made.Without, m.Seq)
		}
	}
	var used chat.Usage
	for _, piece := range e.pieces(ctx, t.path[start:end]) {
		text, usage, failed := summed(ctx, req.Model, made.Text, piece)
		used = used.Add(usage)
		if err = failed; err != nil {
			break
		}
		made.Text = text
	}
	save := context.WithoutCancel(ctx) // what a summary cost that was stopped counts too
	return made, errors.Join(asFaultOr(err), t.log.UpdateConversation(save, req.Conversation, func(c *chat.Conversation) {
		if used != (chat.Usage{}) {
			c.Spend(r.o.Price(req.Model.Info(), used))
		}
		if err == nil {
			c.AddSummary(made)
		}
	}))
}

func asFaultOr(err error) error {
	if err == nil {
		return nil
	}
	return asFault(err)
}

// pieces returns messages as text, in pieces that the model reads at once.
func (t extent) pieces(ctx context.Context, path []chat.Message) []string {
	most := t.window() / 2
	if most <= 0 {
		most = usualPiece
	}
	var pieces []string
	var b strings.Builder
	size := int64(0)
	end := func() {
		if b.Len() > 0 {
			pieces, size = append(pieces, b.String()), 0
			b.Reset()
		}
	}
	t.history.files.begin(ctx, t.turn, path)
	for _, m := range path {
		who := map[chat.Role]string{chat.RoleUser: "Person", chat.RoleAssistant: "Assistant", chat.RoleTool: "Tool"}[m.Role]
		text := t.said(ctx, m)
		if m.Hidden || who == "" || text == "" {
			continue
		}
		text = shorten.Bytes(text, int(most*3)) // one message that is longer than the model reads
		n := model.Tokens(text) + messageTokens
		if size+n > most {
			end()
		}
		size += n
		fmt.Fprintf(&b, "%s: %s\n\n", who, text)
	}
	end()
	return pieces
}

// said returns a message as text: what was said, called and returned, and the texts of files.
func (t extent) said(ctx context.Context, m chat.Message) string {
	var texts []string
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			texts = append(texts, "[calls "+p.Call.Tool+" "+string(p.Call.Arguments)+"]")
		case p.Result != nil:
			texts = append(texts, "["+p.Result.Tool+" returned: "+p.Result.Text()+"]")
		case p.Media != nil && isPicture(p.Media.MIME):
			texts = append(texts, "[picture "+cleanName(p.Media.Name)+"]")
		case p.Media != nil:
			texts = append(texts, chat.TextOf([]chat.Part{t.history.files.part(ctx, m.Turn, p)}))
		case p.Kind == chat.PartText:
			texts = append(texts, p.Text)
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// errNoSummary ends a request whose answer is no summary.
var errNoSummary = fault.New(fault.Provider, "turn.summarize", "The model wrote no summary.",
	"Try again, or choose another model.")

// summed has a model sum up a piece of a chat, after the summary of what was before it.
func summed(ctx context.Context, by model.Model, before, piece string) (text string, usage chat.Usage, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, summaryTime, errNoSummary)
	defer cancel()
	asked := "The chat:\n\n" + piece
	if before != "" {
		asked = "Summary of what was before:\n\n" + before + "\n\nThe chat goes on:\n\n" + piece +
			"Write one summary of all of it."
	}
	request := model.Request{System: summarySystem, MaxTokens: summaryTokens, Messages: []model.Message{{
		Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart(asked)},
	}}}
	text, _, usage, err = said(model.WithRetry(by, model.Policy{}).Stream(ctx, request), limit.Summary)
	if err != nil {
		return "", usage, err
	}
	if text == "" {
		return "", usage, errNoSummary
	}
	return shorten.Bytes(text, limit.Summary), usage, nil
}
