package view

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/app/base/shorten"
	"conclave/app/base/textdiff"
	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/gate"
	"conclave/app/tool"
)

// CallDetail is everything about one call, for the opened card. Its texts are
// cleaned, and cut at 200,000 characters.
type CallDetail struct {
	ID string `json:"id"`
	// Arguments as indented JSON; edited ones if the person edited them.
	Arguments    string `json:"arguments"`
	RawArguments string `json:"raw_arguments"` // what the model wrote, when it was not a JSON object
	Result       string `json:"result"`        // what the tool answered, as plain text
	// The typed value as indented JSON; "" when the text is all of it.
	ResultJSON string `json:"result_json"`
	ResultCut  int    `json:"result_cut"` // how many more characters the result has than are shown
	// Hidden characters (ANSI, bidi, zero-width, Unicode tags) removed from the result.
	HiddenRemoved int `json:"hidden_removed"`
	// The result with those characters made visible (‹U+200B›); "" when none.
	ResultMarked string          `json:"result_marked"`
	Media        []showing.Media `json:"media"`
	Error        string          `json:"error"`
	ErrorType    string          `json:"error_type"`
	Traceback    string          `json:"traceback"`
	Printed      string          `json:"printed"` // what the call printed, its last 8 KiB
	Started      string          `json:"started"`
	Ended        string          `json:"ended"`
	MS           int64           `json:"ms"`
	Caller       string          `json:"caller" say:"true"` // as a person reads it: “Ada (council)”
	Digest       string          `json:"digest"`            // digest of the definition in hex
	// “Why was this allowed?”: the rule path in words, one step per line.
	Why []string `json:"why" say:"true"`
	// What hooks did to it; [] where none looked at it.
	Hooks []HookStep `json:"hooks"`
}

// maxShown limits how many bytes of one text a card shows.
const maxShown = 200_000

// NewCallDetail returns the view of a call, cleaned for a person. why is how it was decided, where that
// is on record.
func NewCallDetail(r chat.CallRecord, why []string) CallDetail {
	caller := gate.CallerName(gate.Caller(r.Caller), tool.OneLine(r.CallerName))
	d := CallDetail{
		ID: strconv.FormatUint(r.ID, 10), Arguments: Indented(r.Arguments), RawArguments: r.RawArguments,
		Media:     Map(r.Attachments, func(m chat.Media) showing.Media { return *showing.MediaOf(m) }),
		ErrorType: r.ErrorType, Started: chat.Stamp(r.Started), Ended: chat.Stamp(r.Ended), MS: int64(r.MS), Caller: caller,
		Digest: r.Digest, Why: []string{}, Hooks: NewHookSteps(r.Hooks),
	}
	text := r.ResultText
	var typed string
	if json.Unmarshal(r.Result, &typed) == nil {
		if len(typed) > len(text) {
			text = typed
		}
	} else {
		d.ResultJSON = Indented(r.Result)
	}
	if len(text) > maxShown {
		d.ResultCut = utf8.RuneCountInString(text[maxShown:])
		text = strings.ToValidUTF8(text[:maxShown], "")
	}
	d.Result, d.HiddenRemoved = tool.Strip(text)
	if d.HiddenRemoved > 0 {
		d.ResultMarked = marked(text)
	}
	d.Error, d.Traceback, d.Printed = clean(shorten.Bytes(r.Error, maxShown)), clean(r.Traceback), clean(r.Printed)
	d.Why = append(d.Why, why...)
	if r.Decision != "" && len(why) == 0 {
		d.Why = append(d.Why, showing.Sentence(r.Decision)+": "+r.DecidedBy)
	}
	if r.Mended != nil {
		d.Why = append(d.Why, tool.OneLine(r.Mended.Sentence()))
	}
	d.Why = append(d.Why, "Called by "+caller+", "+r.Timestamp.Local().Format("2006-01-02 15:04:05"))
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

// HookStep holds what one hook did, in the order in which hooks ran.
type HookStep struct {
	Point  chat.HookPoint  `json:"point"`
	Plugin string          `json:"plugin"` // its id, or conclave
	Title  string          `json:"title"`
	Action chat.HookAction `json:"action"` // "": it looked, and changed nothing
	Reason string          `json:"reason"` // why it denied or stopped, or how it failed
	Notes  []string        `json:"notes"`
	MS     float64         `json:"ms"`
	Lines  []DiffLine      `json:"lines"`           // by which what it gave back differs from what it was given
	Left   string          `json:"left" say:"true"` // why lines is not all of it: a sentence, or ""
}

// NewHookSteps returns the view of what hooks did.
func NewHookSteps(steps []chat.HookStep) []HookStep {
	return Map(steps, func(s chat.HookStep) HookStep {
		return HookStep{
			Point: s.Point, Plugin: s.Plugin, Title: s.Title, Action: s.Action, Reason: showing.Sentence(s.Reason),
			Notes: List(s.Notes), MS: s.MS, Lines: changedLines(s.Change), Left: s.Left,
		}
	})
}

// changedLines reads the lines that a hook changed, as chat.HookStep.Change has them.
func changedLines(change string) []DiffLine {
	kinds := map[byte]textdiff.Kind{'+': textdiff.Added, '-': textdiff.Removed, ' ': textdiff.Same, '@': textdiff.Gap}
	lines := []DiffLine{}
	for line := range strings.Lines(change) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		l := DiffLine{Kind: kinds[line[0]], Text: strings.TrimPrefix(line[1:], "  ")}
		if heading, ok := strings.CutPrefix(line[1:], "["); ok {
			l.Text, l.Heading = strings.TrimSuffix(heading, "]"), true
		}
		lines = append(lines, l)
	}
	return lines
}
