package host

import (
	"context"
	"slices"
	"strconv"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Some plugins describe their tools differently each time, with the time of day in the words. A person may have models
// get the words that they approved, and review others when they like (docs/adr/0056).

// approvedTools returns the tools of the version that was approved by their names, if v is that version.
func (l *life) approvedTools(v version) map[string]tool.Tool {
	good := l.record.Good
	if good == nil || good.Digest != v.digest || good.Digest == "" {
		return nil
	}
	named := map[string]tool.Tool{}
	for _, t := range fromStored(good.Tools) {
		named[t.Name] = t
	}
	return named
}

// approvedWords returns the tools of v with the words that were approved, where the person wants that and where nothing
// else differs, and the names of those that now say others.
func (l *life) approvedWords(v version) (tools []tool.Tool, others []string) {
	if !l.state.KeepWords {
		return v.tools, nil
	}
	approved := l.approvedTools(v)
	tools = slices.Clone(v.tools)
	for i, t := range tools {
		if a, ok := approved[t.Name]; ok && a.Digest != t.Digest && tool.SameButWords(a, t) {
			tools[i] = t.WithWordsOf(a)
			others = append(others, t.Name)
		}
	}
	return tools, others
}

// onlyWords reports whether what waits differs from what was approved in words for models alone.
func (l *life) onlyWords() bool {
	if l.status.State != plugin.Quarantined || l.status.Problem != nil || !l.waiting.listed {
		return false
	}
	approved := l.approvedTools(l.waiting)
	return len(approved) > 0 && !slices.ContainsFunc(l.waiting.tools, func(t tool.Tool) bool {
		a, ok := approved[t.Name]
		return !ok || a.Digest != t.Digest && !tool.SameButWords(a, t)
	})
}

// maxNamed limits how many tools otherWords names.
const maxNamed = 5

// otherWords returns a note for the card, with the names of tools whose words are not those that models get.
func otherWords(names []string) string {
	if len(names) > maxNamed {
		names = append(slices.Clone(names[:maxNamed]), strconv.Itoa(len(names)-maxNamed)+" others")
	}
	return "It now describes these tools in other words than you approved: " + limit.Listed(names) +
		". Models get the words that you approved."
}

// SetKeepWords sets whether models get the words about a plugin's tools that the person approved, whatever the plugin
// says now. Where they do not any more, other words wait for approval, and SetKeepWords returns once that is known.
// Kind conflict where there is no approved version.
func (s *Settings) SetKeepWords(ctx context.Context, id string, keep bool) error {
	e, err := s.h.known(id)
	if err != nil {
		return err
	}
	now := e.now()
	if now.state.KeepWords == keep {
		return nil
	}
	if keep && now.record.Good == nil {
		return fault.New(fault.Conflict, "plugin.words", "The plugin "+id+" has no words that you approved.",
			"Approve it first.")
	}
	if err := e.memory.change(ctx, true, func(s *savedState) { s.KeepWords = keep }); err != nil {
		return err
	}
	return s.h.WaitLoaded(ctx, id)
}
