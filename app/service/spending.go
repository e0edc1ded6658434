package service

import (
	"context"
	"strings"
	"sync"
	"time"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/cost"
	"conclave/app/plugin"
)

// Spending bounds what plugins have models cost; core.spending is the real one.
type Spending interface {
	// Spent and PutSpent keep what a plugin spent on the last day it did.
	Spent(ctx context.Context, plugin string) (cost.Day, error)
	PutSpent(ctx context.Context, plugin string, d cost.Day) error
	// Cap limits how much each plugin may spend in a day.
	Cap() cost.Cap
	// Price returns u with what it cost at that model. Charge counts that for what else is
	// bounded too.
	Price(model model.Info, u chat.Usage) chat.Usage
	Charge(model model.Info, u chat.Usage) chat.Usage
	// More asks the person whether a plugin may spend as much again; why says what it spent,
	// without its full stop.
	More(ctx context.Context, plugin, why string) error
}

// ledger counts what each plugin spends in a day.
type ledger struct {
	o *Options

	mu   sync.Mutex          // orders changes of the fields below
	days map[string]cost.Day // what each plugin spent, as far as that was asked for
	// reserved holds what the requests under way can cost, by plugin; paid is closed when one ends.
	reserved map[string]cost.Cap
	paid     chan struct{}
}

func newLedger(o *Options) *ledger {
	return &ledger{o: o, days: map[string]cost.Day{}, reserved: map[string]cost.Cap{}, paid: make(chan struct{})}
}

// bill is one request to a model that a plugin pays for.
type bill struct {
	s      *ledger
	by     plugin.Caller
	model  model.Info
	input  int64 // tokens, estimated
	output strings.Builder
	usage  chat.Usage // as the model says, once it has ended
	failed bool       // it was not answered, and nobody stopped it
	most   cost.Cap   // what it can come to at most, which no other request may spend
}

// longAnswer bounds the tokens of the answer to a plugin's request that sets no
// bound itself, so that several at a time find something left.
const longAnswer = 16 << 10

// charge takes a request into account. It asks the person when the plugin has no money left
// for it today, and bounds the answer by what is left.
func (s *ledger) charge(
	ctx context.Context,
	by plugin.Caller,
	model model.Info,
	r *model.Request,
) (*bill, error) {
	b := &bill{s: s, by: by, model: model, input: inputOf(r)}
	if s.o.Spending == nil {
		return b, nil
	}
	asked := false
	for {
		limit := s.o.Spending.Cap()
		day, others, err := s.reserve(ctx, b, limit, r)
		switch {
		case err != nil:
			return nil, err
		case others == nil:
			return b, nil
		}
		if _, alone := b.affords(day.Left(limit)); alone {
			select {
			case <-others: // what they leave may be enough
				continue
			case <-ctx.Done():
				return nil, modelFault(ctx, ctx.Err())
			}
		}
		why := day.Sentence(limit)
		if asked {
			return nil, refused("PERMISSION_DENIED: " + generation + " – one request would cost more than you let a " +
				"plugin spend in a day. Set what it may: conclave models cap DOLLARS.")
		}
		if err := s.o.Spending.More(ctx, by.Plugin, why); err != nil {
			return nil, err
		}
		asked = true
		if err := s.change(ctx, by.Plugin, func(d *cost.Day) { d.More = max(d.More, day.More+1) }); err != nil {
			return nil, err
		}
	}
}

// reserve keeps what a request can come to from the plugin's other requests, and bounds its
// answer by that. others is closed when one of these ends; it is nil if there was enough.
func (s *ledger) reserve(ctx context.Context, b *bill, limit cost.Cap, r *model.Request) (
	day cost.Day, others <-chan struct{}, err error,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if day, err = s.today(ctx, b.by.Plugin); err != nil {
		return day, nil, err
	}
	left, reserved := day.Left(limit), s.reserved[b.by.Plugin]
	most, enough := b.affords(cost.Cap{Dollars: left.Dollars - reserved.Dollars, Tokens: left.Tokens - reserved.Tokens})
	if !enough {
		return day, s.paid, nil
	}
	if most > 0 && r.MaxTokens == 0 {
		r.MaxTokens = longAnswer
	}
	r.MaxTokens = least(r.MaxTokens, most)
	b.most = b.upTo(r.MaxTokens)
	s.reserved[b.by.Plugin] = cost.Cap{
		Dollars: reserved.Dollars + b.most.Dollars, Tokens: reserved.Tokens + b.most.Tokens,
	}
	return day, nil, nil
}

// upTo returns what the request comes to with an answer of so many tokens; nothing where
// these cost nothing.
func (b *bill) upTo(output int64) cost.Cap {
	output = max(0, output) // nothing is paid back
	u := b.s.o.Spending.Price(b.model, chat.Usage{Input: b.input, Output: output})
	if !u.Known() {
		return cost.Cap{Tokens: b.input + output}
	}
	return cost.Cap{Dollars: u.Cost}
}

// free gives back what was reserved for the request.
func (b *bill) free() {
	s := b.s
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.reserved[b.by.Plugin]
	left.Dollars -= b.most.Dollars
	left.Tokens -= b.most.Tokens
	if s.reserved[b.by.Plugin] = left; left.Tokens <= 0 && left.Dollars < 1e-9 {
		delete(s.reserved, b.by.Plugin)
	}
	b.most = cost.Cap{}
	close(s.paid)
	s.paid = make(chan struct{})
}

// affords reports whether what is left pays for the request, and how many tokens its answer
// may then have; 0 is any number.
func (b *bill) affords(left cost.Cap) (most int64, enough bool) {
	const many = 1_000_000
	price := func(u chat.Usage) chat.Usage { return b.s.o.Spending.Price(b.model, u) }
	asked := price(chat.Usage{Input: b.input})
	if !asked.Known() {
		return left.Tokens - b.input, left.Tokens > b.input
	}
	each := price(chat.Usage{Output: many}).Cost / many
	rest := left.Dollars - asked.Cost
	switch {
	case asked.Cost == 0 && each == 0:
		return 0, true
	case each == 0:
		return 0, rest > 0
	}
	return int64(min(rest/each, many)), rest >= each
}

// least returns the smaller of two bounds; 0 is no bound.
func least(a, b int64) int64 {
	if a == 0 || b == 0 {
		return a + b
	}
	return min(a, b)
}

// pay counts what the request cost: what the model said, or as much as it came to before
// somebody stopped it.
func (b *bill) pay(ctx context.Context) {
	if b.s.o.Spending == nil {
		return
	}
	defer b.free()
	said := b.usage.Input+b.usage.Output > 0 || b.usage.Cost > 0
	switch {
	case b.failed && !said && b.output.Len() == 0:
		return
	case !said:
		b.usage = chat.Usage{Input: b.input, Output: model.Tokens(b.output.String())}
	}
	u := b.s.o.Spending.Charge(b.model, b.usage)
	err := b.s.change(context.WithoutCancel(ctx), b.by.Plugin, func(d *cost.Day) {
		d.Dollars += max(0, u.Cost) // a provider may say anything
		if !u.Known() {
			d.Tokens += max(0, u.Input) + max(0, u.Output)
		}
	})
	if err != nil {
		b.s.o.Log.Warn("what a plugin spent could not be kept", "plugin", b.by.Plugin, "err", err)
	}
}

// change changes what a plugin spent today, and keeps it.
func (s *ledger) change(ctx context.Context, id string, change func(*cost.Day)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, err := s.today(ctx, id)
	if err != nil {
		return err
	}
	change(&d)
	s.days[id] = d // also when it cannot be kept for longer
	return s.o.Spending.PutSpent(ctx, id, d)
}

// today returns what a plugin spent today. The caller holds mu.
func (s *ledger) today(ctx context.Context, id string) (cost.Day, error) {
	date := s.o.Now().Format(time.DateOnly)
	d, ok := s.days[id]
	if !ok {
		var err error
		if d, err = s.o.Spending.Spent(ctx, id); err != nil {
			return d, err
		}
	}
	if d.Date != date {
		d = cost.Day{Date: date}
	}
	s.days[id] = d
	return d, nil
}
