package host

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
)

// eventRule decides which plugins receive an event, and how much of it.
type eventRule struct {
	hear    string   // the permission to receive it at all; empty needs none
	content string   // the permission for all of its payload; empty: nobody gets more than ids
	ids     []string // what of the payload everybody else gets, as paths
}

// eventRules are the rules of all events. What an event says needs the permission
// that reading the same thing needs (app/service). An event that is not here
// reaches nobody.
var eventRules = map[string]eventRule{
	"CHAT_SWITCHED":      {ids: []string{"chatId"}},
	"CHAT_CHANGED":       {content: "chats", ids: []string{"chat.id", "changedFields"}},
	"MESSAGE_SENT":       {content: "chat_mutation", ids: []string{"chatId", "message.id", "message.chat"}},
	"MESSAGE_EDITED":     {content: "chat_mutation", ids: []string{"chatId", "message.id", "message.chat"}},
	"MESSAGE_DELETED":    {ids: []string{"chatId", "messageId"}},
	"GENERATION_STARTED": {hear: "generation", content: "generation", ids: []string{"chatId", "generationId"}},
	"GENERATION_ENDED":   {hear: "generation", content: "generation", ids: []string{"chatId", "generationId"}},
	"GENERATION_STOPPED": {hear: "generation", content: "generation", ids: []string{"chatId", "generationId"}},
	"COUNCIL_STARTED":    {ids: []string{"chatId", "memberCount"}},
	"COUNCIL_MEMBER_DONE": {content: "generation", ids: []string{
		"chatId", "memberId", "memberName", "memberItemId", "memberAvatarUrl",
	}},
	"COUNCIL_COMPLETED": {ids: []string{"chatId", "totalDurationMs", "resultCount"}},
	"COUNCIL_TOOLS_FAILED": {content: "generation", ids: []string{
		"generationId", "chatId", "successCount", "failedCount",
	}},
	"STREAM_TOKEN_RECEIVED": {hear: "generation", content: "generation", ids: []string{"chatId", "generationId"}},
}

// outgoing is an event as plugins receive it: whole, or with ids alone.
type outgoing struct {
	name  string
	rule  eventRule
	whole json.RawMessage
	ids   func() json.RawMessage
}

// outgoingOf writes an event's payload. The error is for an event without a rule,
// and for a payload that is no JSON.
func outgoingOf(name string, payload any) (outgoing, error) {
	rule, ok := eventRules[name]
	if !ok {
		return outgoing{}, errors.New("there is no rule for it")
	}
	whole, err := json.Marshal(payload)
	return outgoing{name, rule, whole, sync.OnceValue(func() json.RawMessage { return idsOf(whole, rule.ids) })}, err
}

// idsOf is an object with nothing but what lies at paths, which name at most one
// object within the payload.
func idsOf(raw json.RawMessage, paths []string) json.RawMessage {
	var all map[string]any
	out := map[string]any{}
	if json.Unmarshal(raw, &all) != nil {
		return json.RawMessage("{}")
	}
	for _, path := range paths {
		outer, inner, nested := strings.Cut(path, ".")
		value, there := all[outer]
		if !there {
			continue
		}
		if !nested {
			out[outer] = value
			continue
		}
		from, ok := value.(map[string]any)
		if !ok {
			continue
		}
		if found, there := from[inner]; there {
			into, ok := out[outer].(map[string]any)
			if !ok {
				into = map[string]any{}
				out[outer] = into
			}
			into[inner] = found
		}
	}
	ids, err := json.Marshal(out)
	if err != nil { // what was read can be written
		return json.RawMessage("{}")
	}
	return ids
}

// deliver sends an event to one process: the one place that does, so that every
// plugin receives what its permissions let it read, and nothing else.
func (s *session) deliver(t outgoing) {
	s.surface.mu.Lock()
	listens := s.surface.listens[t.name]
	s.surface.mu.Unlock()
	h, id := s.r.h, s.r.e.id
	if !listens || t.rule.hear != "" && !h.Hooks.granted(id, t.rule.hear) {
		return
	}
	payload := t.whole
	if t.rule.content == "" || !h.Hooks.granted(id, t.rule.content) {
		payload = t.ids()
	}
	s.surface.touched.Store(true)
	if err := s.sendEvent(t.name, payload); err != nil {
		h.o.Log.Debug("an event did not reach a plugin", "plugin", id, "event", t.name, "err", err)
	}
}

// Publish sends an event of Conclave to the plugins that subscribed to it, with the
// fields that each may know (eventRules). It returns at once.
func (k *Hooks) Publish(event string, payload any) {
	t, err := outgoingOf(event, payload)
	if err != nil {
		k.h.o.Log.Warn("an event cannot be sent to plugins", "event", event, "err", err)
		return
	}
	for _, e := range k.servingEntries() {
		e.queued.pass(t)
	}
}

// HasSubscriber reports whether any plugin subscribed to an event, or had when it last
// ran, so that callers need not make an event for nobody.
func (k *Hooks) HasSubscriber(event string) bool {
	return slices.ContainsFunc(k.h.all(), func(e *entry) bool {
		now := e.now()
		return now.serving != nil && slices.Contains(now.reasons(), "event "+event)
	})
}
