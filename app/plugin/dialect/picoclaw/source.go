package picoclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/plugin"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// Lender has the hook processes; the plugin host is the real one.
type Lender interface {
	// Ready waits for plugins that are loading and may be of a dialect.
	Ready(ctx context.Context, dialect string)
	// Enlisted returns the approved plugins of a dialect that are switched on.
	Enlisted(dialect string) []plugin.Enlisted
	// Borrow returns the backend of a plugin, which it starts first.
	Borrow(ctx context.Context, id string) (b plugin.Backend, release func(), err error)
	// Inject takes up tools that a plugin injects; see host.Host.
	Inject(ctx context.Context, id string, tools []tool.Tool) (map[string]tool.Tool, tool.Invoker, error)
	WriteLog(id, level, text string)
}

// Source asks hook processes at the points of a turn. It is safe for concurrent use.
type Source struct {
	hook.None
	lender Lender
	turns  *turns
}

var (
	_ hook.Source = (*Source)(nil)
	_ hook.Serial = (*Source)(nil)
)

// Source returns what asks the hook processes that lender has.
func (d *Dialect) Source(lender Lender) *Source { return &Source{lender: lender, turns: &d.turns} }

// What hooks decide about requests, answers and calls.
type (
	requestVerdict = hook.Verdict[model.Request]
	answerVerdict  = hook.Verdict[chat.Message]
	callVerdict    = hook.Verdict[hook.Call]
)

// hooked is one hook at a stage.
type hooked struct {
	plugin.Enlisted
	process Process
	order   uint64
	s       *Source
}

// hooks returns those with a mode and the permission for it, in the order in which they
// are asked but for their priorities: by name. broken wants those too that should run
// and do not.
func (s *Source) hooks(permission string, broken bool, mode func(Process) bool) []hooked {
	var all []hooked
	for _, e := range s.lender.Enlisted(Name) {
		p := ProcessOf(e.Manifest)
		if (e.Broken == nil || broken) && mode(p) && slices.Contains(e.Granted, permission) {
			all = append(all, hooked{e, p, 0, s})
		}
	}
	slices.SortFunc(all, func(a, b hooked) int {
		return cmp.Or(cmp.Compare(a.process.Name, b.process.Name), cmp.Compare(a.ID, b.ID))
	})
	for i := range all {
		all[i].order = uint64(i)
	}
	return all
}

// Serial implements hook.Serial: one call of a message is over before the next begins
// (contracts/picoclaw-hooks, section 7.1).
func (s *Source) Serial(ctx context.Context, _ hook.TurnInfo) bool {
	s.lender.Ready(ctx, Name)
	return len(s.hooks(gate.ToolCalls, false, func(p Process) bool { return p.Tools() || p.Approves() })) > 0
}

// errNotOurs is of a connection that another dialect made.
var errNotOurs = errors.New("its process is no hook process")

// ask asks the hook, within its time.
func (h hooked) ask(ctx context.Context, method string, within time.Duration, params any) (answer, error) {
	borrowed, release, err := h.s.lender.Borrow(ctx, h.ID)
	if err != nil {
		return answer{}, err
	}
	defer release()
	c, ok := borrowed.(*connection)
	if !ok {
		return answer{}, errNotOurs
	}
	raw, err := c.client.within(ctx, within, method, params)
	if errors.Is(err, errSlow) {
		err = &slowError{within}
	}
	if err != nil {
		return answer{}, err
	}
	a, err := readAnswer(raw)
	if err == nil && a.fromSite() {
		c.log("warn", "This script speaks the documentation site's dialect, which no release of PicoClaw speaks: "+
			"answer with “action”, “result” and “approved” instead.")
	}
	return a, err
}

// failed writes into the hook's log that it did not answer as it should.
func (h hooked) failed(method string) func(error) {
	return func(err error) {
		h.s.lender.WriteLog(h.ID, "error", fmt.Sprintf("%s failed, so it was passed over: %v.", method, err))
	}
}

// unknown writes into the hook's log that it asked for something that is not done.
func (h hooked) unknown(action, method string) string {
	said := fmt.Sprintf("%s asked for an action that Conclave does not know at %s: %s", h.process.Name, method,
		excerpt(action))
	h.s.lender.WriteLog(h.ID, "warn", said+". Its answer was passed over.")
	return said + "."
}

// The actions of section 7.
const (
	actContinue  = "continue"
	actModify    = "modify"
	actRespond   = "respond"
	actDeny      = "deny_tool"
	actAbort     = "abort_turn"
	actHardAbort = "hard_abort"
)

// common is the verdict of an answer whose action has nothing to do with the stage.
// applies says that its payload counts.
func common[T any](h hooked, a answer, method string) (v hook.Verdict[T], applies bool) {
	switch a.Action {
	case "", actContinue, actModify:
		return v, true
	case actAbort, actHardAbort:
		v.Action, v.Reason, v.Undo = hook.Stop, a.Reason, a.Action == actHardAbort
		return v, false
	}
	v.Notes = []string{h.unknown(a.Action, method)}
	return v, false
}

// steps returns a step for each hook.
func steps[T any](hooks []hooked, method string,
	do func(ctx context.Context, h hooked, value T) (hook.Verdict[T], error),
) []hook.Step[T] {
	var all []hook.Step[T]
	for _, h := range hooks {
		all = append(all, hook.Step[T]{
			Owner: hook.Owner{ID: h.ID, Title: h.process.Name}, Phase: hook.Change, Priority: h.process.Priority, Order: h.order,
			Do:     func(ctx context.Context, value T) (hook.Verdict[T], error) { return do(ctx, h, value) },
			Failed: h.failed(method),
		})
	}
	return all
}

// object unmarshals a payload that has to be an object.
func object(raw json.RawMessage, into any) error {
	if !isObject(raw) {
		return errors.New("its answer holds something else than an object")
	}
	return json.Unmarshal(raw, into)
}
