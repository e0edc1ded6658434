package transcript_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/transcript"
)

func TestTheRunsOfAChatFollowItsPathAndLeaveItAtForks(t *testing.T) {
	// 1 is answered by 2 and 5; 2 by 3, that by 4; 5 by 6 and 7.
	parents := []chat.MessageSeq{0, 1, 2, 3, 1, 5, 5}
	o := chat.Outline{Path: []chat.MessageSeq{1, 2, 3, 4}}
	for i, parent := range parents {
		role := chat.RoleUser
		if i == 1 || i == 3 || i == 4 {
			role = chat.RoleAssistant
		}
		o.Items = append(o.Items, chat.OutlineItem{
			Seq: chat.MessageSeq(i + 1), Parent: parent, Role: role, Turn: fmt.Sprint(i / 2),
		})
	}
	runs, more := transcript.Runs(o)
	var got []string
	for _, r := range runs {
		got = append(got, fmt.Sprintf("%s%d×%d %v", strings.Repeat(">", r.Depth), r.First, r.Entries, r.Shown))
	}
	if want := "1×1 true, >5×1 false, >>6×1 false, >7×1 false, 2×3 true"; strings.Join(got, ", ") != want || more {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
	if runs, _ := transcript.Runs(chat.Outline{}); len(runs) > 0 {
		t.Errorf("an empty chat has %v", runs)
	}
	wide := chat.Outline{}
	for i := range transcript.MostRuns + 1 {
		wide.Items = append(wide.Items, chat.OutlineItem{Seq: chat.MessageSeq(i + 1)})
	}
	if runs, more := transcript.Runs(wide); len(runs) != transcript.MostRuns || !more {
		t.Errorf("of a wide chat there are %d, more: %v", len(runs), more)
	}
}
