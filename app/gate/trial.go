package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/app/record/activity"
	"conclave/app/tool"
)

// Trial is a change of the rules or the mode that a person thinks of.
type Trial struct {
	Add    []Rule   // rules as AddRule takes them
	Remove []string // ids of rules
	Mode   Mode     // empty leaves it as it is
}

// Past is a call on record, as far as it can be decided again.
type Past struct {
	Entry activity.Entry
	Call  Call
	// Unknown says that what it was asked with is not on record, or not whole, so that it
	// cannot be decided again.
	Unknown bool
}

// Tried is one call of the past that a trial decides otherwise.
type Tried struct {
	Past
	Before Step // the step that decides as things are
	After  Step // the step that decides under the trial
}

// Outcome counts how calls are decided.
type Outcome struct {
	Allowed int `json:"allowed"`
	Asked   int `json:"asked"`
	Refused int `json:"refused"`
}

// Trialed is the result of a trial on the calls of the past.
type Trialed struct {
	Calls   int     // that could be decided again
	Unknown int     // that could not, see [Past]
	Before  Outcome // as things are
	After   Outcome // under the trial
	Changed []Tried // those with another effect, in the order of the calls
}

// TrialTime is the age up to which calls are tried, and MaxTrial their largest number.
const (
	TrialTime = 7 * 24 * time.Hour
	MaxTrial  = 2000
)

// PastCalls reads the calls of the last TrialTime from the record, the newest first and
// MaxTrial at most: those of tools that tools finds, as they are now.
func PastCalls(ctx context.Context, log activity.Log, now time.Time, tools func(id string) (tool.Tool, bool),
) ([]Past, error) {
	var all []Past
	for f := (activity.Filter{Limit: 500}); ; {
		rows, err := log.Activity(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			e, d, err := row.Read()
			if err != nil || e.Kind == activity.Called && now.Sub(e.Time) > TrialTime || len(all) == MaxTrial {
				return all, nil //nolint:nilerr // what is older than an entry that cannot be read is not looked at
			}
			f.Before = e.N
			t, there := tools(e.Tool)
			if e.Kind != activity.Called || e.Effect == "" || d == nil || !there {
				continue
			}
			all = append(all, Past{Entry: e, Unknown: d.Beginning != "" || d.Left != "", Call: Call{
				ID: fmt.Sprint(e.Call), Caller: Caller(e.Caller), Tool: t, Arguments: d.Arguments, Conversation: e.Chat,
				Turn: e.Turn, Taint: d.Origins, Because: d.Because,
			}})
		}
		if len(rows) < f.Limit {
			return all, nil
		}
	}
}

// Try decides calls of the past as things are, and as they would be under a trial. It
// changes nothing. The kind is invalid for rules that cannot be made.
func (d *Decisions) Try(t Trial, calls []Past) (Trialed, error) {
	for i := range t.Add {
		if err := d.places.ready(&t.Add[i]); err != nil {
			return Trialed{}, err
		}
	}
	placed := make([]Call, len(calls))
	for i := range calls {
		placed[i] = calls[i].Call
		d.complete(d.base, &placed[i])
	}
	f := d.lock()
	defer d.unlock()
	was, would := f.trial(Trial{}), f.trial(t)
	var out Trialed
	for i := len(calls) - 1; i >= 0; i-- { // the oldest first: rules are used up
		if calls[i].Unknown {
			out.Unknown++
			continue
		}
		before, after := was.try(placed[i]), would.try(placed[i])
		out.Calls++
		out.Before.count(before.Effect)
		out.After.count(after.Effect)
		if before.Effect != after.Effect {
			out.Changed = append(out.Changed, Tried{calls[i], before, after})
		}
	}
	slices.Reverse(out.Changed)
	return out, nil
}

// try decides one call, and counts the use of its rule.
func (f *facts) try(call Call) Step {
	if len(call.Arguments) == 0 {
		call.Arguments = noArguments
	}
	r := f.check(&call).walk()
	if rule := f.book.rule(r.rule); rule != nil && r.effect == Allow {
		rule.Uses++
	}
	return r.last()
}

func (o *Outcome) count(e Effect) {
	switch e {
	case Allow:
		o.Allowed++
	case Deny:
		o.Refused++
	default:
		o.Asked++
	}
}

// trial returns the facts of a trial, with a copy of the rules: trying a call counts the use of its
// rule. Tools do not run unattended in it: that mode ends within the hour.
func (f *facts) trial(t Trial) *facts {
	would := *f
	would.unattended, would.book = nil, &ruleBook{}
	if t.Mode != "" {
		would.mode = func() Mode { return t.Mode }
	}
	for _, rule := range f.book.rules {
		if !slices.Contains(t.Remove, rule.ID) {
			copied := *rule
			would.book.add(&copied)
		}
	}
	for i, rule := range t.Add {
		rule.ID, rule.Made = fmt.Sprintf("trial %d", i+1), f.now
		would.book.add(&rule)
	}
	return &would
}

// Sentence returns what a trial would have changed: “Of 42 calls in the last 7 days, 3 would
// have been asked about instead of 10.”
func (t Trialed) Sentence() string {
	more, were := fmt.Sprintf("%d more could not", t.Unknown), "they were"
	switch {
	case t.Unknown == 0:
		return t.summary()
	case t.Calls == 0 && t.Unknown == 1:
		more, were = "The one call in the last 7 days could not", "it was"
	case t.Calls == 0:
		more = fmt.Sprintf("None of the %d calls in the last 7 days could", t.Unknown)
	case t.Unknown == 1:
		more, were = "One more could not", "it was"
	}
	more += " be tried: what " + were + " asked with is not on record, or not whole."
	if t.Calls == 0 {
		return more
	}
	return t.summary() + " " + more
}

// summary returns what a trial would have changed for the calls that could be decided again.
func (t Trialed) summary() string {
	if t.Calls == 0 {
		return "No call of the last 7 days is on record to try it on."
	}
	calls := fmt.Sprintf("Of %d calls in the last 7 days", t.Calls)
	if t.Calls == 1 {
		calls = "Of the one call in the last 7 days"
	}
	if len(t.Changed) == 0 {
		return calls + ", nothing would have changed."
	}
	var parts []string
	if t.Before.Asked != t.After.Asked {
		parts = append(parts, fmt.Sprintf("%d would have been asked about instead of %d", t.After.Asked, t.Before.Asked))
	}
	if t.Before.Refused != t.After.Refused {
		parts = append(parts, fmt.Sprintf("%d would have been refused instead of %d", t.After.Refused, t.Before.Refused))
	}
	if len(parts) == 0 {
		return fmt.Sprintf("%s, %d would have been decided differently.", calls, len(t.Changed))
	}
	return calls + ", " + strings.Join(parts, " and ") + "."
}
