package auth

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/net/loopback"
)

// Keys keeps secrets by name, as a keys.Store does. Get and Delete of a missing one: Get returns a
// fault of kind not_found, Delete nil.
type Keys interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, secret string) error
	Delete(ctx context.Context, name string) error
}

// Client holds what a person got from a sign-in service, and entered for a server.
type Client struct {
	ID     string
	Secret string // empty of a public client
	Port   int    // of the redirect address that was registered; 0: any
}

// Options configure an Account. Server and Keys are required.
type Options struct {
	Server string // the address of the server: http or https
	Name   string // as a person reads it; empty: the host of the address
	// ID tells two entries with one address apart: each has its own account.
	ID   string
	Keys Keys

	Client *Client  // nil: the person entered none
	Scopes []string // to ask for in addition to those that the server wants
	// Document is the address of Conclave's client ID metadata document; empty: there is none.
	Document string

	// Base makes the requests to the server. Nil is http.DefaultTransport.
	Base http.RoundTripper
	// Ask is called when a request cannot go on without a sign-in, by one request at a time for all
	// that wait. After nil the request is repeated; an error ends it. Ask calls SignIn if the person
	// wants it. Nil returns the *NeedsSignIn to whoever made the request.
	Ask func(ctx context.Context, need *NeedsSignIn) error
	// Changed is called after the answer of SignedIn has changed, from any goroutine. Nil is nobody.
	Changed func()
	Log     *slog.Logger // nil discards
}

// Person reaches the person who asked for a sign-in.
type Person struct {
	// Open shows an address of http or https in the system's browser. It must not use a shell.
	Open func(ctx context.Context, address string) error
	// Pick chooses between several sign-in services by their addresses. Nil takes the first.
	Pick func(ctx context.Context, issuers []string) (string, error)
}

// Account signs the requests to one server. Use New. It is safe for concurrent use.
type Account struct {
	o      Options
	server server
	web    *web
	log    *slog.Logger
	vault  *vault
	now    func() time.Time

	mu       sync.Mutex // guards the fields below
	loaded   bool       // grant is what the keychain has
	grant    *grant     // nil: never signed in
	refusal  *challenge // the newest one, until a sign-in
	need     *NeedsSignIn
	declined bool // the person was asked for need, and did not sign in
	mask     func(secret string)
	asked    map[string]time.Time // when more rights were asked for, by tool
	renewed  time.Time            // when the grant was renewed; zero once the server accepted it
	renewal  *flight
	signing  *flight
	asking   *flight
}

// New returns the account of a server. It makes no request and reads no key. The error is a fault
// of kind invalid.
func New(o Options) (*Account, error) {
	u, err := url.Parse(o.Server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, fault.New(fault.Invalid, "mcp.auth",
			"The address of an MCP server begins with https:// or http://, and holds no user or password.",
			"Correct the address.")
	}
	if o.Name == "" {
		o.Name = u.Host
	}
	if o.Base == nil {
		o.Base = http.DefaultTransport
	}
	w := newWeb()
	a := &Account{
		o: o, server: server{o.Name, u, origin(u), w}, web: w, log: o.Log, now: time.Now, asked: map[string]time.Time{},
		vault: newVault(o.Keys, u, o.ID),
	}
	if a.log == nil {
		a.log = slog.New(slog.DiscardHandler)
	}
	if at, err := netip.ParseAddr(u.Hostname()); err == nil {
		w.where.Store(&at)
	} else if loopback.Name(u.Hostname()) {
		at := netip.AddrFrom4([4]byte{127, 0, 0, 1})
		w.where.Store(&at)
	}
	return a, nil
}

// SignedIn returns what is known without the keychain: the service where the person is signed in, and why
// requests fail until they sign in. Either may be empty.
func (a *Account) SignedIn() (issuer, need string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.grant.active() {
		issuer = a.grant.Issuer
	}
	if a.need != nil {
		need = a.need.Reason
	}
	return issuer, need
}

// Mask has mask called with each secret of the account, those that come later before they are used: so
// that nothing a server answers holds one.
func (a *Account) Mask(mask func(secret string)) {
	a.mu.Lock()
	a.mask = mask
	g := a.grant
	a.mu.Unlock()
	if a.o.Client != nil {
		mask(a.o.Client.Secret)
	}
	maskGrant(mask, g)
}

func maskGrant(mask func(secret string), g *grant) {
	if mask != nil && g != nil {
		mask(g.Access)
		mask(g.Refresh)
		mask(g.Client.Secret)
	}
}

// current returns the grant that is in memory, or else in the keychain; nil where there is none.
func (a *Account) current(ctx context.Context) (*grant, error) {
	a.mu.Lock()
	g, loaded := a.grant, a.loaded
	a.mu.Unlock()
	if loaded {
		return g, nil
	}
	g, err := a.vault.grant(ctx)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.loaded {
		a.grant, a.loaded = g, true
		maskGrant(a.mask, g)
	}
	return a.grant, nil
}

// set replaces the grant in memory.
func (a *Account) set(g *grant, need *NeedsSignIn) {
	a.mu.Lock()
	maskGrant(a.mask, g)
	a.grant, a.loaded, a.need = g, true, need
	if need == nil {
		a.refusal, a.declined = nil, false
	}
	a.mu.Unlock()
	a.changed()
}

func (a *Account) changed() {
	if a.o.Changed != nil {
		a.o.Changed()
	}
}

// origin returns scheme, host and port of an address; two that are equal are one server's.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + lower(u.Hostname()) + ":" + port
}
