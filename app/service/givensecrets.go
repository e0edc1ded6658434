package service

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
	"conclave/app/net/fetch"
	"conclave/app/plugin"
)

// givenSecret holds a given secret, one of the person's that a plugin uses and never sees:
// where a header or the query of a request says {{secret:NAME}}, Conclave puts it in, for the
// hosts that a rule of the gate names and no others.
type givenSecret struct {
	Value string `json:"value"`
}

// Lending describes which secrets plugins are given, and for which hosts: in lower case, with the
// port unless it is the usual one. gate.Reach is the real one.
type Lending interface {
	GrantSecret(ctx context.Context, plugin, name string, hosts []string) error
	RevokeSecret(ctx context.Context, plugin, name string) error
	SecretHosts(plugin, name string) []string
}

// The names of given secrets begin with what no name of a plugin's own can hold.
const givenPrefix = "given/"

// placeholder stands for a given secret, as it is written and as an address has it.
var placeholder = pattern.Lazy(`(?i)(?:\{\{|%7B%7B)secret(?::|%3A)([A-Za-z0-9_\-.]{1,128})(?:\}\}|%7D%7D)`)

// minGiven is the least length of a given secret, so that masking it masks no ordinary words.
const minGiven = 8

// Give lets a plugin use a secret without seeing it, for these hosts: “api.example.org”
// or “127.0.0.1:8000”. It replaces what was given under that name.
func (s *Secrets) Give(ctx context.Context, id, name, value string, hosts []string) error {
	if err := (secretArgs{Key: name}).check(); err != nil {
		return err
	}
	if len(value) < minGiven || len(value) > maxSecret || strings.ContainsFunc(value,
		func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return invalid("A secret has one line of at least 8 bytes, and at most 64 KB.")
	}
	var named []string
	for _, h := range hosts {
		u, err := url.Parse("https://" + h)
		if err != nil || h == "" || u.Host != h || u.Hostname() == "" {
			return invalid("“" + h + "” is no host. Write it as in api.example.org, or api.example.org:8443.")
		}
		named = append(named, hostOf(u))
	}
	if len(named) == 0 {
		return invalid("No host was named that the secret may be sent to.")
	}
	text, err := json.Marshal(givenSecret{value})
	if err != nil {
		return err
	}
	defer s.lockSecrets(id)()
	if err := s.addName(ctx, givenIndex(id), name, math.MaxInt); err != nil {
		return err
	}
	if err := s.o.Keys.Set(ctx, secretName(id, givenPrefix+name), string(text)); err != nil {
		return err
	}
	return s.o.Lending.GrantSecret(ctx, id, name, named)
}

// Forget takes a given secret back. The kind is not_found when there is none.
func (s *Secrets) Forget(ctx context.Context, id, name string) error {
	defer s.lockSecrets(id)()
	taken := s.o.Lending.RevokeSecret(ctx, id, name)
	if taken != nil && fault.KindOf(taken) != fault.NotFound {
		return taken
	}
	there, err := s.remove(ctx, givenIndex(id), name, secretName(id, givenPrefix+name))
	if !there && err == nil {
		return taken
	}
	return err
}

func givenIndex(id string) string { return secretName(id, "given") + "/" }

// given reads a given secret.
func (s *Secrets) given(ctx context.Context, id, name string) (g givenSecret, err error) {
	text, err := s.o.Keys.Get(ctx, secretName(id, givenPrefix+name))
	if err == nil && json.Unmarshal([]byte(text), &g) != nil {
		err = fault.New(fault.Damaged, "service.secrets", "The secret "+name+" cannot be read.", "")
	}
	return g, err
}

// hostOf is the host of an address, as a given secret names it.
func hostOf(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]; port != "" && port != usual {
		host += ":" + port
	}
	return host
}

// putting puts given secrets into the requests of one plugin, each on its own way: what a
// redirect leads to has the placeholders still.
type putting struct {
	s    *Secrets
	by   plugin.Caller
	over http.RoundTripper
	used []string // the secrets that were put in
}

// RoundTrip implements http.RoundTripper.
func (p *putting) RoundTrip(r *http.Request) (*http.Response, error) {
	sent := r.Clone(r.Context())
	var failed error
	put := func(text string, as func(string) string) string {
		return placeholder().ReplaceAllStringFunc(text, func(found string) string {
			value, err := p.value(r, placeholder().FindStringSubmatch(found)[1])
			if err != nil {
				failed = err
				return ""
			}
			return as(value)
		})
	}
	for _, values := range sent.Header {
		for i := range values {
			values[i] = put(values[i], func(v string) string { return v })
		}
	}
	sent.URL.RawQuery = put(sent.URL.RawQuery, url.QueryEscape)
	if failed != nil {
		return nil, failed
	}
	response, err := p.over.RoundTrip(fetch.WithShown(sent, r))
	if response != nil {
		response.Request = r // whose address holds no secret
	}
	return response, err
}

// value returns a secret for a request to a host that may have it.
func (p *putting) value(r *http.Request, name string) (string, error) {
	hosts := p.s.o.Lending.SecretHosts(p.by.Plugin, name)
	g, err := p.s.given(r.Context(), p.by.Plugin, name)
	host := hostOf(r.URL)
	switch {
	case fault.KindOf(err) == fault.NotFound || len(hosts) == 0:
		return "", refused("PERMISSION_DENIED: secret – there is no secret " + name + " for it. Give it one: " +
			"conclave plugins secret " + p.by.Plugin + " " + name + " --host " + host + ".")
	case err != nil:
		return "", err
	case !slices.Contains(hosts, host):
		return "", refused("PERMISSION_DENIED: secret – " + name + " may not be sent to " + host + ".")
	case r.URL.Scheme != "https" && !near(r.URL.Host):
		return "", refused("PERMISSION_DENIED: secret – " + name + " is sent over https alone.")
	}
	p.used = append(p.used, g.Value)
	return g.Value, nil
}

// mask takes the secrets that were put in out of what the server said.
func (p *putting) mask(text string) string {
	for _, secret := range p.used {
		text = strings.ReplaceAll(text, secret, strings.Repeat("*", len(secret)))
	}
	return text
}

// maskPieces takes them out of the pieces of a body, also where one begins in one piece and
// ends in the next.
func (p *putting) maskPieces(pieces [][]byte) {
	for _, secret := range p.used {
		find, stars := []byte(secret), bytes.Repeat([]byte("*"), len(secret))
		for i, piece := range pieces {
			for from := piece; ; {
				at := bytes.Index(from, find)
				if at < 0 {
					break
				}
				from = from[at+copy(from[at:], stars):]
			}
			if i == 0 {
				continue
			}
			before := pieces[i-1]
			tail := before[max(0, len(before)-len(find)+1):]
			window := slices.Concat(tail, piece[:min(len(piece), len(find)-1)])
			if at := bytes.Index(window, find); at >= 0 {
				copy(window[at:], stars)
				copy(tail, window)
				copy(piece, window[len(tail):])
			}
		}
	}
}
