package deliberation

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"conclave/app/chat"
	"conclave/app/council"
)

// retained lets a run reuse the results of the newest run for the same question, where its council
// retains results and the members, the settings and what the tools see of the chat are the same
// (contracts/spindle, section 11.1). The dice are those of that run, so that a run without
// participants is repeated too; failed tasks are done again. It returns the id of that run, or "".
func retained(ctx context.Context, log council.Log, b *council.Begin) (council.RunID, error) {
	if b.Council.Mode != council.Tools || !b.Council.Tool.Retain || b.Again != "" {
		return "", nil
	}
	headers, err := log.Runs(ctx, b.Conversation)
	if err != nil {
		return "", err
	}
	i := len(headers) - 1
	for i >= 0 && headers[i].Question != b.Question {
		i--
	}
	if i < 0 || headers[i].Mode != council.Tools {
		return "", nil
	}
	before, err := replayed(ctx, log, headers[i].Run)
	if err != nil || fingerprint(before.Begin) != fingerprint(*b) {
		return "", nil //nolint:nilerr // unreadable results are not reused
	}
	b.Seed, b.Kept = before.Seed, map[string]council.End{}
	for _, t := range before.Tasks {
		if t.State == council.Done {
			b.Kept[t.ID] = withoutUsage(t.End)
		}
	}
	return before.Begin.Run, nil
}

// withoutUsage returns the end of a task without its usage, which the run that did it has paid for.
func withoutUsage(end council.End) council.End {
	end.Usage = chat.Usage{}
	return end
}

// fingerprint is equal for runs whose tools have the same input, whichever model answers.
func fingerprint(b council.Begin) council.Hash {
	models := maps.Clone(b.Models)
	delete(models, "")
	raw, _ := json.Marshal(map[string]any{ // a council can be encoded
		"members": b.Council.Members, "settings": b.Council.Tool, "helper": b.Council.Helper, "only": b.Only,
		"models": models, "window": b.Window,
	})
	return council.HashOf(raw)
}

// windowOf returns the hash of what members see of the chat.
func windowOf(given []council.Given) council.Hash {
	type message struct {
		Role  chat.Role
		Text  string
		Media []string
	}
	type window struct {
		System string
		Path   []message
	}
	all := make([]window, len(given))
	for i, g := range given {
		all[i].System = g.System
		for _, m := range g.Path {
			one := message{Role: m.Role, Text: chat.TextOf(m.Parts)}
			for _, p := range m.Parts {
				if p.Media != nil {
					one.Media = append(one.Media, p.Media.ID)
				}
			}
			slices.Sort(one.Media)
			all[i].Path = append(all[i].Path, one)
		}
	}
	raw, _ := json.Marshal(all) // texts can be encoded
	return council.HashOf(raw)
}
