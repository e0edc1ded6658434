package core

import (
	"context"
	"errors"
	"path/filepath"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/anthropic"
	"conclave/app/model/connections"
	"conclave/app/model/demo"
	"conclave/app/model/google"
	"conclave/app/model/ollama"
	"conclave/app/model/openai"
)

// models returns the models of the person's connections.
func (c *Core) models() *connections.Models {
	return connections.New(connections.Options{
		Settings: c.Settings, Keys: c.Keys, Log: c.Log, Scripted: c.o.Model,
		Provider: func(of model.Connection) (model.Provider, error) { return provider(of, c.o.Watched) },
		Lists:    filepath.Join(c.o.Data, "models.json"),
		Demo:     demo.Knows, Pull: pull, Listed: func() { c.Bus.Changed(bus.Models, "") },
		Unasked: func(ctx context.Context) context.Context { return context.WithValue(ctx, ownTerminal{}, nil) },
	})
}

// provider makes the provider of a connection. watched has Demo guide write at a pace that reads well.
func provider(c model.Connection, watched bool) (model.Provider, error) {
	switch c.Kind {
	case "demo":
		o := demo.Options{}
		if watched {
			o.Pace = demo.ReadingPace
		}
		return demo.New(o), nil
	case "openai":
		return openai.New(c, openai.Options{}), nil
	case "anthropic":
		return anthropic.New(c, anthropic.Options{}), nil
	case "google":
		return google.New(c, google.Options{}), nil
	case "ollama":
		return ollama.New(c, ollama.Options{}), nil
	}
	return nil, fault.New(fault.Invalid, "core.models", "There is no kind of connection “"+c.Kind+"”.",
		"Remove the connection "+c.Name+" and add it again.")
}

// pull has an Ollama server download a model.
func pull(ctx context.Context, server model.Connection, name string,
	progress func(status string, done, total int64),
) error {
	err := ollama.New(server, ollama.Options{}).Pull(ctx, name,
		func(p ollama.Progress) { progress(p.Status, p.Done, p.Total) })
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Fault()
	}
	return err
}

// charge returns u with its cost, which counts against the bound of tools that run unattended.
func (c *Core) charge(of model.Info, u chat.Usage) chat.Usage {
	u = c.Models.Price(of, u)
	c.Gate.Modes.Spent(u.Cost)
	return u
}
