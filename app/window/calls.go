package window

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/view"
)

// maxShown is how many bytes of one text a card shows.
const maxShown = 200_000

// callDetail is everything about one call, cleaned for a person. why tells how it was
// decided, where that is on record.
func callDetail(r chat.CallRecord, why []string) CallDetail {
	caller := gate.CallerName(gate.Caller(r.Caller), transcript.OneLine(r.CallerName))
	d := CallDetail{
		ID: strconv.FormatUint(r.ID, 10), Arguments: view.Indented(r.Arguments), RawArguments: r.RawArguments,
		Media:     []transcript.Media{},
		ErrorType: r.ErrorType, Started: chat.Stamp(r.Started), Ended: chat.Stamp(r.Ended), MS: int64(r.MS), Caller: caller,
		Digest: r.Digest, Why: []string{}, Hooks: hookSteps(r.Hooks),
	}
	text := r.ResultText
	var typed string
	if json.Unmarshal(r.Result, &typed) == nil {
		if len(typed) > len(text) {
			text = typed
		}
	} else {
		d.ResultJSON = view.Indented(r.Result)
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
		d.Media = append(d.Media, *transcript.MediaOf(m))
	}
	d.Why = append(d.Why, why...)
	if r.Decision != "" && len(why) == 0 {
		d.Why = append(d.Why, transcript.Sentence(r.Decision)+": "+r.DecidedBy)
	}
	if r.Mended != nil {
		d.Why = append(d.Why, transcript.OneLine(r.Mended.Sentence()))
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
