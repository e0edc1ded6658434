package terminal

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/record/undo"
	"conclave/app/view"
)

// Each key of what these commands print is named on the page about it, below the heading.
func TestThePageNamesEachKeyThatCommandsPrint(t *testing.T) {
	page, err := os.ReadFile("../../docs/JSON.md")
	must(t, err)
	sections := map[string]string{}
	for _, part := range strings.Split(string(page), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		sections[title] = text
	}
	for title, rows := range map[string][]any{
		"council lines": {
			deliberation.Line{}, council.Finding{}, council.Tally{},
		},
		"council runs": {
			view.RunHeader{}, council.SeatLine{},
		},
		"council seen": {
			view.SentRequest{}, view.BlockText{},
		},
		"council nudge, skip, retry, finish, stop, rate": {
			actRow{}, rateRow{},
		},
		"permissions list, allow, ask, deny": {
			view.Rule{}, gate.Match{}, view.MatrixRow{}, view.MatrixCell{},
		},
		"permissions mode and rules, --try": {
			view.Trial{}, view.TrialCall{}, gate.Outcome{},
		},
		"permissions explain": {
			gate.Step{},
		},
		"logs": {
			chat.CallRecord{}, chat.Sending{}, chat.FileChange{},
		},
		"activity": {
			activity.Row{}, activity.Entry{}, activity.Detail{}, activity.Report{},
		},
		"activity kept": {
			undo.Set{}, undo.Call{}, undo.Change{},
		},
	} {
		for _, row := range rows {
			for _, key := range keysOf(reflect.TypeOf(row)) {
				if !strings.Contains(sections[title], "`"+key+"`") {
					t.Errorf("docs/JSON.md, %q, does not name the key %s of %T", title, key, row)
				}
			}
		}
	}
}

// keysOf returns the keys that a struct has as JSON.
func keysOf(of reflect.Type) []string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	var keys []string
	for i := range of.NumField() {
		f := of.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		key, _, _ := strings.Cut(tag, ",")
		switch {
		case f.Anonymous && !tagged:
			keys = append(keys, keysOf(f.Type)...)
		case tagged && key != "-":
			keys = append(keys, key)
		}
	}
	return keys
}
