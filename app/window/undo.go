package window

import (
	"context"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/base/language"
)

// undos holds what can be taken back, by token, until the program quits. It is
// safe for concurrent use.
type undos struct {
	mu   sync.Mutex // guards the fields below
	back map[string]func(context.Context) error
	keep []string // tokens, oldest first
}

// maxUndos bounds what is kept; past it the oldest can no longer be undone.
const maxUndos = 200

func newUndos() *undos { return &undos{back: map[string]func(context.Context) error{}} }

// add keeps how to take something back.
func (u *undos) add(sentence string, back func(context.Context) error) Undo {
	token := reference() + reference()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.back[token] = back
	u.keep = append(u.keep, token)
	if len(u.keep) > maxUndos {
		delete(u.back, u.keep[0])
		u.keep = u.keep[1:]
	}
	return language.Shown(Undo{Token: token, Sentence: sentence})
}

// take takes something back, once.
func (u *undos) take(ctx context.Context, token string) error {
	u.mu.Lock()
	back, ok := u.back[token]
	delete(u.back, token)
	u.mu.Unlock()
	if !ok {
		return fault.New(fault.NotFound, "app.undo", "That can no longer be undone.", "")
	}
	return back(ctx)
}
