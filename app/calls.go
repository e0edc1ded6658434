package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/app/chat"
	"conclave/app/tool"
)

// callState is the state word of a tool card.
func callState(r chat.CallRecord) string {
	switch r.Status {
	case chat.CallOK:
		return "done"
	case chat.CallAsked:
		return "proposed"
	case chat.CallRunning, chat.CallPaused:
		return "running"
	case chat.CallRefused:
		if r.Expired {
			return "expired"
		}
		return "refused"
	case chat.CallCancelled, chat.CallLimit:
		return "stopped"
	}
	return "failed"
}

// byPerson reports whether the person decided. Records of before that was kept tell
// it by their words.
func byPerson(r chat.CallRecord) bool {
	return r.Decider == "person" || r.Decider == "" && strings.HasPrefix(r.DecidedBy, "you ")
}

// callView is one line of a tool card.
func (c *Chats) callView(r chat.CallRecord) *CallView {
	v := &CallView{
		Tool: r.ToolID, State: callState(r), Summary: summary(r), Started: stamp(r.Started),
		MS: int64(r.MS), Decision: sentence(r.DecidedBy), ByPerson: byPerson(r),
	}
	if r.ID != 0 {
		v.ID = strconv.FormatUint(r.ID, 10)
	}
	if v.Tool == "" {
		v.Tool = r.ToolName
	}
	t, ok := c.core.Tools.Set().ByID(r.ToolID)
	if !ok {
		t = tool.Tool{Name: r.ToolName}
	}
	v.Title, v.Doing, v.Did = t.Human(), t.Doing(), t.Did()
	if r.Plugin != "" {
		v.Plugin = r.Plugin
		if s, err := c.core.Host.Status(r.Plugin); err == nil {
			v.Plugin = s.Manifest.Name
		}
	}
	if v.State == "failed" {
		v.Problem, _, _ = strings.Cut(strings.TrimPrefix(r.Error, "Error: "), "\n")
	}
	return v
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(first)) + s[size:]
}

// maxSummary is the length of a card's line of arguments, in characters.
const maxSummary = 120

// summary shows the arguments for a person: “text: a b c, times: 2”, in the order
// the model wrote them.
func summary(r chat.CallRecord) string {
	if r.RawArguments != "" {
		return shorten(clean(r.RawArguments), maxSummary)
	}
	d := json.NewDecoder(bytes.NewReader(r.Arguments))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return ""
	}
	var parts []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		shown := string(value)
		var text string
		if json.Unmarshal(value, &text) == nil {
			shown = text
		}
		parts = append(parts, fmt.Sprintf("%v: %s", name, shown))
	}
	return shorten(clean(strings.Join(parts, ", ")), maxSummary)
}

func clean(s string) string {
	s, _ = tool.Strip(s)
	return strings.Join(strings.Fields(s), " ")
}

func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// maxShown is how many bytes of one text a card shows.
const maxShown = 200_000

// callDetail is everything about one call, cleaned for a person.
func callDetail(r chat.CallRecord) CallDetail {
	d := CallDetail{
		ID: strconv.FormatUint(r.ID, 10), Arguments: indented(r.Arguments), RawArguments: r.RawArguments, Media: []MediaView{},
		ErrorType: r.ErrorType, Started: stamp(r.Started), Ended: stamp(r.Ended), MS: int64(r.MS), Caller: r.Caller, Digest: r.Digest, Why: []string{},
	}
	text := r.ResultText
	var typed string
	if json.Unmarshal(r.Result, &typed) == nil {
		if len(typed) > len(text) {
			text = typed
		}
	} else {
		d.ResultJSON = indented(r.Result)
	}
	if len(text) > maxShown {
		d.ResultCut = utf8.RuneCountInString(text[maxShown:])
		text = strings.ToValidUTF8(text[:maxShown], "")
	}
	d.Result, d.HiddenRemoved = tool.Strip(text)
	if d.HiddenRemoved > 0 {
		d.ResultMarked = marked(text)
	}
	d.Error, _ = tool.Strip(r.Error)
	d.Traceback, _ = tool.Strip(r.Traceback)
	d.Printed, _ = tool.Strip(r.Printed)
	for _, m := range r.Attachments {
		d.Media = append(d.Media, *mediaView(m))
	}
	if r.Decision != "" {
		d.Why = append(d.Why, sentence(r.Decision)+": "+r.DecidedBy)
	}
	d.Why = append(d.Why, "Called by "+r.Caller+", "+r.Timestamp.Local().Format("2006-01-02 15:04:05"))
	return d
}

// marked makes the characters that Strip removes visible, as ‹U+200B›.
func marked(text string) string {
	var b strings.Builder
	for _, r := range text {
		if kept, removed := tool.Strip(string(r)); removed > 0 || kept == "" {
			fmt.Fprintf(&b, "‹U+%04X›", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func indented(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}
