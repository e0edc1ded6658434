package httptools

import (
	"cmp"
	"context"
	"encoding/json"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"
)

// Others gives programs the tools of N.E.K.O plugins that Conclave itself runs. All fields are
// required.
type Others struct {
	Dialect string // the name of the plugins' dialect
	Tools   *tool.Registry
	Host    Host
	Calls   *call.Runner
}

// List returns the tools.
func (o Others) List() []Other {
	var all []Other
	names := map[string]string{}
	for _, t := range o.Tools.Set().Tools() {
		if t.Dialect != o.Dialect || t.Visibility == tool.Hidden {
			continue
		}
		if names[t.Plugin] == "" {
			s, err := o.Host.Status(t.Plugin)
			if err != nil {
				continue
			}
			names[t.Plugin] = cmp.Or(s.Manifest.Identity, t.Plugin)
		}
		all = append(all, Other{
			Plugin: names[t.Plugin], Name: t.Name, Description: t.Description, Role: t.Role, ID: t.ID(),
		})
	}
	return all
}

// Call calls a tool for a program, like all calls; the gate decides about the program as a caller. by
// is the program's name, empty where the system does not know it.
func (o Others) Call(ctx context.Context, by string, other Other, arguments string) (Outcome, error) {
	r, err := o.Calls.Do(ctx, call.Turn{
		TurnInfo:   hook.TurnInfo{Caller: gate.Caller("http:" + by), Kind: "normal"},
		CallerName: cmp.Or(by, "a program"), Tools: o.Tools.Set(),
	}, other.ID, arguments, call.Extra{})
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Text: chat.TextOf(r.Content), Value: r.Value}
	switch r.Status {
	case chat.CallOK:
	case chat.CallTimeout:
		out.TimedOut = true
	default:
		out.Failed, out.Text, out.Kind = true, r.Error, cmp.Or(r.ErrorType, string(r.Status))
	}
	return out, nil
}

// RegisteredBy returns a sentence, without a full stop, about the program that answers for a
// registered tool, by its record in the store.
func RegisteredBy(id string, record json.RawMessage) string {
	var r Registration
	if json.Unmarshal(record, &r) != nil {
		return "A program answers for the tool " + id
	}
	return "A program at " + r.CallbackURL + " answers for the tool " + r.Name
}
