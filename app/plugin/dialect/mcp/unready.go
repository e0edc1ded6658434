package mcp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/net/fetch"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/auth"
	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/plugin/dialect/mcp/config"
)

// unready returns why a session did not begin.
func (b *backend) unready(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p, ok := errors.AsType[*plugin.Problem](err); ok {
		return p
	}
	p := &plugin.Problem{
		Kind: "crashed", Message: "The server did not answer: " + strings.TrimSuffix(err.Error(), ".") + ".",
	}
	refused, isRefusal := errors.AsType[*client.RefusedError](err)
	needs, isSignIn := errors.AsType[*auth.NeedsSignIn](err)
	junk, isJunk := errors.AsType[*client.JunkError](err)
	switch {
	case isSignIn:
		p.Kind, p.Message = "sign-in", needs.Reason
		p.Hint = "Sign in on its card, or with: conclave mcp login " + b.id
	case isRefusal && refused.Status == http.StatusUnauthorized && keyed(b.server):
		p.Kind, p.Message = "refused", "The server refused the key: "+refused.Error()+"."
		p.Hint = "Correct the header Authorization in its settings."
	case isRefusal && refused.Status == http.StatusUnauthorized:
		p.Kind, p.Message = "sign-in", "The server wants you to sign in."
		p.Hint = "Sign in on its card."
	case isRefusal:
		p.Kind = "unavailable"
		p.Message = "The server at " + strings.Replace(refused.Error(), refused.URL, host(b.server), 1) + "."
		p.Hint = "Check “url” in its entry: no MCP server may be at that address."
	case errors.Is(err, client.ErrVersion):
		p.Kind = "refused"
	case errors.Is(err, client.ErrTimeout):
		p.Kind = "deadline"
		p.Hint = "Read its log. A server has to answer “initialize” on its standard output."
		if b.server.Remote() {
			p.Message, p.Hint = "The server at "+host(b.server)+" did not answer in time.", "Try it again later."
		}
	case errors.Is(err, client.ErrAddress):
		p.Kind = "refused"
		p.Message = sentence(strings.TrimPrefix(err.Error(), client.ErrAddress.Error()+": "))
		p.Hint = "Correct “url” in its entry."
	case errors.Is(err, client.ErrNotSent) && b.server.Remote():
		p.Kind = "unavailable"
		p.Message, p.Hint = unreached(host(b.server), err)
	case isJunk:
		p.Message = sentence(junk.Error())
		p.Hint = "Whoever wrote the server has to correct this. Its log holds the rest."
	case errors.Is(err, client.ErrEnded):
		return err // the host says how the process ended
	}
	return p
}

// unreached returns why nobody at a host took the first request, and what to do about it.
func unreached(host string, err error) (message, hint string) {
	name, isName := errors.AsType[*net.DNSError](err)
	certificate, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	operation, isDial := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, fetch.ErrPrivate):
		return host + " now leads to an address of your own network or of this computer, so nothing was sent there.",
			"If the server moved there, restart Conclave. If you do not know why, remove it."
	case isName && name.IsNotFound:
		return "There is no computer named " + name.Name + ".", "Correct “url” in its entry, or connect to the internet."
	case isCertificate:
		return "The certificate of " + host + " is not valid: " + certificate.Err.Error() + ".",
			"Whoever runs the server has to renew it."
	case isDial && operation.Op == "dial" && operation.Timeout():
		return "Nothing at " + host + " answered in time.", "Check “url” in its entry, and whether the server is running."
	case isDial && operation.Op == "dial":
		return "Nothing answers at " + host + ".", "Start the server, or correct “url” in its entry."
	}
	for errors.Unwrap(err) != nil { // the innermost says it without the address
		err = errors.Unwrap(err)
	}
	return "The connection to " + host + " failed: " + strings.TrimSuffix(err.Error(), ".") + ".", "Try it again later."
}

// noWay reports whether an error is one of connecting to a server: another session would meet it, too.
func noWay(err error) bool {
	operation, is := errors.AsType[*net.OpError](err)
	return is && operation.Op == "dial"
}

// host returns where a server on the web is, with its port.
func host(s config.Server) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	return cmp.Or(u.Host, s.URL)
}

// sentence makes a sentence of an error's text.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}
