package auth

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"conclave/app/base/fault"
)

// Times of a renewal. Tests replace the last two.
const (
	early     = 60 * time.Second // before a token expires
	renewTime = time.Minute      // for a renewal with its repetitions
)

var (
	renewPauses = []time.Duration{500 * time.Millisecond, 2 * time.Second}
	leasePause  = 100 * time.Millisecond // a keychain takes less to show to one program what another wrote
)

// answer is the answer of a token endpoint (RFC 6749 section 5).
type answer struct {
	Access  string      `json:"access_token"`
	Type    string      `json:"token_type"`
	Expires json.Number `json:"expires_in"`
	Refresh string      `json:"refresh_token"`
	Scope   string      `json:"scope"`

	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// refusedError is the refusal of a token endpoint.
type refusedError struct{ code, text string }

func (r *refusedError) Error() string { return said(r.code, r.text) }

// ask asks a token endpoint for tokens. The error is a *refusedError if the service refuses.
func (a *Account) ask(ctx context.Context, endpoint string, as client, form url.Values) (answer, error) {
	status, body, err := a.web.postForm(ctx, endpoint, as, form)
	if err != nil {
		return answer{}, err
	}
	var got answer
	err = json.Unmarshal(body, &got)
	switch {
	case got.Error != "" && status < 500 && status != http.StatusTooManyRequests:
		return answer{}, &refusedError{got.Error, hideSecrets(got.Description, form)}
	case status != http.StatusOK && status != http.StatusCreated:
		return answer{}, fmt.Errorf("it answered %d", status)
	case err != nil || got.Access == "":
		return answer{}, errors.New("its answer holds no token")
	case got.Type != "" && !strings.EqualFold(got.Type, "Bearer"):
		return answer{}, &refusedError{"token_type", "Its tokens are of the type " + foreign(got.Type, 40) +
			", which Conclave cannot use."}
	case len(got.Access) > maxSecret || len(got.Refresh) > maxSecret:
		return answer{}, errors.New("its tokens are too long")
	case strings.ContainsFunc(got.Access, func(r rune) bool { return r <= ' ' || r > '~' }):
		return answer{}, errors.New("its token holds characters that cannot be sent")
	}
	return got, nil
}

// hideSecrets removes what was sent from a text that the service wrote.
func hideSecrets(text string, sent url.Values) string {
	for _, name := range []string{"code", "code_verifier", "refresh_token", "client_secret", "token"} {
		if secret := sent.Get(name); secret != "" {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}

// granted adds the answer of a token endpoint to a grant.
func (a *Account) granted(g grant, got answer) *grant {
	g.Access, g.Ended, g.Expires = got.Access, "", time.Time{}
	if got.Refresh != "" {
		g.Refresh = got.Refresh
	}
	if got.Scope != "" {
		g.Scopes = scopeWords(got.Scope)
	}
	if seconds, err := got.Expires.Float64(); err == nil && seconds > 0 {
		g.Expires = a.now().Round(0).Add(time.Duration(min(seconds, 1e9)) * time.Second) // by the clock on the wall
	}
	return &g
}

// renew returns a grant that is newer than the one held: what another request or program renewed
// meanwhile, or else what the service answers. All who want one at the same time wait for the same
// answer. The error is a *NeedsSignIn where only the person can go on.
func (a *Account) renew(ctx context.Context, held *grant) (*grant, error) {
	a.mu.Lock()
	if g := a.grant; g.active() && g.differs(held) {
		a.mu.Unlock()
		return g, nil
	}
	a.mu.Unlock()
	err := a.share(ctx, &a.renewal, false, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, renewTime)
		defer cancel()
		return a.renewNow(ctx)
	})
	if err != nil {
		return nil, err
	}
	return a.current(ctx)
}

// renewNow renews what is in memory, unless another program did.
func (a *Account) renewNow(ctx context.Context) error {
	held, err := a.current(ctx)
	if err != nil {
		return err
	}
	newer, release, err := a.lease(ctx, held)
	if err != nil {
		return err
	}
	if newer != nil {
		a.set(newer, nil)
		return nil
	}
	defer release()
	got, err := a.refresh(ctx, held)
	refused, ok := errors.AsType[*refusedError](err)
	if err == nil || ok {
		// Meanwhile the person may have signed in or out, here or in another program.
		kept, err := a.vault.grant(ctx)
		if err == nil && (kept == nil || kept.differs(held)) {
			a.set(kept, nil)
			return nil
		}
	}
	switch {
	case err == nil:
		g := a.granted(*held, got)
		if err := a.vault.putGrant(ctx, g); err != nil {
			a.log.Warn("the renewed sign-in of an MCP server could not be kept", "plugin", a.o.ID, "err", err)
		}
		a.set(g, nil)
		a.mu.Lock()
		a.renewed = a.now()
		a.mu.Unlock()
		return nil
	case !ok:
		return unreachable("The sign-in at "+a.o.Name+" could not be renewed.", err)
	}
	switch refused.code {
	case "invalid_grant":
		return a.end(ctx, held, a.o.Name+" wants a new sign-in: the last one ended ("+refused.Error()+").")
	case "invalid_client", "unauthorized_client":
		if held.Client.Known {
			_ = a.vault.delete(ctx, a.vault.registration(held.Issuer)) // the next sign-in registers again
		}
		return a.end(ctx, held, a.o.Name+" wants a new sign-in: its sign-in service no longer knows Conclave ("+
			refused.Error()+").")
	}
	return unreachable("The sign-in at "+a.o.Name+" could not be renewed: "+refused.Error()+".", nil)
}

// refresh asks for new tokens, and again where the service does not answer.
func (a *Account) refresh(ctx context.Context, held *grant) (answer, error) {
	for try := 0; ; try++ {
		got, err := a.ask(ctx, held.Token, held.Client, url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {held.Refresh}, "resource": {held.Resource},
		})
		_, refused := errors.AsType[*refusedError](err)
		if err == nil || refused || try == len(renewPauses) {
			return got, err
		}
		select {
		case <-time.After(renewPauses[try]):
		case <-ctx.Done():
			return answer{}, err
		}
	}
}

// end notes that a grant is over, and why. What it was granted to, and where, stays.
func (a *Account) end(ctx context.Context, held *grant, reason string) error {
	g := *held
	g.Access, g.Refresh, g.Expires, g.Ended = "", "", time.Time{}, reason
	if err := a.vault.putGrant(ctx, &g); err != nil {
		a.log.Warn("the end of a sign-in could not be kept", "plugin", a.o.ID, "err", err)
	}
	need := a.needs(reason, nil)
	a.set(&g, need)
	return need
}

// lease waits until no other program renews the grant. It returns the grant that one has renewed, or
// what gives the lease back. Two programs that write at once both read the later lease.
func (a *Account) lease(ctx context.Context, held *grant) (newer *grant, release func(), err error) {
	mine := rand.Text()
	name := a.vault.leaseName()
	for {
		l, taken, err := a.vault.lease(ctx)
		if err != nil {
			return nil, nil, err
		}
		if taken && l.Holder == mine {
			kept, err := a.vault.grant(ctx)
			release = func() { _ = a.vault.keys.Delete(context.WithoutCancel(ctx), name) }
			if err == nil && kept.active() && kept.differs(held) {
				newer = kept
			}
			if err != nil || newer != nil {
				release()
			}
			return newer, release, err
		}
		now := a.now()
		if !taken || l.Until.Before(now) || l.Until.After(now.Add(2*renewTime)) {
			if err := a.vault.take(ctx, lease{mine, now.Add(renewTime)}); err != nil {
				return nil, nil, err
			}
		}
		select {
		case <-time.After(leasePause):
		case <-ctx.Done():
			return nil, nil, fault.Wrap(fault.Timeout, "mcp.auth",
				"Another Conclave renews the sign-in at "+a.o.Name+".", "Try again in a minute.", ctx.Err())
		}
	}
}

// active reports whether there is a token to send.
func (g *grant) active() bool { return g != nil && g.Access != "" }

// differs reports whether the token is another than that of an earlier grant.
func (g *grant) differs(held *grant) bool { return held == nil || g.Access != held.Access }

// soon reports whether a grant expires within early.
func (g *grant) soon(now time.Time) bool {
	return !g.Expires.IsZero() && g.Expires.Before(now.Add(early))
}

// over reports whether a grant has expired.
func (g *grant) over(now time.Time) bool { return !g.Expires.IsZero() && !g.Expires.After(now) }
