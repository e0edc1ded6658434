package turn

import (
	"encoding/json"

	"conclave/app/chat"
)

// origins returns the origins of the text in the turn's requests that neither the person nor a model of
// theirs wrote. Every call of the turn is decided with them.
func (t *run) origins() []chat.Origin {
	return chat.AddOrigins(chat.OriginsOf(chat.Conversation{Origins: t.plain}, t.path), t.brought()...)
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
