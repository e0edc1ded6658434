package model

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"conclave/app/base/pattern"
)

// endpoints match what stands behind the base of an address that was copied from an example of a
// request.
var endpoints = pattern.Lazy(`(?i)(/chat/completions|/completions|/responses|/embeddings|/messages|/count_tokens` +
	`|/models(/[^/]+:\w+)?|/api/(chat|generate|tags|ps|show|version|pull))$`)

// Base returns an address without the path of a request at its end, and without the endings, which
// the caller adds itself. What cannot be read stays as it is. A query stays: some servers want it
// with every request.
func Base(address string, endings ...string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" {
		return address
	}
	path := strings.TrimRight(u.Path, "/")
	for {
		cut := strings.TrimRight(endpoints().ReplaceAllString(path, ""), "/")
		for _, ending := range endings {
			cut = strings.TrimRight(strings.TrimSuffix(cut, ending), "/")
		}
		if cut == path {
			break
		}
		path = cut
	}
	u.Path, u.RawPath, u.Fragment = path, "", ""
	return u.String()
}

// Below returns an address with a path added, before its query.
func Below(address, path string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return strings.TrimRight(address, "/") + path
	}
	return u.JoinPath(path).String()
}

// Typed returns an address as a person means it: with the scheme that they left out, and without what
// Base cuts. A server of this computer or of its network speaks HTTP, others HTTPS.
func Typed(address string, endings ...string) string {
	address = strings.TrimSpace(address)
	if address == "" {
		return ""
	}
	if !strings.Contains(address, "://") {
		address = strings.TrimPrefix(address, "//")
		host, _, _ := strings.Cut(address, "/")
		scheme := "https://"
		if near(host) {
			scheme = "http://"
		}
		address = scheme + address
	}
	return Base(address, endings...)
}

// near reports whether a host, with or without a port, is this computer or in its network: a private
// address, a name without dots, or one that only a network knows.
func near(host string) bool {
	if IsLoopback(host) {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if address, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return address.IsPrivate() || address.IsLinkLocalUnicast()
	}
	host = strings.ToLower(host)
	return !strings.Contains(host, ".") || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".lan")
}
