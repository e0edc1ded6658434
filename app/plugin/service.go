package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/plugin/wire"
)

// Caller is the plugin on whose behalf a service acts.
type Caller struct {
	Plugin       string // folder identity
	Name         string // display name
	Contract     string
	Code         string              // digest of the files its process was started from; empty until they were compared after it read them
	Call         string              // id of the open call it acts in; empty outside of calls
	Conversation chat.ConversationID // of that call; empty outside of calls

	// Granted reports whether the person granted it a permission. Tell sends its
	// process an event; the service's answer may overtake it. Both may be nil in
	// tests.
	Granted func(permission string) bool
	Tell    func(event string, payload any) error
}

// Service answers one capability that plugins ask Conclave for (docs/WIRE.md,
// section 5), on behalf of a caller. Its errors are faults: NotAllowed reaches
// the plugin as denied, Invalid, NotFound and Unavailable under their names, any
// other as failed. It must be safe for concurrent use.
type Service struct {
	// Permission is what the person must have granted the plugin, in the words of
	// permit; empty needs none.
	Permission string
	// Do acts. The value is marshalled as JSON.
	Do func(ctx context.Context, by Caller, args json.RawMessage) (any, error)
}

// serve runs the service of a capability, when the plugin may use it.
func (r *runner) serve(ctx context.Context, capability string, args json.RawMessage, call string) (any, error) {
	s, ok := r.h.o.Services[capability]
	if !ok || r.e.bare {
		return nil, hostError("unavailable", capability+" is not available in Conclave.")
	}
	if s.Permission != "" {
		granted, _ := r.h.o.Gate.Permissions(r.e.id)
		if !slices.Contains(granted, s.Permission) {
			r.e.refused([]Refusal{{Permission: s.Permission}})
			return nil, hostError("denied", "PERMISSION_DENIED: "+s.Permission)
		}
	}
	m := r.version().manifest
	by := Caller{Plugin: r.e.id, Name: m.Name, Contract: m.Contract, Call: call,
		Granted: func(permission string) bool { return r.h.granted(r.e.id, permission) }}
	if asks := sessionOf(ctx); asks != nil {
		by.Conversation, by.Tell = asks.surface.conversation(call), asks.tell
		if code := asks.code.Load(); code != nil {
			by.Code = *code
		}
	}
	value, err := s.Do(ctx, by, args)
	r.e.learn(capability, args, value)
	return value, asServiceError(err)
}

func asServiceError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.HostError](err); ok {
		return e
	}
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return err // answered as failed, without its text
	}
	kind := map[fault.Kind]string{
		fault.NotAllowed: "denied", fault.Invalid: "invalid", fault.NotFound: "not_found", fault.Unavailable: "unavailable",
	}[f.Kind]
	if kind == "" {
		kind = "failed"
	}
	return hostError(kind, f.Message)
}
