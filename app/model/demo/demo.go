// Package demo is Demo guide, the model that is there before any other: scripted,
// offline, the same answer to the same request, and honest about being no AI. It
// calls tools for real, so that everything in Conclave can be met, and tested,
// without a key.
//
// It knows nothing but the model.Request it is given, and understands exact requests only
// (command.go) and the suggestions of the window's first screen. Read Provider, then
// script.go, which decides what it does, and the texts in text/.
package demo

import (
	"context"
	"iter"
	"time"

	"conclave/app/base/language"
	"conclave/app/model"
)

// Kind is the connection kind, Name the connection's name, and Guide the id of
// the model that answers in chats: "demo/guide".
const (
	Kind  = "demo"
	Name  = "demo"
	Guide = "guide"
)

// ReadingPace is the pause between two pieces of text that reads well in a
// window: about 400 characters a second.
const ReadingPace = 12 * time.Millisecond

// slowPace is the pace of /slow: 20 pieces a second.
const slowPace = 50 * time.Millisecond

// unpaced is the pace of /stream, which is for length: none, whatever the speaker's.
const unpaced = -1

// Options say how Demo guide talks. The zero value talks without pauses, as for terminals
// and tests.
type Options struct {
	Pace time.Duration // between two pieces of text
	// Language returns the language of the person; nil is English.
	Language func() language.Language
}

// language returns the language in which the guide speaks.
func (o Options) language() language.Language {
	if o.Language == nil {
		return language.English
	}
	return o.Language()
}

// Provider is the connection to Demo guide. Use New.
type Provider struct{ options Options }

// New returns the provider.
func New(o Options) *Provider { return &Provider{o} }

// Models implements model.Provider. It returns no error.
func (p *Provider) Models(context.Context) ([]model.Info, error) {
	return []model.Info{p.Open(Guide).Info()}, nil
}

// Open implements model.Provider.
func (p *Provider) Open(id string) model.Model { return guide{p.options, id} }

type guide struct {
	options Options
	id      string
}

// Knows reports whether there is a model of that id: the guide, or one of those that play
// the sample council, which are not listed.
func Knows(id string) bool { return id == Guide || id == chair || council[id].name != "" }

// Info implements model.Model.
func (m guide) Info() model.Info {
	title := "Demo guide"
	if m.id != Guide && Knows(m.id) {
		title += ", as " + m.id
	}
	return model.Info{
		Connection: Name, ID: m.id, Title: title, Provider: Kind,
		Can: model.Features{Tools: true}, Context: 128_000, // it reads all it is given; a number for the meter
	}
}

// Stream implements model.Model.
func (m guide) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if !Knows(m.id) {
			yield(model.Event{}, &model.Error{Kind: model.ModelUnknown, Provider: Name, Model: m.id})
			return
		}
		s := &speaker{ctx: ctx, pace: m.options.Pace, yield: yield}
		s.usage.Input = estimate(r)
		if m.id == Guide {
			script(r, m.options.language()).perform(s)
		} else {
			deliberate(m.id, r).perform(s)
		}
	}
}
