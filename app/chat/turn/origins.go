package turn

import (
	"encoding/json"
	"sync"

	"conclave/app/chat"
)

// pathOrigins are the origins of a turn's path, which is long and only grows.
type pathOrigins struct {
	mu     sync.Mutex // guards the fields below
	looked int        // messages of the path whose origins are in all
	all    []chat.Origin
}

// origins returns the origins of the text in the turn's requests that neither the person nor a model of
// theirs wrote. Every call of the turn is decided with them.
func (t *run) origins() []chat.Origin {
	o := &t.known
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.looked == 0 {
		o.all = chat.AddOrigins(nil, t.plain...)
	}
	for ; o.looked < len(t.path); o.looked++ {
		o.all = chat.AddOrigins(o.all, t.path[o.looked].Brought()...)
	}
	return chat.AddOrigins(o.all, t.brought()...)
}

// brought returns the origins of what the turn added to the chat in its requests. They are saved with the
// answer, which was made from that.
func (t *run) brought() []chat.Origin {
	all := t.added
	if t.req.Taint != nil {
		all = chat.AddOrigins(all, t.req.Taint()...)
	}
	return all
}

// wrote returns the addresses among a call's arguments that the person wrote in this chat.
func (t *run) wrote(arguments json.RawMessage) []string {
	return chat.Wrote(chat.Conversation{Origins: t.plain}, t.path, arguments)
}
