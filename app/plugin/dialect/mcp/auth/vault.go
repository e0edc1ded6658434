package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"sync"
	"time"

	"conclave/app/base/fault"
)

// grant is a sign-in as it is kept: what the person granted, and to which client.
type grant struct {
	Issuer     string    `json:"issuer"`
	Resource   string    `json:"resource"`
	Token      string    `json:"token_endpoint"`
	Revocation string    `json:"revocation_endpoint,omitempty"`
	Client     client    `json:"client"`
	Scopes     []string  `json:"scopes,omitempty"`
	Access     string    `json:"access_token,omitempty"`  // empty: it ended
	Refresh    string    `json:"refresh_token,omitempty"` // empty: none was given
	Expires    time.Time `json:"expires,omitzero"`        // zero: not known
	// Ended is the reason why it ended; empty while it lasts.
	Ended string `json:"ended,omitempty"`
}

// client is Conclave as a sign-in service knows it.
type client struct {
	ID      string    `json:"id"`
	Secret  string    `json:"secret,omitempty"`
	Method  string    `json:"method"`            // of authentication at the token endpoint
	Port    int       `json:"port,omitempty"`    // of the redirect address that was registered; 0: any
	Expires time.Time `json:"expires,omitzero"`  // of the secret; zero: never
	Known   bool      `json:"known,omitempty"`   // it was registered by Conclave itself
	Entered bool      `json:"entered,omitempty"` // the person entered it
}

// vault keeps what belongs to one account in the keychain: the grant, and a registration for each
// sign-in service. Names hold the host, so that a person finds them there, and a digest of address
// and entry.
//
// Where the keychain is a file, each question takes a tenth of a second: it is asked as seldom as can be.
type vault struct {
	keys Keys
	name string

	mu    sync.Mutex
	heads map[string]head // of values as they were read or written last; without parts the zero head
}

func newVault(keys Keys, server *url.URL, id string) *vault {
	return &vault{
		keys: keys, name: "mcp " + server.Host + " " + digest(server.String()+"\n"+id), heads: map[string]head{},
	}
}

// head returns how a value is kept, where that is known.
func (v *vault) head(name string) (h head, known bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	h, known = v.heads[name]
	return h, known
}

func (v *vault) note(name string, h head) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.heads[name] = h
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

func (v *vault) registration(issuer string) string { return v.name + " client " + digest(issuer) }

// grant returns the grant that is kept; nil where there is none.
func (v *vault) grant(ctx context.Context) (*grant, error) {
	var g grant
	ok, err := v.get(ctx, v.name, &g)
	if !ok || err != nil {
		return nil, err
	}
	return &g, nil
}

func (v *vault) putGrant(ctx context.Context, g *grant) error { return v.put(ctx, v.name, g) }

// client returns the registration with a service that is kept, if there is one.
func (v *vault) client(ctx context.Context, issuer string) (c client, ok bool, err error) {
	ok, err = v.get(ctx, v.registration(issuer), &c)
	return c, ok, err
}

func (v *vault) putClient(ctx context.Context, issuer string, c client) error {
	return v.put(ctx, v.registration(issuer), c)
}

// most is the number of bytes of one entry. Windows takes 2,560 and macOS about 3,000 after its
// encoding; access tokens of some services are longer.
const most = 2000

// maxParts bounds the entries of one value.
const maxParts = 100

// head stands in an entry whose value is kept in parts.
type head struct {
	Parts int    `json:"parts"`
	Mark  string `json:"mark"`
}

func (h head) part(name string, i int) string { return name + " " + h.Mark + " " + strconv.Itoa(i) }

// get reads a value; ok is false where there is none, or it is damaged.
func (v *vault) get(ctx context.Context, name string, value any) (ok bool, err error) {
	raw, err := v.read(ctx, name)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return json.Unmarshal([]byte(raw), value) == nil, nil
}

func (v *vault) read(ctx context.Context, name string) (string, error) {
	raw, err := v.keys.Get(ctx, name)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return "", err
	}
	h, ok := inParts(raw)
	v.note(name, h)
	if !ok || err != nil {
		return raw, err
	}
	raw = ""
	for i := range h.Parts {
		part, err := v.keys.Get(ctx, h.part(name, i))
		if err != nil {
			return "", err
		}
		raw += part
	}
	return raw, nil
}

func inParts(raw string) (h head, ok bool) {
	if json.Unmarshal([]byte(raw), &h) == nil && h.Parts > 0 && h.Parts <= maxParts {
		return h, true
	}
	return head{}, false
}

// put writes a value. A program that ends in between leaves the old one or the new one.
func (v *vault) put(ctx context.Context, name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	old, known := v.head(name)
	if !known {
		before, _ := v.keys.Get(ctx, name)
		old, _ = inParts(before)
	}
	var h head
	text := string(raw)
	if len(text) > most*maxParts {
		return errors.New("it is too long to be kept")
	}
	if len(text) > most {
		h = head{Parts: (len(text) + most - 1) / most, Mark: rand.Text()[:8]}
		for i := range h.Parts {
			if err := v.keys.Set(ctx, h.part(name, i), text[i*most:min(len(text), (i+1)*most)]); err != nil {
				return err
			}
		}
		if raw, err = json.Marshal(h); err != nil {
			return err
		}
		text = string(raw)
	}
	if err := v.keys.Set(ctx, name, text); err != nil {
		return err
	}
	v.note(name, h)
	return v.deleteParts(ctx, name, old)
}

func (v *vault) delete(ctx context.Context, name string) error {
	before, err := v.keys.Get(ctx, name)
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	if err := v.keys.Delete(ctx, name); err != nil {
		return err
	}
	v.note(name, head{})
	old, _ := inParts(before)
	return v.deleteParts(ctx, name, old)
}

func (v *vault) deleteParts(ctx context.Context, name string, h head) error {
	for i := range h.Parts {
		if err := v.keys.Delete(ctx, h.part(name, i)); err != nil {
			return err
		}
	}
	return nil
}

// lease is the note of a program that renews the tokens, so that another one waits for it.
type lease struct {
	Holder string    `json:"holder"`
	Until  time.Time `json:"until"`
}

func (v *vault) leaseName() string { return v.name + " lease" }

// lease returns the note that is there; ok is false where there is none.
func (v *vault) lease(ctx context.Context) (l lease, ok bool, err error) {
	raw, err := v.keys.Get(ctx, v.leaseName())
	if fault.KindOf(err) == fault.NotFound {
		return lease{}, false, nil
	}
	return l, err == nil && json.Unmarshal([]byte(raw), &l) == nil, err
}

// take writes the note.
func (v *vault) take(ctx context.Context, l lease) error {
	raw, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return v.keys.Set(ctx, v.leaseName(), string(raw))
}
