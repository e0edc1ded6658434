// Package toolport opens and closes the port at which programs of this computer register tools: as
// the settings want it, or for as long as a command lasts. What programs register is package
// httptools'. Read Port.Follow first.
package toolport

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/net/loopback"
)

// Pool holds what programs registered; httptools.Pool is the real one, an adapter.
type Pool interface {
	Handler() http.Handler
	// Start offers what was registered, and Stop takes it back.
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	// On reports whether it is offered.
	On() bool
	// RolesChanged removes tools of roles that are gone.
	RolesChanged(ctx context.Context) error
	Close()
}

// Keys stores the token that programs must send; keys.Store is the real one, an adapter.
type Keys interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, key string) error
	Delete(ctx context.Context, name string) error
}

// Options configure a Port. All fields are required.
type Options struct {
	Pool     Pool
	Settings *settings.Current
	Keys     Keys
	Bus      *bus.Bus
	Log      *slog.Logger
}

// Port is the port at which programs register tools. What they registered is offered while the port
// is open, or the settings have it open. Use New. It is safe for concurrent use.
type Port struct {
	// TryAgain is the pause between two attempts to open a port that another program has; New sets 3 s.
	TryAgain time.Duration

	o      Options
	server *loopback.Server
	token  atomic.Pointer[string]

	applying sync.Mutex // orders what settings and commands want

	mu      sync.Mutex // guards the fields below
	port    int        // that is open because of the settings; 0 is none
	release func()
	served  []string  // the addresses of the ports that commands have open
	trouble error     // why it is not open
	refused error     // the program that the token kept out last
	looked  time.Time // when that was found out
}

// New returns a closed port.
func New(o Options) *Port {
	p := &Port{o: o, TryAgain: 3 * time.Second}
	p.server = loopback.New(loopback.Options{
		Handler: o.Pool.Handler(), Log: o.Log, Refused: p.keptOut,
		Token: func() string {
			if token := p.token.Load(); token != nil {
				return *token
			}
			return ""
		},
	})
	return p
}

// How long Address names a program that the token kept out, and how often it is looked for: finding
// the program takes some ten milliseconds.
const (
	refusedTime  = 5 * time.Minute
	refusedPause = time.Second
)

// keptOut notes which program was refused because it lacks the token: its person waits for tools that
// do not come.
func (p *Port) keptOut(r *http.Request) {
	p.mu.Lock()
	soon := time.Since(p.looked) < refusedPause
	if !soon {
		p.looked = time.Now()
	}
	p.mu.Unlock()
	if soon {
		return
	}
	by := "A program"
	if program, ok := loopback.Caller(r); ok && program.Name != "" {
		by = program.Name
	}
	how := "carries no token"
	if r.Header.Get("Authorization") != "" {
		how = "carries another token than yours"
	}
	refused := fault.New(fault.NotAllowed, "toolport", by+" was refused: it "+how+".",
		"Give it yours, as “Authorization: Bearer TOKEN”; conclave http token makes a new one.")
	p.mu.Lock()
	same := p.refused != nil && p.refused.Error() == refused.Error()
	p.refused = refused
	p.mu.Unlock()
	if !same {
		p.o.Bus.Changed(bus.Settings, "")
	}
}

// Restore brings back what was registered, if the settings have the port open.
func (p *Port) Restore(ctx context.Context) error {
	set, err := p.o.Settings.Settings(ctx)
	if err != nil || !set.HTTPTools {
		return err
	}
	return p.o.Pool.Start(ctx)
}

// Follow opens and closes the port as the settings want it, until ctx ends. A port that another
// program has is tried again until it is free. The window calls it, and commands that last.
func (p *Port) Follow(ctx context.Context) {
	changed := p.o.Bus.Subscribe(bus.Settings, bus.Councils)
	defer changed.Close()
	p.apply(ctx)
	for {
		wait, enough := p.patience(ctx)
		notices, err := changed.Next(wait)
		enough()
		switch {
		case ctx.Err() != nil:
			return
		case wait.Err() != nil && err != nil:
			p.apply(ctx)
		}
		for _, n := range notices {
			if n.Topic == bus.Councils {
				p.rolesChanged(ctx)
			} else {
				p.apply(ctx)
			}
		}
	}
}

// patience bounds ctx while there is a port to try again.
func (p *Port) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.trouble == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, p.TryAgain)
}

func (p *Port) rolesChanged(ctx context.Context) {
	if !p.o.Pool.On() {
		return
	}
	if err := p.o.Pool.RolesChanged(ctx); err != nil && ctx.Err() == nil {
		p.o.Log.Warn("tools of roles that are gone could not be removed", "err", err)
	}
}

// apply brings the port in line with the settings.
func (p *Port) apply(ctx context.Context) {
	p.applying.Lock()
	defer p.applying.Unlock()
	set, err := p.o.Settings.Settings(ctx)
	if err != nil {
		return // the settings page says so
	}
	wanted := 0
	if set.HTTPTools {
		wanted = set.HTTPPort
	}
	p.mu.Lock()
	port, release, trouble := p.port, p.release, p.trouble
	p.mu.Unlock()
	if port == wanted && trouble == nil {
		return
	}
	if release != nil {
		release()
	}
	port, release, err = 0, nil, nil
	if wanted != 0 {
		if _, release, err = p.open(ctx, wanted); err == nil {
			port = wanted
		}
	}
	same := err != nil && trouble != nil && err.Error() == trouble.Error()
	p.mu.Lock()
	p.port, p.release, p.trouble, p.refused = port, release, err, nil
	p.mu.Unlock()
	if same { // it was logged
		return
	}
	if err != nil {
		p.o.Log.Warn("the port for registering tools could not be opened", "err", err)
	}
	if wanted == 0 {
		p.withdraw(ctx)
	}
	p.o.Bus.Changed(bus.Settings, "")
}

// open opens a port, and brings back what was registered.
func (p *Port) open(ctx context.Context, port int) (address string, release func(), err error) {
	set, err := p.o.Settings.Settings(ctx)
	if err != nil {
		return "", nil, err
	}
	token := ""
	if set.HTTPToken {
		if token, err = p.o.Keys.Get(ctx, tokenName); err != nil {
			return "", nil, err // without it, programs that it keeps out would be let in
		}
	}
	p.token.Store(&token)
	address, release, err = p.server.Open(ctx, port)
	if err != nil {
		return "", nil, err
	}
	if err := p.o.Pool.Start(ctx); err != nil {
		release()
		return "", nil, err
	}
	return address, release, nil
}

// withdraw takes what was registered from models, unless a command has a port open.
func (p *Port) withdraw(ctx context.Context) {
	p.mu.Lock()
	open := len(p.served) > 0
	p.mu.Unlock()
	if open {
		return
	}
	if err := p.o.Pool.Stop(ctx); err != nil && ctx.Err() == nil {
		p.o.Log.Warn("what was registered could not be withdrawn", "err", err)
	}
}

// Serve opens a port until stop is called; 0 is that of the settings.
func (p *Port) Serve(ctx context.Context, port int) (address string, stop func(), err error) {
	p.applying.Lock()
	defer p.applying.Unlock()
	set, err := p.o.Settings.Settings(ctx)
	if err != nil {
		return "", nil, err
	}
	address, release, err := p.open(ctx, cmp.Or(port, set.HTTPPort))
	if err != nil {
		return "", nil, err
	}
	p.mu.Lock()
	p.served = append(p.served, address)
	p.mu.Unlock()
	return address, sync.OnceFunc(func() {
		release()
		p.applying.Lock()
		defer p.applying.Unlock()
		p.mu.Lock()
		at := slices.Index(p.served, address)
		p.served = slices.Delete(p.served, at, at+1)
		p.mu.Unlock()
		ctx := context.Background() // the command has ended
		if set, err := p.o.Settings.Settings(ctx); err == nil && !set.HTTPTools {
			p.withdraw(ctx)
		}
	}), nil
}

// Address returns where programs register tools, because of the settings or of a command that serves.
// The error is why the port is not open, or which program was refused lately. Both are empty while no
// port is open.
func (p *Port) Address() (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := ""
	switch {
	case p.port != 0:
		at = loopback.Address(p.port)
	case len(p.served) > 0:
		at = p.served[len(p.served)-1]
	}
	switch {
	case at == "" || p.port == 0 && p.trouble != nil:
		return at, p.trouble
	case time.Since(p.looked) < refusedTime:
		return at, p.refused
	}
	return at, nil
}

// tokenName is the name under which the token is stored. No connection can have it.
const tokenName = "@http"

// SetToken makes a new token that programs must send, and returns it; or lets them register without
// one.
func (p *Port) SetToken(ctx context.Context, wanted bool) (string, error) {
	token := ""
	if wanted {
		token = rand.Text()
		if err := p.o.Keys.Set(ctx, tokenName, token); err != nil {
			return "", err
		}
	}
	if _, err := p.o.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.HTTPToken = wanted }); err != nil {
		return "", err
	}
	p.token.Store(&token)
	p.mu.Lock()
	p.refused = nil
	p.mu.Unlock()
	if wanted {
		return token, nil
	}
	return "", p.o.Keys.Delete(ctx, tokenName)
}

// Listens reports whether port is open.
func (p *Port) Listens(port int) bool { return slices.Contains(p.server.Ports(), port) }

// Close closes all ports and the pool.
func (p *Port) Close() {
	p.server.Close()
	p.o.Pool.Close()
}
