package loopback

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// guard lets a request to a port through to the handler if its peer is this computer and a
// program of the person's own, it asks for the port by a name of this computer, it comes from
// no page of a browser, and it carries the token, where one is wanted. What it sends is
// bounded.
func (s *Server) guard(port int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peer, _ := r.Context().Value(peerKey{}).(Peer)
		switch {
		case !fromHere(r.RemoteAddr):
			Refuse(w, http.StatusForbidden, "only programs of this computer are answered")
		case peer.Whose == Unknown:
			Refuse(w, http.StatusForbidden, "the system does not say whose program sends this: "+
				"keep the connection open until the answer is there")
		case !peer.Own():
			Refuse(w, http.StatusForbidden, "only programs of the user who runs Conclave are answered")
		case !namesUs(r.Host, port):
			Refuse(w, http.StatusForbidden, "the Host header is no name of this computer with this port: "+
				"use 127.0.0.1, localhost or [::1]")
		case fromPage(r.Header, port):
			Refuse(w, http.StatusForbidden, "pages of a browser are not answered")
		case !carries(r.Header, s.o.Token()):
			s.o.Refused(r)
			w.Header().Set("WWW-Authenticate", "Bearer")
			Refuse(w, http.StatusUnauthorized, "a token is wanted: Authorization: Bearer TOKEN")
		default:
			r.Body = http.MaxBytesReader(w, r.Body, s.o.Body)
			w.Header().Set("X-Content-Type-Options", "nosniff")
			s.o.Handler.ServeHTTP(w, r)
		}
	})
}

// Refuse answers a request with a status and {"detail": why}.
func Refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close") // what is not read of its body is not waited for
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"detail": why})
}

// fromHere reports whether a peer is of this computer.
func fromHere(peer string) bool {
	at, err := netip.ParseAddrPort(peer)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// peerKey is the key of a connection's context for its Peer.
type peerKey struct{}

// withPeer keeps with a connection who was at its far end when it was accepted.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	if accepted, ok := c.(*accepted); ok {
		return context.WithValue(ctx, peerKey{}, accepted.peer)
	}
	return ctx
}

// namesUs reports whether a Host header names this computer and the port.
func namesUs(host string, port int) bool {
	name, number, err := net.SplitHostPort(host)
	if err != nil || number != strconv.Itoa(port) {
		return false
	}
	return Name(name)
}

// Name reports whether a host of an address is localhost or the literal of a
// loopback address, as they are usually written.
func Name(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	at, err := netip.ParseAddr(name)
	return err == nil && at.Zone() == "" && at.Unmap().IsLoopback()
}

// fromPage reports whether a browser sends a request for a page that is not of the port
// itself.
func fromPage(h http.Header, port int) bool {
	for _, site := range h.Values("Sec-Fetch-Site") {
		if site != "none" && site != "same-origin" { // none is the person's own address line
			return true
		}
	}
	for _, origin := range h.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" || !namesUs(u.Host, port) {
			return true
		}
	}
	return false
}

// carries reports whether a request has the token, if one is wanted.
func carries(h http.Header, token string) bool {
	if token == "" {
		return true
	}
	given, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}
