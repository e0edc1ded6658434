package transcript

import (
	"slices"

	"conclave/app/chat"
)

// Run is a part of a chat's tree in which every message has one answer: from a fork, or the beginning, to the next
// fork or the end.
type Run struct {
	First   chat.MessageSeq
	Role    chat.Role // of the first message
	Entries int       // how many entries it has
	Depth   int       // how many branches lead off the path that is shown until it
	Shown   bool      // it is on that path
}

// MostRuns bounds how many runs of a chat Runs returns.
const MostRuns = 500

// Runs returns the runs of a chat. At each fork the branches that leave the path come first, each with all that is
// behind it, then the path goes on; where a fork is off the path, the newest branch does. more reports that there are
// more than MostRuns.
func Runs(o chat.Outline) (all []Run, more bool) {
	answers := map[chat.MessageSeq][]chat.OutlineItem{}
	for _, item := range o.Items {
		answers[item.Parent] = append(answers[item.Parent], item)
	}
	shown := map[chat.MessageSeq]bool{}
	for _, seq := range o.Path {
		shown[seq] = true
	}
	type open struct {
		item  chat.OutlineItem
		depth int
	}
	var waiting []open // the next one last
	fork := func(of []chat.OutlineItem, depth int) {
		on := slices.IndexFunc(of, func(item chat.OutlineItem) bool { return shown[item.Seq] })
		if on < 0 {
			on = len(of) - 1
		}
		waiting = append(waiting, open{of[on], depth})
		for i, item := range slices.Backward(of) {
			if i != on {
				waiting = append(waiting, open{item, depth + 1})
			}
		}
	}
	if roots := answers[0]; len(roots) > 0 {
		fork(roots, 0)
	}
	for len(waiting) > 0 {
		if len(all) == MostRuns {
			return all, true
		}
		next := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		seqs, at := []chat.MessageSeq{next.item.Seq}, next.item.Seq
		for len(answers[at]) == 1 {
			at = answers[at][0].Seq
			seqs = append(seqs, at)
		}
		entries := chat.Fold(seqs, func(seq chat.MessageSeq) (chat.Role, string) {
			item, _ := o.Item(seq)
			return item.Role, item.Turn
		})
		all = append(all, Run{next.item.Seq, next.item.Role, len(entries), next.depth, shown[next.item.Seq]})
		if forked := answers[at]; len(forked) > 1 {
			fork(forked, next.depth)
		}
	}
	return all, false
}
