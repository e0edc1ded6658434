package gate

import (
	"encoding/json"

	"conclave/app/record/activity"
)

// recordUse reports a decision about a permission in use to Options.Used. What was allowed with the
// call that it is for is recorded with that call.
func (g *Gate) recordUse(call *Call, d Decision) {
	if g.used == nil || call.Permission == "" || len(d.Path) == 0 || d.By == byCall {
		return
	}
	u := activity.Use{
		Time: g.now().UTC(), Permission: call.Permission, Plugin: call.Tool.Plugin, Tool: call.Tool.ID(),
		Chat: call.Conversation, Turn: call.Turn, Effect: string(d.Effect), By: d.By, Rule: d.Rule,
		Waited: float64(d.Waited.Microseconds()) / 1000, Arguments: call.Arguments, Why: d.Why,
		Path: OnRecord(d.Path),
	}
	switch call.Permission {
	case Filesystem:
		var asked openingArguments
		_ = json.Unmarshal(call.Arguments, &asked) // made by Open
		u.Place = asked.Access + " " + asked.Path
	case Network, Web:
		u.Place = hostAsked(call)
	case Listen:
		var asked listeningArguments
		_ = json.Unmarshal(call.Arguments, &asked) // made by Listen
		u.Place = asked.Address + " " + asked.Port
	}
	g.used(u)
}
