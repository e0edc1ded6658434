package window

import (
	"context"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/settings"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/cost"
	"conclave/app/plugin/host"
	"conclave/app/plugin/library"
	"conclave/app/plugin/packages"
	"conclave/app/record/undo"
	"conclave/app/service"
	"conclave/app/tool"
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

	// Secrets keeps those that plugins have sent and do not see.
	Secrets *service.Secrets

	Undo     *undo.Keeper // what calls changed, as it was
	Library  *library.Library
	Packages *packages.Installer

	Councils        *deliberation.Runner
	CouncilSettings council.Settings
	// Mask returns what takes secrets out of a text.
	Mask func(ctx context.Context) (func(string) string, error)

	// HTTP has the port at which programs register tools; may be nil.
	HTTP     HTTPTools
	Models   Connections
	Settings *settings.Current
	Info     Info
	// Toasts returns the notices of plugins after the given number.
	Toasts func(after uint64) []service.Toast
}

// Info holds what does not change while the window is open.
type Info struct {
	Version   string
	Data      string
	Plugins   string
	Logs      string
	Isolation string // what holds plugins on this system, one sentence
	Trouble   error  // what was wrong when the core opened, and was coped with
}

// HTTPTools has the port at which programs of this computer register tools.
type HTTPTools interface {
	// Address returns where they do, and why they cannot, or which of them was refused lately;
	// both are empty while the settings have it closed.
	Address() (string, error)
}

// Connections opens, lists and changes models and connections for the window. Errors
// are *fault.Error.
type Connections interface {
	Open(ctx context.Context, name string) (model.Model, error)
	// Info says what is known of a model without asking its provider.
	Info(ctx context.Context, name string) model.ModelInfo
	// Known returns the models that are known without asking anybody: the built-in
	// ones, those of the last List or Test, and those added by hand.
	Known(ctx context.Context) ([]model.ModelInfo, error)
	Connections(ctx context.Context) ([]model.Connection, error)
	Default(ctx context.Context) (string, error)
	SetDefault(ctx context.Context, name string) error
	Add(ctx context.Context, c model.Connection, key string) error
	Update(ctx context.Context, c model.Connection, key string) error
	Remove(ctx context.Context, name string) (restore func(context.Context) error, err error)
	Test(ctx context.Context, name string) (models int, took time.Duration, err error)
	// KeyStore says where keys are kept, and whether a passphrase is needed first.
	KeyStore() (sentence string, locked bool)
	// KeysFresh reports whether that passphrase is still to be chosen.
	KeysFresh() bool
	Unlock(passphrase string) error
	// Prices returns what models cost; SetPrices replaces the person's own rows.
	Prices(ctx context.Context) (cost.Table, error)
	SetPrices(ctx context.Context, own []cost.Price) error
	// SetFeatures stores what the person says that a model can do.
	SetFeatures(ctx context.Context, name string, can model.Features) error
}
