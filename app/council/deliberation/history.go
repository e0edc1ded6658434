package deliberation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/council"
)

// Bounds of results from earlier runs (contracts/spindle, section 11.2).
const (
	mostRetained = 10   // outputs of one tool of a member
	retainedText = 4000 // characters of each
	retainedRuns = 200  // newest runs that are searched
)

// older collects what the tools of a run's members answered in earlier runs of its chat, as much as
// each member retains of each tool. Only the main model sees it, since members repeat their own
// results. Unreadable runs are skipped. origins are those of the answers.
func older(ctx context.Context, log council.Log, r council.Run, now time.Time) (text string, origins []chat.Origin) {
	wanted, left := map[string]int{}, 0 // how many more, by member and tool, and in all
	for _, seat := range r.Seats {
		for _, assigned := range seat.Member.Tools {
			n := min(seat.Member.Retention[assigned], mostRetained)
			wanted[seat.Member.ID+" "+assigned] = n
			left += n
		}
	}
	if r.Council.Mode != council.Tools || left == 0 {
		return "", nil
	}
	headers, _ := log.Runs(ctx, r.Conversation) // none where they cannot be read
	headers = slices.DeleteFunc(slices.Clone(headers), func(h council.Header) bool {
		return h.Run == r.Begin.Run || h.Mode != council.Tools
	})
	found := map[string][]string{} // newest first
	for _, h := range slices.Backward(headers[max(0, len(headers)-retainedRuns):]) {
		if left == 0 || ctx.Err() != nil {
			break
		}
		before, err := replayed(ctx, log, h.Run)
		if err != nil {
			continue
		}
		for _, t := range before.Tasks {
			key := t.Member + " " + t.Tool
			if _, again := before.Kept[t.ID]; again || t.State != council.Done || wanted[key] <= 0 {
				continue
			}
			text, err := log.Text(ctx, h.Run, t.End.Text)
			if err != nil || len(text) == 0 {
				continue
			}
			wanted[key]--
			left--
			origins = chat.AddOrigins(origins, t.End.Origins...)
			found[key] = append(found[key], "("+age(now.Sub(t.Ended))+") "+shorten.After(string(text), retainedText))
		}
	}
	return olderText(r, found), origins
}

// replayed reads a run from a log.
func replayed(ctx context.Context, log council.Log, id council.RunID) (council.Run, error) {
	steps, err := log.Steps(ctx, id)
	if err != nil {
		return council.Run{}, err
	}
	return council.Replay(steps)
}

// olderText writes the results, by member and tool.
func olderText(r council.Run, found map[string][]string) string {
	var out strings.Builder
	for _, seat := range r.Seats {
		for i, assigned := range seat.Member.Tools {
			outputs := found[seat.Member.ID+" "+assigned]
			if slices.Contains(seat.Member.Tools[:i], assigned) || len(outputs) == 0 {
				continue
			}
			title := cmp.Or(r.Titles[assigned], assigned)
			_, _ = fmt.Fprintf(&out, "\n**%s, %s:**\n%s\n", seat.Member.Name, title,
				r.Fence(seat.Member, strings.Join(outputs, "\n\n")))
		}
	}
	if out.Len() == 0 {
		return ""
	}
	return "# Earlier results of your council\n\n" +
		"For reference only: they were found for earlier messages, and may not hold any more.\n" + out.String()
}

// age describes how long ago something was.
func age(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / unit.of); n > 0 {
			return limit.Counted(n, unit.name) + " ago"
		}
	}
	return "a moment ago"
}
