package service

import (
	"context"

	"conclave/app/model"
	"conclave/app/plugin"
)

type countArgs struct {
	Text     string    `json:"text"`
	Messages []message `json:"messages"`
}

// perMessage estimates what a message costs beyond its text.
const perMessage = 4

func count(_ context.Context, _ plugin.Caller, a countArgs) (any, error) {
	total := model.Tokens(a.Text)
	for _, m := range a.Messages {
		parts, err := m.parts()
		if err != nil {
			return nil, err
		}
		total += perMessage
		for _, p := range parts {
			total += model.Tokens(p.Text)
		}
	}
	return map[string]any{"total_tokens": total, "approximate": true}, nil
}
