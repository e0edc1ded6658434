package gate

import (
	"context"
	"encoding/json"

	"conclave/app/tool"
)

// spending is the name of the tool that what a plugin spends is shown as; no tool has it.
const spending = "(models)"

// Spend asks whether a plugin that spent what it may on models in a day may spend as much
// again; why says what it spent, without its full stop. behalf is the call that it works on,
// as far as that is known.
func (g *Gate) Spend(ctx context.Context, plugin, why string, behalf Call) Decision {
	arguments, err := json.Marshal(map[string]string{"spent": why})
	if err != nil {
		arguments = json.RawMessage(`{}`)
	}
	return g.Decide(ctx, Call{
		ID: newID("spending"), Caller: Caller("plugin:" + plugin), Permission: Generation,
		Tool:      tool.Tool{Plugin: plugin, Name: spending, Title: "ask models", Digest: spending},
		Arguments: arguments, Capabilities: []Capability{CallModel}, Because: []string{why},
		Conversation: behalf.Conversation, Turn: behalf.Turn, Asker: behalf.Asker,
	}).asAsked()
}
