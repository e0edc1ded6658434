package events

import (
	"cmp"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
)

// councilResult is one result of a member as plugins get it (contracts/spindle, section 10.7).
type councilResult struct {
	MemberID   string `json:"memberId"`
	MemberName string `json:"memberName"`
	Tool       string `json:"toolName"`
	Title      string `json:"toolDisplayName"`
	Success    bool   `json:"success"`
	Content    string `json:"content"`
	Error      string `json:"error,omitempty"`
	MS         int64  `json:"durationMs"`
}

// sentRun notes which events of a run were sent.
type sentRun struct {
	members   map[string]bool // those that are done
	failed    bool            // that tools failed, since somebody was last asked
	completed bool
}

// Council sends what happens in a council's run.
func (n *Events) Council(e deliberation.Event) {
	if e.Step != nil {
		n.queue(func() { n.councilStep(e) })
	}
}

// councilStep sends what one step changed. Nothing is sent of a run in which nobody takes part.
func (n *Events) councilStep(e deliberation.Event) {
	r := &e.Run
	if len(r.Tasks) == 0 {
		return
	}
	id := r.Begin.Run
	sent := n.councils[id]
	if sent == nil {
		sent = &sentRun{members: map[string]bool{}}
		if e.Step.Kind != council.Begins { // it goes on: those that ended before were sent
			for _, seat := range r.Seats {
				sent.members[seat.Member.ID] = done(r, seat.Member.ID)
			}
		}
		n.councils[id] = sent
	}
	if e.Step.Kind == council.Begins {
		n.switchTo(r.Conversation)
		in := 0
		for _, seat := range r.Seats {
			if seat.In {
				in++
			}
		}
		n.o.Host.Hooks.Publish("COUNCIL_STARTED", map[string]any{"chatId": r.Conversation, "memberCount": in})
	}
	for _, seat := range r.Seats {
		if m := seat.Member; seat.In && !sent.members[m.ID] && done(r, m.ID) {
			sent.members[m.ID] = true
			n.o.Host.Hooks.Publish("COUNCIL_MEMBER_DONE", map[string]any{
				"chatId": r.Conversation, "memberId": m.ID, "memberName": m.Name, "memberItemId": m.ItemID,
				"memberAvatarUrl": council.AvatarURL(m), "results": n.councilResults(r, m.ID),
			})
		}
	}
	n.councilFailures(r, sent)
	if r.State == council.Ready && !sent.completed {
		sent.completed = true
		n.o.Host.Hooks.Publish("COUNCIL_COMPLETED", map[string]any{
			"chatId": r.Conversation, "totalDurationMs": r.After(e.Step.At).Milliseconds(),
			"resultCount": len(n.councilResults(r, "")),
		})
	}
	if r.State == council.Over {
		delete(n.councils, id)
	}
}

// done reports whether a member has nothing left to do.
func done(r *council.Run, member string) bool {
	for t := range r.TasksOf(member) {
		if !t.State.Final() {
			return false
		}
	}
	return true
}

// councilFailures sends once that tools failed: when a person is asked, or when the run goes on
// without asking.
func (n *Events) councilFailures(r *council.Run, sent *sentRun) {
	if r.State != council.Asking && r.State != council.Ready {
		sent.failed = sent.failed && r.State != council.Running
		return
	}
	failed, succeeded := []map[string]any{}, 0
	for _, t := range r.Tasks {
		switch {
		case t.Kind != council.UseTool:
		case t.State == council.Done:
			succeeded++
		case t.State == council.Failed:
			failed = append(failed, map[string]any{
				"memberId": t.Member, "memberName": memberName(r, t.Member), "toolName": t.Tool,
				"toolDisplayName": cmp.Or(r.Titles[t.Tool], t.Tool), "error": message(t.End.Failure),
			})
		}
	}
	if len(failed) == 0 || sent.failed {
		return
	}
	sent.failed = true
	n.o.Host.Hooks.Publish("COUNCIL_TOOLS_FAILED", map[string]any{
		"generationId": r.Turn, "chatId": r.Conversation, "failedTools": failed, "successCount": succeeded,
		"failedCount": len(failed),
	})
}

// councilResults returns the results of a member, or of all, in the order of the tasks.
func (n *Events) councilResults(r *council.Run, member string) []councilResult {
	results := []councilResult{}
	for _, t := range r.Tasks {
		if t.Member == "" || member != "" && t.Member != member ||
			t.State != council.Done && t.State != council.Failed {
			continue
		}
		one := councilResult{
			MemberID: t.Member, MemberName: memberName(r, t.Member), Tool: cmp.Or(t.Tool, string(t.Kind)),
			Success: t.State == council.Done, MS: t.Ended.Sub(t.Started).Milliseconds(),
		}
		one.Title = cmp.Or(r.Titles[t.Tool], one.Tool)
		if !one.Success {
			one.Error = message(t.End.Failure)
		} else if member != "" && t.Kind != council.Cast {
			one.Content = n.o.Texts(n.ctx, r.Begin.Run).Words(t.End.Text)
			if t.Tool == "" { // the words of a member, which end with a block for the program
				one.Content = deliberation.Shown(one.Content)
			}
		}
		results = append(results, one)
	}
	return results
}

func memberName(r *council.Run, id string) string {
	for _, seat := range r.Seats {
		if seat.Member.ID == id {
			return seat.Member.Name
		}
	}
	return id
}

func message(f *chat.Failure) string {
	if f == nil {
		return ""
	}
	return f.Message
}
