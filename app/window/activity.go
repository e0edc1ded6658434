package window

import (
	"bytes"
	"context"

	"conclave/app/base/language"
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/record/activity"
	"conclave/app/view"
)

// Activity is bound: the record of what tools did, and the messages of servers.
type Activity struct {
	*lifecycle
	core Core
	open *openChats
}

// activityPage limits how many entries the page gets at once.
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
	out := ActivityList{Entries: []view.ActivityEntry{}, More: len(rows) > activityPage}
	titles := map[string]string{"": ""}
	for _, row := range rows[:min(len(rows), activityPage)] {
		e := view.NewActivityEntry(row, a.open.callWords)
		if _, known := titles[e.Chat]; !known {
			titles[e.Chat] = a.open.titleNow(chat.ConversationID(e.Chat))
		}
		e.ChatTitle = titles[e.Chat]
		out.Entries = append(out.Entries, e)
	}
	return language.Shown(out), nil
}

// unnamed stands for the title of a chat that has none yet.
const unnamed = "New chat"

// Verify checks the whole record.
func (a *Activity) Verify() (ActivityReport, error) {
	report, err := a.core.Store.VerifyActivity(a.call())
	if err != nil {
		return ActivityReport{}, err
	}
	return language.Shown(ActivityReport{OK: report.OK, Sentence: report.Sentence()}), nil
}

// Export asks where, and writes the entries that chat and plugin select there as JSON Lines;
// "" when the person changed their mind.
func (a *Activity) Export(conversation, plugin string) (string, error) {
	return a.saveAs("activity.jsonl", func(ctx context.Context) ([]byte, error) {
		var text bytes.Buffer
		f := activity.Filter{Chat: chat.ConversationID(conversation), Plugin: plugin}
		_, err := activity.Export(ctx, a.core.Store, f, &text)
		return text.Bytes(), err
	})
}

// Traffic returns the last messages of the protocol between Conclave and a plugin, as lines of a log: → is one that
// was sent, ← one that came. Other plugins than MCP servers have none.
func (a *Activity) Traffic(id string) ([]view.LogLine, error) {
	return view.Map(a.core.Host.Traffic(id), func(l plugin.LogLine) view.LogLine { return view.NewLogLine(id, l) }), nil
}
