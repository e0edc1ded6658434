package hook

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

// Point is a moment at which hooks run.
type Point = chat.HookPoint

// The points, in the order in which a turn comes to them. Macros get their values in
// the first phase of before model.
const (
	BeforeModel = chat.HookBeforeModel
	BeforeRound = chat.HookBeforeRound
	AfterModel  = chat.HookAfterModel
	BeforeTool  = chat.HookBeforeTool
	Approve     = chat.HookApprove
	AfterTool   = chat.HookAfterTool
)

// Phase orders the steps of one point; within a phase, their priorities do.
type Phase int

// The phases of before model; other points have one.
const (
	Fill    Phase = iota // macros get their values
	Context              // handlers of the context, which may call the turn off
	Change               // everything else
)

// Owner identifies the plugin, or the part of Conclave, that a step belongs to.
type Owner struct {
	ID    string // a plugin's id, or conclave
	Title string // its name, for a person
}

// Conclave is the owner of steps that come with the program.
var Conclave = Owner{ID: "conclave", Title: "Conclave"}

// Step is one hook at one point.
type Step[T any] struct {
	Owner    Owner
	Phase    Phase
	Priority int    // lower runs first
	Order    uint64 // of registration, among all
	// Do looks at v and returns what is to be done. It must not change what v refers
	// to. An error says that the step failed: it changes nothing then.
	Do func(ctx context.Context, v T) (Verdict[T], error)
	// Failed, when not nil, is called with a failure, for the owner's log.
	Failed func(err error)

	required bool // where it fails, the turn ends
}

// Verdict holds what a step returns. The zero value changes nothing, and the next step
// runs.
type Verdict[T any] struct {
	Action Action
	Value  T        // Changed, Answer: in place of what was given
	Reason string   // Ask, Deny, Stop: a sentence
	Calls  bool     // Changed, after model: the calls of Value count, not its text alone
	Undo   bool     // Stop: what was said in the turn is taken back too
	Notes  []string // sentences for the person
	// Origins are those of text that the step put in and that is not its owner's.
	Origins []chat.Origin
}

// Action describes what a step decided.
type Action = chat.HookAction

// The actions.
const (
	Unchanged = chat.HookLooked
	Changed   = chat.HookChanged
	Answer    = chat.HookAnswered // Value holds the result; no later step runs
	Own       = chat.HookOwn      // no later step runs
	Instead   = chat.HookInstead  // Value holds a result for another's tool; no later step runs
	Ask       = chat.HookAsked    // Value holds why; the next step runs
	Deny      = chat.HookDenied   // no later step runs
	Stop      = chat.HookStopped  // no later step runs
	Failed    = chat.HookFailed   // in a trace only, as TimedOut
	TimedOut  = chat.HookTimedOut
)

// Trace records what one step did, so that a person can see who changed a turn. Points.Steps
// makes of it what is kept.
type Trace struct {
	Point  Point
	Owner  Owner
	Action Action
	Reason string
	Notes  []string
	Took   time.Duration

	origins []chat.Origin
	change  func() (before, after [][]section) // Changed: what the step was given, and what it gave back
}

// Notes returns the notes for the person in a trace.
func Notes(trace []Trace) []string {
	var notes []string
	for _, one := range trace {
		notes = append(notes, one.Notes...)
	}
	return notes
}

// Origins returns whose text a trace brought: that of plugins which changed something,
// answered, or said why not.
func Origins(trace []Trace) []chat.Origin {
	var all []chat.Origin
	for _, one := range trace {
		switch one.Action {
		case Changed, Answer, Own, Instead, Ask, Deny, Stop:
			if one.Owner != Conclave {
				all = chat.AddOrigins(all, chat.NewOrigin(chat.FromPlugin, one.Owner.Title))
			}
			all = chat.AddOrigins(all, one.origins...)
		}
	}
	return all
}

// outcome describes how a row of steps ended.
type outcome[T any] struct {
	value T
	by    Owner
	last  Verdict[T] // Answer, Deny or Stop, or the zero value
	trace []Trace
	calls bool // a step's calls count
}

// run has each step look at v, in their order. guard says that a step that fails
// denies. text puts a value as a person compares two. The error is the cause of ctx's end.
func run[T any](ctx context.Context, at Point, steps []Step[T], v T, guard bool,
	text func(T) [][]section,
) (outcome[T], error) {
	slices.SortStableFunc(steps, func(a, b Step[T]) int {
		return cmp.Or(cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Order, b.Order))
	})
	end := outcome[T]{value: v}
	for _, step := range steps {
		began := time.Now()
		verdict, err := step.Do(ctx, end.value)
		if ctx.Err() != nil {
			return end, context.Cause(ctx)
		}
		if err != nil {
			if step.Failed != nil {
				step.Failed(err)
			}
			verdict = Verdict[T]{Action: Failed, Reason: err.Error()}
			if errors.Is(err, context.DeadlineExceeded) {
				verdict.Action = TimedOut
			}
		}
		if verdict.Action != Unchanged || len(verdict.Notes) > 0 || step.Owner != Conclave {
			t := Trace{
				Point: at, Owner: step.Owner, Action: verdict.Action, Reason: verdict.Reason, Notes: verdict.Notes,
				Took: time.Since(began), origins: verdict.Origins,
			}
			if verdict.Action == Changed {
				was, now := end.value, verdict.Value
				t.change = func() (before, after [][]section) { return text(was), text(now) }
			}
			end.trace = append(end.trace, t)
		}
		switch verdict.Action {
		case Changed, Ask:
			end.value, end.calls = verdict.Value, end.calls || verdict.Calls
		case Answer, Own, Instead, Deny:
			end.by, end.last = step.Owner, verdict
			return end, nil
		case Stop:
			return end, CallOff(step.Owner, verdict.Reason, verdict.Undo)
		case Failed, TimedOut:
			if step.required {
				return end, Refuse("The hook "+step.Owner.Title+" is required and failed, so the answer was stopped: "+
					strings.TrimRight(verdict.Reason, ".")+".", OptionalHint(step.Owner.ID))
			}
			if guard {
				end.by, end.last = step.Owner, Verdict[T]{
					Action: Deny, Reason: step.Owner.Title + " could not say whether it may run",
				}
				return end, nil
			}
		case Unchanged:
		}
	}
	return end, nil
}

// Stopped is the cause of the error of a point at which a hook called the turn off, or Conclave did
// since one that is required does not take part.
type Stopped struct {
	By     Owner
	Reason string // a sentence; empty when it gave none
	Undo   bool   // what was said in the turn is taken back
}

// Refuse returns the error of a turn that Conclave stops: a fault of kind unavailable around a *Stopped.
func Refuse(message, hint string) error {
	return fault.Wrap(fault.Unavailable, "hook", message, hint, &Stopped{By: Conclave, Reason: message})
}

// OptionalHint returns how a person has answers go on without the hooks of a plugin.
func OptionalHint(id string) string {
	return "Mend it, or have answers go on without it: conclave plugins require " + id + " --off"
}

// Error returns a sentence.
func (s *Stopped) Error() string {
	if s.By == Conclave {
		return s.Reason
	}
	if s.Reason == "" {
		return s.By.Title + " called the answer off."
	}
	return s.By.Title + " called the answer off: " + strings.TrimRight(s.Reason, ".") + "."
}

// CallOff returns the error of a turn that by called off: a fault of kind canceled around a
// *Stopped.
func CallOff(by Owner, reason string, undo bool) error {
	s := &Stopped{by, reason, undo}
	return fault.Wrap(fault.Canceled, "hook", s.Error(), "Turn the plugin off if you did not want that.", s)
}

// errNoAction is of a step that wants more than its point allows.
var errNoAction = errors.New("it wants something that cannot be done here")
