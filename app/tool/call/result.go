package call

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// Bounds of a tool's result (contracts/llm-functions, sections 7 and 9): a model gets 64 KiB, the record
// holds 4 MiB. Media parts of one result are bounded in number so that one call cannot fill a disk.
const (
	maxResult    = 64 << 10
	maxRecorded  = 4 << 20
	maxTraceback = 8 << 10
	maxMeta      = 64 << 10 // of _meta; a longer one is left out
	maxMedia     = 20
	maxNames     = 50 // tools named when one is not known
)

// The first words of a result that is no answer (contracts/llm-functions, section 8.5).
const (
	errorPrefix     = "Error: "
	cancelledPrefix = "Cancelled: "
)

// shape returns the result as the model gets it, and writes all of it into the record. Only the record
// holds hidden characters. Media were stored before.
func (c *Call) shape(r tool.Result) chat.ToolResult {
	record := &c.Record
	record.Status, record.ErrorType = r.Status, r.ErrorType
	record.Links = r.Links
	record.Traceback, record.Printed = tailOf(r.Traceback, maxTraceback), tailOf(r.Printed, maxTraceback)
	if len(r.Meta) <= maxMeta && json.Valid(r.Meta) {
		record.Meta = r.Meta
	}
	result := chat.ToolResult{CallID: record.RequestID, Tool: record.ToolName, Status: r.Status, Content: []chat.Part{}}
	if r.Status == chat.CallPaused {
		return result
	}
	if r.Status != chat.CallOK {
		result.IsError = true
		full := strings.ToValidUTF8(errorText(record.ToolName, r), "\uFFFD")
		record.Error = cutText(full, maxRecorded)
		shown, _ := tool.Strip(full)
		result.Content = []chat.Part{chat.TextPart(cutText(shown, maxResult))}
		return result
	}
	for _, part := range r.Content {
		if part.Kind == chat.PartMedia {
			record.Attachments = append(record.Attachments, *part.Media)
			result.Content = append(result.Content, part)
			continue
		}
		shown, _ := tool.Strip(part.Text)
		result.Content = append(result.Content, chat.TextPart(shown))
	}
	result.Content = cutParts(result.Content)
	full, given := chat.TextOf(r.Content), result.Text()
	if len(r.Value) > 0 && len(r.Value) <= maxRecorded && json.Valid(r.Value) {
		record.Result, record.ResultText = r.Value, cutText(full, maxRecorded)
		return result
	}
	record.Result = quoted(cutText(full, maxRecorded))
	if given != full {
		record.ResultText = given
	}
	return result
}

// errorText returns the sentence about a failed call, for the model.
func errorText(name string, r tool.Result) string {
	message := strings.TrimSpace(r.Error)
	if strings.HasPrefix(message, errorPrefix) || strings.HasPrefix(message, cancelledPrefix) {
		return message
	}
	switch r.Status {
	case chat.CallCancelled, chat.CallRefused:
		return cancelledPrefix + cmp.Or(message, "the call was cancelled")
	case chat.CallTimeout:
		message = cmp.Or(message, name+" took too long and was stopped")
	case chat.CallDied:
		message = cmp.Or(message, "the tool process ended")
	case chat.CallBadArguments:
		if !strings.HasPrefix(message, "arguments do not fit") {
			message = strings.TrimSpace("arguments do not fit " + name + ":\n" + message)
		}
	case chat.CallRaised:
		if r.ErrorType != "" && !strings.HasPrefix(message, r.ErrorType) {
			message = strings.TrimSuffix(r.ErrorType+": "+message, ": ")
		}
	}
	return errorPrefix + cmp.Or(message, "the tool failed")
}

// unknownTool names the tools there are, the closest three first.
func unknownTool(name string, tools *tool.Set) string {
	said := fmt.Sprintf("no tool named %q.", name)
	if tools == nil || tools.Len() == 0 {
		return said + " There are no tools."
	}
	var names []string
	for _, t := range tools.Tools() {
		names = append(names, t.WireName)
	}
	near := slices.Clone(names)
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(name, a), distance(name, b)) })
	near = near[:min(3, len(near))]
	for _, n := range names {
		if !slices.Contains(near, n) {
			near = append(near, n)
		}
	}
	more := ""
	if n := len(near); n > maxNames {
		near, more = near[:maxNames], fmt.Sprintf(" and %d more", n-maxNames)
	}
	return said + " Tools: " + strings.Join(near, ", ") + more
}

// distance counts the letters to change, add or drop between a and b, without
// regard to case.
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	x, y = x[:min(len(x), 64)], y[:min(len(y), 64)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(y)]
}

// notObject returns an error about argument text that is no JSON object: where it stops being one, and
// how it begins (contracts/llm-functions, section 6.1).
func notObject(raw string) error {
	_, err := tool.Check(json.RawMessage(`{}`), json.RawMessage(raw))
	if err == nil {
		err = errors.New("expected a JSON object")
	}
	shown := []rune(strings.ToValidUTF8(raw, "\uFFFD"))
	if len(shown) > 200 {
		return fmt.Errorf("%w\nThey began: %s…", err, string(shown[:200]))
	}
	return fmt.Errorf("%w\nThey were: %s", err, string(shown))
}

func quoted(s string) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimSpace(b.Bytes())
}

// cutText cuts the middle of a text that is over limit bytes, and puts a line in its place with the
// number of missing bytes.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	head, start := limit*2/3, len(text)-limit/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return text[:head] + fmt.Sprintf("\n[… %d bytes left out …]\n", start-head) + text[start:]
}

// tailOf returns the last limit bytes of a text, from the start of a character.
func tailOf(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	start := len(text) - limit
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return text[start:]
}

// cutParts cuts the text parts of a result to what a model gets of all of them together.
func cutParts(parts []chat.Part) []chat.Part {
	total := 0
	for _, p := range parts {
		if p.Kind == chat.PartText {
			total += len(p.Text)
		}
	}
	if total <= maxResult {
		return parts
	}
	out := []chat.Part{chat.TextPart(cutText(chat.TextOf(parts), maxResult))}
	for _, p := range parts {
		if p.Kind != chat.PartText {
			out = append(out, p)
		}
	}
	return out
}

// storeMedia stores the bytes of media parts; one that cannot be stored becomes a
// sentence.
func storeMedia(ctx context.Context, log Log, parts []chat.Part) []chat.Part {
	out := make([]chat.Part, 0, len(parts))
	media := 0
	for _, p := range parts {
		if p.Kind != chat.PartMedia || p.Media == nil {
			p.Text = strings.ToValidUTF8(p.Text, "\uFFFD")
			out = append(out, p)
			continue
		}
		if media++; media > maxMedia {
			out = append(out, chat.TextPart(fmt.Sprintf("[more than %d attachments: %s left out]", maxMedia, p.Media.MIME)))
			continue
		}
		stored := *p.Media
		if err := log.PutMedia(ctx, &stored); err != nil {
			out = append(out,
				chat.TextPart("[an attachment of type "+p.Media.MIME+" could not be stored: "+fault.Of(err).Message+"]"))
			continue
		}
		stored.Data = nil
		out = append(out, chat.Part{Kind: chat.PartMedia, Text: p.Text, Media: &stored})
	}
	return out
}

// brought returns the origins of the result, now that it is known whether the plugin got untrusted text
// and to which hosts it sent.
func (c *Call) brought(outside bool) []chat.Origin {
	all, returned := c.Record.Brought, c.allowed.Returned
	switch {
	case returned == (chat.Origin{}):
		return all
	case len(all) > 0 && !slices.Contains(all, returned): // its arguments name hosts
		named, reached := all, false
		for _, to := range c.Record.Sent {
			host := chat.NewOrigin(chat.FromWeb, to.Host)
			reached = reached || slices.Contains(named, host)
			all = chat.AddOrigins(all, host)
		}
		outside = outside || !reached
	}
	if outside {
		all = chat.AddOrigins(all, returned)
	}
	return all
}

// Finish shapes the result for the model and records it, even when ctx has ended.
func (c *Call) Finish(ctx context.Context, r tool.Result) {
	save, cancel := SaveContext(ctx)
	defer cancel()
	r.Content = storeMedia(save, c.log, r.Content)
	c.EndTurn, c.Handled = r.EndTurn && r.Status == chat.CallOK, r.Handled
	for _, note := range r.Notes {
		c.emit(chat.Event{Kind: chat.EventNoted, Note: note, Kept: true})
	}
	c.Result = c.shape(r)
	if c.turn.Failures != nil {
		c.turn.Failures.count(c)
	}
	if r.Status != chat.CallPaused {
		c.Record.Ended = c.runner.o.Now().UTC()
		if !c.Record.Started.IsZero() {
			c.Record.MS = float64(c.Record.Ended.Sub(c.Record.Started).Microseconds()) / 1000
		}
	}
	if c.Record.Brought = chat.AddOrigins(c.brought(r.Outside), r.Shared...); len(c.Record.Brought) == 0 {
		c.Record.Brought = r.Kept
	}
	if r.Status == chat.CallOK && onlyConfirms(r.Content) {
		c.Record.Brought = nil
	}
	c.Record.Brought = chat.AddOrigins(c.Record.Brought, hook.Origins(c.hooks)...)
	c.Record.Hooks = c.runner.o.Points.Steps(save, c.hooks)
	if err := c.log.PutCall(save, &c.Record); err != nil {
		c.runner.o.Slog.Error("the end of a call could not be recorded", "tool", c.Record.ToolID, "err", err)
	}
	result := c.Result
	c.emit(chat.Event{Kind: chat.EventAnswered, Result: &result})
}
