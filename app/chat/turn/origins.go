package turn

import (
	"encoding/json"

	"conclave/app/chat"
)

// origins returns where text came from that the turn's requests hold and that neither the
// person nor a model of theirs wrote. Every call of the turn is decided with it.
func (t *run) origins() []chat.Origin {
	return chat.AddOrigins(chat.OriginsOf(chat.Conversation{Origins: t.plain}, t.path), t.brought()...)
}

// brought returns the origins of what the turn itself brought into the requests, beside
// the chat: an answer keeps them, since it was made from that.
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
