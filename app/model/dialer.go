package model

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"conclave/app/net/loopback"
)

// unknownUser stands in Connection.ServedBy for programs whose user the system does not
// report.
const unknownUser = "unknown"

// admits reports whether a program of this computer may be sent what a person asks a model:
// the person's own, those of root and of services, such as the Ollama that a package
// installs, and those of the user whom the person named (servedBy).
func admits(peer loopback.Peer, servedBy string) bool {
	switch peer.Whose {
	case loopback.Mine, loopback.Services, loopback.Untold:
		return true
	case loopback.Others:
		return servedBy != "" && (servedBy == peer.User() || servedBy == strconv.FormatUint(uint64(peer.UID), 10))
	case loopback.Unknown:
	}
	return servedBy == unknownUser
}

// newDialer returns what connects to model servers. Before anything is sent, it closes a
// connection to a program of this computer that is not admitted.
func newDialer(servedBy string) *loopback.Dialer {
	return &loopback.Dialer{
		Dialer: net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second},
		Admit:  func(peer loopback.Peer) bool { return admits(peer, servedBy) },
	}
}

// meetTime bounds how long Meet waits for a server of this computer to take a connection.
const meetTime = 2 * time.Second

// Meet connects to the server of a connection on this computer, and sends it nothing. The
// error is an *Error of kind Stranger if its program is not admitted; that nothing answers
// there, or that it is another computer, is none.
func Meet(ctx context.Context, c Connection) error {
	u, err := url.Parse(strings.TrimSpace(c.URL))
	if err != nil || !IsLoopback(u.Host) {
		return nil //nolint:nilerr // what cannot be an address is said elsewhere
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	ctx, cancel := context.WithTimeout(ctx, meetTime)
	defer cancel()
	conn, err := newDialer(c.ServedBy).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if stranger, ok := errors.AsType[*loopback.Stranger](err); ok {
		return &Error{Kind: StrangersServer, Host: u.Host, User: stranger.Peer.User(), Err: err}
	}
	if err == nil {
		_ = conn.Close()
	}
	return nil
}
