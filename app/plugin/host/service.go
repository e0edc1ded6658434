package host

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/wire"
)

// serve runs a service of Conclave, when the plugin may use it.
func (r *runner) serve(ctx context.Context, service string, args json.RawMessage, call string) (any, error) {
	s, ok := r.version().facts().Services[service]
	if !ok {
		s, ok = r.h.o.Services[service]
	}
	if !ok || r.e.preview && !s.Pure {
		return nil, hostError("unavailable", service+" is not available in Conclave.")
	}
	if s.Permission != "" {
		granted, _ := r.h.o.Gate.Reach.Permissions(r.e.id)
		if !slices.Contains(granted, s.Permission) {
			r.e.refused([]plugin.Refusal{{Permission: s.Permission}})
			return nil, hostError("denied", "PERMISSION_DENIED: "+s.Permission)
		}
	}
	if asks := sessionOf(ctx); asks != nil && s.Keeps {
		asks.keeps(true)
	}
	m := r.version().manifest
	by := plugin.Caller{
		Plugin: r.e.id, Name: m.Name, Dialect: m.Dialect, Call: call,
		Granted: func(permission string) bool { return r.h.Hooks.granted(r.e.id, permission) },
		Read:    r.e.memory.authors, Gave: r.e.memory.gave,
	}
	if asks := sessionOf(ctx); asks != nil {
		by.Conversation, by.Open = asks.surface.conversation(call), asks.surface.openCalls()
		by.Tell = asks.sendEvent
		if code := asks.code.Load(); code != nil {
			by.Code = *code
		}
	}
	value, err := s.Do(ctx, by, args)
	r.e.redactor.learn(service, args, value)
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
