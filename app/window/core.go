package window

import (
	"cmp"
	"context"

	"conclave/app/base/bus"
	"conclave/app/base/settings"
	"conclave/app/chat/conversation"
	"conclave/app/chat/responder"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model/connections"
	"conclave/app/plugin/host"
	"conclave/app/plugin/library"
	"conclave/app/plugin/packages"
	"conclave/app/plugin/toolport"
	"conclave/app/record/undo"
	"conclave/app/service"
	"conclave/app/tool"
	"conclave/app/tool/elicit"
	"conclave/app/tool/mcpserver"
)

// Core holds the parts of Conclave that the window uses; package core makes them.
type Core struct {
	Bus           *bus.Bus
	Store         Store
	Turns         *turn.Runner // shows what a model was told, and names chats
	Conversations *conversation.Owner
	Tools         *tool.Registry
	Host          *host.Host
	Gate          *gate.Gate
	Elicit        *elicit.Desk // what plugins ask the person

	// Secrets keeps those that plugins have sent and do not see.
	Secrets *service.Secrets

	Undo     *undo.Keeper // what calls changed, as it was
	Library  *library.Library
	Packages *packages.Installer

	Councils        *deliberation.Runner
	CouncilSettings council.Settings
	Prompts         PromptStore
	Responder       responder.Chooser
	// Mask returns what takes secrets out of a text.
	Mask func(ctx context.Context) (func(string) string, error)

	// HTTP has the port at which programs register tools; may be nil.
	HTTP     *toolport.Port
	Programs *mcpserver.Server
	Models   *connections.Models
	Settings *settings.Current
	Info     Info
	// Backup writes a copy of the store into an empty file, and returns what is missing in it as a sentence.
	Backup func(ctx context.Context, path string) (string, error)
	// Toasts returns the notices of plugins after the given number.
	Toasts func(after uint64) []service.Toast
}

// pluginName returns the name of a plugin as a person reads it, its id if there is no such plugin.
func (c Core) pluginName(id string) string {
	s, err := c.Host.Status(id)
	if err != nil {
		return id
	}
	return cmp.Or(s.Manifest.Name, id)
}

// Info holds what does not change while the window is open.
type Info struct {
	Version   string
	Data      string
	Plugins   string
	Logs      string
	Isolation string   // what holds plugins on this system, one sentence
	Serve     []string // the command that serves other programs on standard streams
	Trouble   error    // what was wrong when the core opened, and was coped with
}
