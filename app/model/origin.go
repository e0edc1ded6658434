package model

import (
	"net/url"
	"strings"
)

// Address returns what a connection's key belongs to: scheme, host and port of its base
// address, or its kind where that is the vendor's own. It is empty for an address that is
// none, which gets no key.
func (c Connection) Address() string {
	if c.URL == "" {
		return c.Kind + ":"
	}
	u, err := url.Parse(c.URL)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	port := u.Port()
	scheme := strings.ToLower(u.Scheme)
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return scheme + "://" + host + ":" + port
}
