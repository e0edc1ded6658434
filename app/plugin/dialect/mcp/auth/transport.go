package auth

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"conclave/app/base/fault"
)

// RoundTrip sends a request to the server with the token of the account. Where the server refuses it,
// RoundTrip renews the token, or asks Options.Ask, and sends the request once more for each; it opens
// nothing by itself. A request to another origin goes out as it is, and without a token; so does one
// that has an Authorization header already, whose refusal is then a fault that says so.
//
// The error is a *NeedsSignIn where the person has to sign in first.
func (a *Account) RoundTrip(r *http.Request) (*http.Response, error) {
	if origin(r.URL) != a.server.origin {
		return a.o.Base.RoundTrip(r)
	}
	if r.Header.Get("Authorization") != "" {
		return a.withKey(r)
	}
	g, err := a.token(r.Context())
	if err != nil {
		closeBody(r)
		return nil, err
	}
	response, err := a.send(r, g, true)
	var tried tried
	for err == nil {
		switch response.StatusCode {
		case http.StatusUnauthorized:
			g, err = a.unauthorized(r, response, g, &tried)
		case http.StatusForbidden:
			c := readChallenge(response.Header)
			if c.err != "insufficient_scope" || tried.stepUp || !canRepeat(r) {
				return response, nil
			}
			tried.stepUp = true
			if err = a.stepUp(r, g, c); errors.Is(err, errNotAgain) {
				return response, nil
			}
			discard(response)
			if err == nil {
				g, err = a.current(r.Context())
			}
		default:
			return response, nil
		}
		if err == nil {
			response, err = a.send(r, g, false)
		}
	}
	return nil, err
}

// tried notes what one request has led to. Each happens once, so that no server keeps the person at
// signing in.
type tried struct{ renewal, signIn, stepUp bool }

// errNotAgain is the error of a wish for more rights that the person has heard.
var errNotAgain = errors.New("the person was asked already")

// canRepeat reports whether a request can be sent a second time.
func canRepeat(r *http.Request) bool {
	return r.Body == nil || r.Body == http.NoBody || r.GetBody != nil
}

// withKey sends a request that the person gave a key for.
func (a *Account) withKey(r *http.Request) (*http.Response, error) {
	response, err := a.o.Base.RoundTrip(r)
	if err != nil || response.StatusCode != http.StatusUnauthorized {
		return response, err
	}
	discard(response)
	return nil, fault.New(fault.NotAllowed, "mcp.auth", a.o.Name+": the key was refused.",
		"Correct the Authorization header in its settings. Without one, Conclave signs in where the server offers it.")
}

// token returns the grant to send a request with, renewed if it ends soon; nil where there is none. A
// keychain that cannot be read now is no reason to fail before the server asked for a sign-in.
func (a *Account) token(ctx context.Context) (*grant, error) {
	short, cancel := context.WithTimeout(ctx, keychainTime)
	defer cancel()
	g, err := a.current(short)
	if err != nil || g == nil || g.Access == "" || !g.soon(a.now()) {
		return g, ctx.Err()
	}
	if g.Refresh == "" {
		return g, nil
	}
	newer, err := a.renew(ctx, g)
	_, needs := errors.AsType[*NeedsSignIn](err)
	switch {
	case err == nil:
		return newer, nil
	case needs:
		return nil, nil // the server may answer without, and says if it does not
	case !g.over(a.now()):
		return g, nil
	}
	return nil, err
}

// keychainTime is the time that a request waits for the keychain before the server asked for a sign-in.
const keychainTime = 5 * time.Second

// send sends a copy of a request with a token, if there is one.
func (a *Account) send(r *http.Request, g *grant, first bool) (*http.Response, error) {
	out := r.Clone(a.web.watched(r, a.o.Base))
	if !first && r.Body != nil && r.Body != http.NoBody {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		out.Body = body
	}
	if g != nil && g.Access != "" {
		out.Header.Set("Authorization", "Bearer "+g.Access)
	}
	response, err := a.o.Base.RoundTrip(out)
	if err == nil && response.StatusCode != http.StatusUnauthorized && g.active() {
		a.mu.Lock()
		if a.grant == g {
			a.renewed = time.Time{}
		}
		a.mu.Unlock()
	}
	return response, err
}

// unauthorized finds what to repeat a request with that was refused with 401.
func (a *Account) unauthorized(r *http.Request, response *http.Response, held *grant, tried *tried) (*grant, error) {
	c := readChallenge(response.Header)
	discard(response)
	if !canRepeat(r) {
		return nil, fault.New(fault.Internal, "mcp.auth", "A request to "+a.o.Name+" cannot be repeated.", "")
	}
	ctx := r.Context()
	now, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	if !tried.renewal && now.active() {
		if now.differs(held) { // renewed, or signed in, meanwhile
			tried.renewal = true
			return now, nil
		}
		if now.Refresh != "" && !a.justRenewed() {
			tried.renewal = true
			newer, err := a.renew(ctx, now)
			if _, needs := errors.AsType[*NeedsSignIn](err); !needs {
				return newer, err
			}
		}
	}
	if tried.signIn {
		return nil, refuse(a.o.Name+" refuses the sign-in that was just made.",
			"Sign out on its card and sign in with another account, or report it to whoever runs the server.")
	}
	tried.signIn = true
	reason := a.o.Name + " wants you to sign in."
	if now, err = a.current(ctx); err != nil {
		return nil, err
	}
	switch {
	case now != nil && now.Ended != "":
		reason = now.Ended
	case held.active():
		reason = a.o.Name + " no longer accepts the sign-in."
	}
	if err := a.person(ctx, a.needs(reason, c.scopes), c, held); err != nil {
		return nil, err
	}
	return a.current(ctx)
}

// justRenewed reports whether the token that a server refuses is new, and was never accepted: another one
// would not help.
func (a *Account) justRenewed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now().Sub(a.renewed) < early
}

func (a *Account) needs(reason string, scopes []string) *NeedsSignIn {
	return &NeedsSignIn{Server: a.o.Name, Address: a.o.Server, Reason: reason, Scopes: scopes}
}

// person notes what is needed, and asks the person, once until the next sign-in. It does neither where
// somebody signed in since the request was sent with the grant held.
func (a *Account) person(ctx context.Context, need *NeedsSignIn, c *challenge, held *grant) error {
	a.mu.Lock()
	if a.grant.active() && a.grant.differs(held) {
		a.mu.Unlock()
		return nil
	}
	a.refusal = c
	fresh := a.need == nil || a.need.Reason != need.Reason
	if fresh {
		a.need, a.declined = need, false
	}
	declined := a.declined
	a.mu.Unlock()
	if fresh {
		a.changed()
	}
	if a.o.Ask == nil || declined {
		return need
	}
	return a.share(ctx, &a.asking, true, func(ctx context.Context) error {
		a.mu.Lock()
		settled, declined := a.grant.active() && a.grant.differs(held), a.declined
		a.mu.Unlock()
		switch {
		case settled:
			return nil
		case declined:
			return need
		}
		err := a.o.Ask(ctx, need)
		if err != nil && ctx.Err() == nil {
			a.mu.Lock()
			a.declined = true
			a.mu.Unlock()
		}
		return err
	})
}

// stepUp asks for the rights that a server wants in addition: once for each tool and hour. The error is
// then errNotAgain, unless the person has still to sign in.
func (a *Account) stepUp(r *http.Request, held *grant, c *challenge) error {
	var had []string
	if held != nil {
		had = held.Scopes
	}
	wants := without(c.scopes, had)
	c.scopes = union(had, c.scopes)
	reason := a.o.Name + " wants more rights for this."
	if len(wants) > 0 {
		reason = a.o.Name + " wants also " + foreign(strings.Join(wants, ", "), 300) + "."
	}
	if !a.mayAsk(r) {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.need != nil && a.need.Reason == reason {
			return a.need
		}
		return errNotAgain
	}
	return a.person(r.Context(), a.needs(reason, wants), c, held)
}

func without(all, some []string) []string {
	var left []string
	for _, word := range all {
		if len(union(some, []string{word})) > len(some) {
			left = append(left, word)
		}
	}
	return left
}

// stepUpPause is the time in which a tool's wish for more rights is not repeated.
const stepUpPause = time.Hour

// mayAsk reports whether the person may be asked for more rights on behalf of a request: once for each
// tool and hour. It notes that they are.
func (a *Account) mayAsk(r *http.Request) bool {
	tool := toolOf(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	for name, at := range a.asked {
		if now.Sub(at) >= stepUpPause {
			delete(a.asked, name)
		}
	}
	if _, ok := a.asked[tool]; ok || len(a.asked) >= maxAsked {
		return false
	}
	a.asked[tool] = now
	return true
}

// maxAsked bounds the tools that more rights are asked for within an hour.
const maxAsked = 100

// toolOf returns what a request is about: the tool that it calls, or else its method.
func toolOf(r *http.Request) string {
	if r.GetBody == nil {
		return r.Method
	}
	body, err := r.GetBody()
	if err != nil {
		return r.Method
	}
	defer func() { _ = body.Close() }()
	var message struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
		} `json:"params"`
	}
	if json.NewDecoder(io.LimitReader(body, 32<<20)).Decode(&message) != nil {
		return r.Method
	}
	return message.Method + " " + message.Params.Name
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
