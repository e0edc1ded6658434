package core

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
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
	guide := demo.Options{Language: func() language.Language {
		set, err := c.Settings.Settings(context.Background())
		if err != nil { // whoever needs the settings says so
			return language.English
		}
		return language.Of(set.Language, os.Getenv)
	}}
	if c.o.Watched { // at a pace that reads well
		guide.Pace = demo.ReadingPace
	}
	return connections.New(connections.Options{
		Settings: c.Settings, Keys: c.Keys, Log: c.Log, Scripted: c.o.Model,
		Provider: func(of model.Connection) (model.Provider, error) { return provider(of, guide) },
		Lists:    filepath.Join(c.o.Data, "models.json"),
		Demo:     demo.Knows, Pull: pull, Listed: func() { c.Bus.Changed(bus.Models, "") },
		Unasked: func(ctx context.Context) context.Context { return context.WithValue(ctx, ownTerminal{}, nil) },
	})
}

// provider makes the provider of a connection; guide is for that of Demo guide.
func provider(of model.Connection, guide demo.Options) (model.Provider, error) {
	switch of.Kind {
	case "demo":
		return demo.New(guide), nil
	case "openai":
		return openai.New(of, openai.Options{}), nil
	case "anthropic":
		return anthropic.New(of, anthropic.Options{}), nil
	case "google":
		return google.New(of, google.Options{}), nil
	case "ollama":
		return ollama.New(of, ollama.Options{}), nil
	}
	return nil, fault.New(fault.Invalid, "core.models", "There is no kind of connection “"+of.Kind+"”.",
		"Remove the connection "+of.Name+" and add it again.")
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
