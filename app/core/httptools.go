package core

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/net/loopback"
	"conclave/app/plugin/dialect/httptools"
	"conclave/app/plugin/dialect/neko"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"
)

// HTTPTools is the port at which programs register tools: closed until the person opens
// it in the settings, or with a command for as long as that lasts. What was registered is
// offered while the port is open or the settings say that it is to be. It is safe for
// concurrent use.
type HTTPTools struct {
	c      *Core
	pool   *httptools.Pool
	server *loopback.Server
	token  atomic.Pointer[string]

	applying sync.Mutex // orders what settings and commands want

	mu      sync.Mutex // guards the fields below
	port    int        // that is open because of the settings; 0 is none
	release func()
	served  []string  // the addresses of the ports that commands have open
	trouble error     // why it is not open
	refused error     // whom the token kept out last
	looked  time.Time // when that was found out
	again   time.Duration
}

// portAgain is the pause between two tries to open a port that could not be opened.
const portAgain = 3 * time.Second

// newHTTPTools returns it closed.
func newHTTPTools(c *Core) *HTTPTools {
	h := &HTTPTools{c: c, again: portAgain}
	h.pool = httptools.New(httptools.Options{
		Store: c.Store.Plugins, Host: c.Host, Roles: c.Store.Councils.CouncilMembers, Others: h.others, Call: h.call, Log: c.Log,
	})
	for _, d := range c.dialects {
		if its, ok := d.(*httptools.Dialect); ok {
			its.Serve(h.pool) // it tells which addresses answer
		}
	}
	h.server = loopback.New(loopback.Options{
		Handler: h.pool.Handler(), Log: c.Log, Refused: h.keptOut,
		Token: func() string {
			if token := h.token.Load(); token != nil {
				return *token
			}
			return ""
		},
	})
	return h
}

// How long it is said whom the token kept out, and how often that is looked at: finding the
// program takes some ten milliseconds.
const (
	refusedTime  = 5 * time.Minute
	refusedPause = time.Second
)

// keptOut notes which program was refused for want of the token: its person waits for tools
// that do not come.
func (h *HTTPTools) keptOut(r *http.Request) {
	h.mu.Lock()
	soon := time.Since(h.looked) < refusedPause
	if !soon {
		h.looked = time.Now()
	}
	h.mu.Unlock()
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
	refused := fault.New(fault.NotAllowed, "core.http", by+" was refused: it "+how+".",
		"Give it yours, as “Authorization: Bearer TOKEN”; conclave http token makes a new one.")
	h.mu.Lock()
	same := h.refused != nil && h.refused.Error() == refused.Error()
	h.refused = refused
	h.mu.Unlock()
	if !same {
		h.c.Bus.Changed(bus.Settings, "")
	}
}

// Restore brings back what was registered, if the settings have the port open.
func (h *HTTPTools) Restore(ctx context.Context) error {
	set, err := h.c.Settings.Settings(ctx)
	if err != nil || !set.HTTPTools {
		return err
	}
	return h.pool.Start(ctx)
}

// Follow opens and closes the port as the settings say, until ctx ends. One that another
// program has is tried again until it is free. Programs that last call it.
func (h *HTTPTools) Follow(ctx context.Context) {
	changed := h.c.Bus.Subscribe(bus.Settings, bus.Councils)
	defer changed.Close()
	h.apply(ctx)
	for {
		wait, enough := h.patience(ctx)
		notices, err := changed.Next(wait)
		enough()
		switch {
		case ctx.Err() != nil:
			return
		case wait.Err() != nil && err != nil:
			h.apply(ctx)
		}
		for _, n := range notices {
			if n.Topic == bus.Councils {
				h.rolesChanged(ctx)
			} else {
				h.apply(ctx)
			}
		}
	}
}

// patience bounds ctx while there is a port to try again.
func (h *HTTPTools) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.trouble == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, h.again)
}

func (h *HTTPTools) rolesChanged(ctx context.Context) {
	if !h.pool.On() {
		return
	}
	if err := h.pool.RolesChanged(ctx); err != nil && ctx.Err() == nil {
		h.c.Log.Warn("tools of roles that are gone could not be removed", "err", err)
	}
}

// apply brings the port in line with the settings.
func (h *HTTPTools) apply(ctx context.Context) {
	h.applying.Lock()
	defer h.applying.Unlock()
	set, err := h.c.Settings.Settings(ctx)
	if err != nil {
		return // the settings page says so
	}
	wanted := 0
	if set.HTTPTools {
		wanted = set.HTTPPort
	}
	h.mu.Lock()
	port, release, trouble := h.port, h.release, h.trouble
	h.mu.Unlock()
	if port == wanted && trouble == nil {
		return
	}
	if release != nil {
		release()
	}
	port, release, err = 0, nil, nil
	if wanted != 0 {
		if _, release, err = h.open(ctx, wanted); err == nil {
			port = wanted
		}
	}
	same := err != nil && trouble != nil && err.Error() == trouble.Error()
	h.mu.Lock()
	h.port, h.release, h.trouble, h.refused = port, release, err, nil
	h.mu.Unlock()
	if same { // it was said
		return
	}
	if err != nil {
		h.c.Log.Warn("the port for registering tools could not be opened", "err", err)
	}
	if wanted == 0 {
		h.withdraw(ctx)
	}
	h.c.Bus.Changed(bus.Settings, "")
}

// open opens a port, and brings back what was registered.
func (h *HTTPTools) open(ctx context.Context, port int) (address string, release func(), err error) {
	set, err := h.c.Settings.Settings(ctx)
	if err != nil {
		return "", nil, err
	}
	token := ""
	if set.HTTPToken {
		if token, err = h.c.Keys.Get(ctx, httpToken); err != nil {
			return "", nil, err // without it, programs that it keeps out would be let in
		}
	}
	h.token.Store(&token)
	address, release, err = h.server.Open(ctx, port)
	if err != nil {
		return "", nil, err
	}
	if err := h.pool.Start(ctx); err != nil {
		release()
		return "", nil, err
	}
	return address, release, nil
}

// withdraw takes what was registered from models, if nobody has the port open any more.
func (h *HTTPTools) withdraw(ctx context.Context) {
	h.mu.Lock()
	open := len(h.served) > 0
	h.mu.Unlock()
	if open {
		return
	}
	if err := h.pool.Stop(ctx); err != nil && ctx.Err() == nil {
		h.c.Log.Warn("what was registered could not be withdrawn", "err", err)
	}
}

// Serve opens a port until stop is called; 0 is that of the settings. It implements
// terminal.HTTPTools.
func (h *HTTPTools) Serve(ctx context.Context, port int) (address string, stop func(), err error) {
	h.applying.Lock()
	defer h.applying.Unlock()
	set, err := h.c.Settings.Settings(ctx)
	if err != nil {
		return "", nil, err
	}
	address, release, err := h.open(ctx, cmp.Or(port, set.HTTPPort))
	if err != nil {
		return "", nil, err
	}
	h.mu.Lock()
	h.served = append(h.served, address)
	h.mu.Unlock()
	return address, sync.OnceFunc(func() {
		release()
		h.applying.Lock()
		defer h.applying.Unlock()
		h.mu.Lock()
		at := slices.Index(h.served, address)
		h.served = slices.Delete(h.served, at, at+1)
		h.mu.Unlock()
		ctx := context.Background() // the command has ended
		if set, err := h.c.Settings.Settings(ctx); err == nil && !set.HTTPTools {
			h.withdraw(ctx)
		}
	}), nil
}

// Address returns where programs register tools, because of the settings or of a command that
// serves, and why they cannot, or which of them was refused lately; both are empty while no
// port is open.
func (h *HTTPTools) Address() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := ""
	switch {
	case h.port != 0:
		at = loopback.Address(h.port)
	case len(h.served) > 0:
		at = h.served[len(h.served)-1]
	}
	switch {
	case at == "" || h.port == 0 && h.trouble != nil:
		return at, h.trouble
	case time.Since(h.looked) < refusedTime:
		return at, h.refused
	}
	return at, nil
}

// httpToken is the name that the token is kept under. No connection can have it.
const httpToken = "@http"

// SetToken makes a new token that programs must carry, and returns it; or lets them
// register without.
func (h *HTTPTools) SetToken(ctx context.Context, wanted bool) (string, error) {
	token := ""
	if wanted {
		token = rand.Text()
		if err := h.c.Keys.Set(ctx, httpToken, token); err != nil {
			return "", err
		}
	}
	if _, err := h.c.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.HTTPToken = wanted }); err != nil {
		return "", err
	}
	h.token.Store(&token)
	h.mu.Lock()
	h.refused = nil
	h.mu.Unlock()
	if wanted {
		return token, nil
	}
	return "", h.c.Keys.Delete(ctx, httpToken)
}

// close closes all ports and ends the probes.
func (h *HTTPTools) close() {
	h.server.Close()
	h.pool.Close()
}

// others returns the tools of the N.E.K.O plugins that run here.
func (h *HTTPTools) others() []httptools.Other {
	var all []httptools.Other
	names := map[string]string{}
	for _, t := range h.c.Tools.Set().Tools() {
		if t.Dialect != neko.Name || t.Visibility == tool.Hidden {
			continue
		}
		if names[t.Plugin] == "" {
			s, err := h.c.Host.Status(t.Plugin)
			if err != nil {
				continue
			}
			names[t.Plugin] = cmp.Or(s.Manifest.Identity, t.Plugin)
		}
		all = append(all, httptools.Other{
			Plugin: names[t.Plugin], Name: t.Name, Description: t.Description, Role: t.Role, ID: t.ID(),
		})
	}
	return all
}

// call calls a tool of an N.E.K.O plugin for a program: down the path of all calls, as a
// caller of its own, which the gate decides about. by is empty where the system does not
// name the program.
func (h *HTTPTools) call(ctx context.Context, by string, o httptools.Other,
	arguments string,
) (httptools.Outcome, error) {
	caller := gate.Caller("http:" + by)
	r, err := h.c.Calls.Do(ctx, call.Turn{
		TurnInfo: hook.TurnInfo{Caller: caller, Kind: "normal"}, CallerName: cmp.Or(by, "a program"), Tools: h.c.Tools.Set(),
	}, o.ID, arguments, call.Extra{})
	if err != nil {
		return httptools.Outcome{}, err
	}
	out := httptools.Outcome{Text: chat.TextOf(r.Content), Value: r.Value}
	switch r.Status {
	case chat.CallOK:
	case chat.CallTimeout:
		out.TimedOut = true
	default:
		out.Failed, out.Text, out.Kind = true, r.Error, cmp.Or(r.ErrorType, string(r.Status))
	}
	return out, nil
}

// registeredSentence says, without a full stop, who answers for a tool that a program
// registered, by its record in the store.
func registeredSentence(id string, raw json.RawMessage) string {
	var r httptools.Registration
	if json.Unmarshal(raw, &r) != nil {
		return "A program answers for the tool " + id
	}
	return "A program at " + r.CallbackURL + " answers for the tool " + r.Name
}
