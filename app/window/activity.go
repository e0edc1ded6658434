package window

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/tool"
	"conclave/app/view"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Activity is bound: the record of what tools did.
type Activity struct {
	*lifecycle
	core Core
	open *openChats
}

// activityPage is how many entries the page is given at once.
const activityPage = 50

// List returns entries of the record, the newest first: those before the one with the number
// given, 0 for the newest. chat and plugin select; empty is all.
func (a *Activity) List(conversation, plugin string, before uint64) (ActivityList, error) {
	rows, err := a.core.Store.Activity(a.call(), activity.Filter{
		Chat: chat.ConversationID(conversation), Plugin: plugin, Before: before, Limit: activityPage + 1,
	})
	if err != nil {
		return ActivityList{}, err
	}
	out := ActivityList{Entries: []ActivityEntry{}, More: len(rows) > activityPage}
	titles := map[string]string{"": ""}
	for _, row := range rows[:min(len(rows), activityPage)] {
		e := a.view(row)
		if _, known := titles[e.Chat]; !known {
			titles[e.Chat] = a.open.titleNow(chat.ConversationID(e.Chat))
		}
		e.ChatTitle = titles[e.Chat]
		out.Entries = append(out.Entries, e)
	}
	return out, nil
}

// unnamed stands for the title of a chat that has none yet.
const unnamed = "New chat"

// Verify checks the whole record.
func (a *Activity) Verify() (ActivityReport, error) {
	report, err := a.core.Store.VerifyActivity(a.call())
	if err != nil {
		return ActivityReport{}, err
	}
	return ActivityReport{OK: report.OK, Sentence: report.Sentence()}, nil
}

// Export asks where, and writes the entries that chat and plugin select there as JSON Lines;
// "" when the person changed their mind.
func (a *Activity) Export(conversation, plugin string) (string, error) {
	ctx := a.window()
	if ctx == nil {
		return "", errNoContext
	}
	path, err := runtime.SaveFileDialog(ctx, runtime.SaveDialogOptions{
		DefaultFilename: "activity.jsonl", CanCreateDirectories: true,
	})
	if err != nil || path == "" {
		return "", err
	}
	var text bytes.Buffer
	f := activity.Filter{Chat: chat.ConversationID(conversation), Plugin: plugin}
	if _, err := activity.Export(ctx, a.core.Store, f, &text); err != nil {
		return "", err
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return "", fault.Wrap(fault.Unavailable, "app.save", "The file "+path+" could not be written.",
			"Choose another place.", err)
	}
	return path, nil
}

// view returns an entry as the page shows it.
func (a *Activity) view(row activity.Row) ActivityEntry {
	e, d, err := row.Read()
	if err != nil {
		return ActivityEntry{Title: "An entry that cannot be read", Sent: []string{}, Why: []string{}}
	}
	out := ActivityEntry{
		N: e.N, Time: chat.Stamp(e.Time), Kind: e.Kind, Chat: string(e.Chat), Effect: e.Effect, Outcome: e.Outcome,
		MS: int64(e.MS), Digest: row.Hash, Sent: []string{}, Why: activity.Sentences(e, d), Undo: e.Undo,
	}
	switch e.Kind {
	case activity.Called:
	case activity.Used, activity.Sent:
		words := a.open.callWords(chat.CallRecord{ToolID: e.Tool, ToolName: e.Tool, Plugin: e.Plugin})
		out.Plugin, out.PluginName, out.Tool = e.Plugin, transcript.OneLine(words.Plugin), transcript.OneLine(e.Tool)
		out.Title = out.PluginName + " " + transcript.OneLine(activity.UsedWords(e, d))
		out.Why = out.Why[1:] // the title says the first
		a.detail(&out, d)
		return out
	default:
		out.Title, out.Plugin = transcript.OneLine(activity.Event(e, d)), e.Plugin
		out.Why = out.Why[1:] // the title says the first
		for i, line := range out.Why {
			out.Why[i] = transcript.OneLine(line)
		}
		out.Undo = "" // the entry of the call has the way back
		return out
	}
	words := a.open.callWords(chat.CallRecord{ToolID: e.Tool, ToolName: e.Tool, Plugin: e.Plugin})
	out.Call, out.Tool, out.Plugin = strconv.FormatUint(e.Call, 10), transcript.OneLine(e.Tool), e.Plugin
	out.PluginName, out.Who = transcript.OneLine(words.Plugin), gate.CallerName(gate.Caller(e.Caller), "")
	out.Title = transcript.OneLine(words.Did)
	if e.Outcome != chat.CallOK {
		out.Title = transcript.Sentence(transcript.OneLine(words.Doing))
	}
	out.Size = limit.Size(e.Output)
	for _, s := range e.Sent {
		out.Sent = append(out.Sent, transcript.OneLine(activity.SentTo(s)))
	}
	a.detail(&out, d)
	return out
}

// detail fills in how it was decided about what an entry tells of, and with which arguments.
func (*Activity) detail(out *ActivityEntry, d *activity.Detail) {
	for i, line := range out.Why {
		out.Why[i] = transcript.OneLine(line)
	}
	if d == nil {
		return
	}
	out.Arguments, _ = tool.Strip(view.Indented(json.RawMessage(d.Arguments)))
	out.Left = d.Left
	if d.Beginning != "" {
		beginning, _ := tool.Strip(d.Beginning)
		out.Arguments, out.Left = beginning, "The arguments have more than 8 KiB; their beginning is on record."
	}
}
