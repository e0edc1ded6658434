package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/wire"
)

// host answers a conclave/host request of the process.
func (s *session) host(ctx context.Context, service string, args json.RawMessage, call string) (any, error) {
	r := s.r
	if operation, is := strings.CutPrefix(service, "storage."); is {
		if (operation == "write" || operation == "mkdir") && r.e.quota.full(r.h.o.storage(r.e.id), nil) {
			return nil, hostError("failed", storageFull)
		}
		return storage(r.h.o.storage(r.e.id), operation, args)
	}
	switch service {
	case "hooks.register", "hooks.unregister", "hooks.answer", "events.subscribe", "events.unsubscribe":
		var a hookArgs
		if err := json.Unmarshal(args, &a); err != nil {
			return nil, hostError("invalid", "The arguments of "+service+" cannot be read.")
		}
		return struct{}{}, s.register(service, a)
	case "load.left":
		return s.load.left(), nil
	case "files.change":
		return s.changeFile(ctx, args, call)
	case "programs.start", "programs.write", "programs.read", "programs.kill":
		return s.program(ctx, service, args, call)
	case "options.secret":
		return r.secret(ctx, args)
	case "permissions.granted":
		granted, _ := r.h.o.Gate.Reach.Permissions(r.e.id)
		return map[string][]string{"granted": append([]string{}, granted...)}, nil
	}
	return s.serve(ctx, service, args, call)
}

// serve runs a service of Conclave, when the plugin may use it.
func (s *session) serve(ctx context.Context, name string, args json.RawMessage, call string) (any, error) {
	r, v := s.r, s.r.version()
	service, ok := v.facts().Services[name]
	if !ok {
		service, ok = r.h.o.Services[name]
	}
	if !ok || r.e.preview && !service.Pure {
		return nil, hostError("unavailable", name+" is not available in Conclave.")
	}
	if service.Permission != "" && !r.h.Hooks.granted(r.e.id, service.Permission) {
		r.e.refused([]plugin.Refusal{{Permission: service.Permission}})
		return nil, hostError("denied", "PERMISSION_DENIED: "+service.Permission)
	}
	if service.Keeps {
		s.keeps(true)
	}
	by := plugin.Caller{
		Plugin: r.e.id, Name: v.manifest.Name, Dialect: v.manifest.Dialect, Call: call,
		Conversation: s.surface.conversation(call), Open: s.surface.openCalls(), Tell: s.sendEvent,
		Granted: func(permission string) bool { return r.h.Hooks.granted(r.e.id, permission) },
		Read:    r.e.memory.authors, Gave: r.e.memory.gave,
	}
	if code := s.code.Load(); code != nil {
		by.Code = *code
	}
	value, err := service.Do(ctx, by, args)
	r.e.redactor.learn(name, args, value)
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
