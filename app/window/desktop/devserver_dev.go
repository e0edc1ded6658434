//go:build dev

package desktop

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"conclave/app/base/fault"
	"conclave/app/net/loopback"
)

// guardDevServer takes the address at which Wails' development server was to listen, and has
// that listen elsewhere. Wails takes a WebSocket from any page of any browser (its CheckOrigin
// is always true), and whoever has one calls all that the window's own page calls. What
// comes to the address passes the guard of package loopback first: it is sent by a program of
// the person's, names this computer, and comes from no other page. Where Wails listens instead
// is told to nobody: at a port that is given at random and, on Linux, at one of 16 million
// loopback addresses.
//
// The flag or the variable of Wails is changed in place, since Wails reads them itself. It
// returns what gives the address back.
func guardDevServer(ctx context.Context, log *slog.Logger) (release func(), err error) {
	given, change := devServerSetting()
	if given == "" {
		return func() {}, nil
	}
	host, number, err := net.SplitHostPort(given)
	port, err2 := strconv.Atoi(number)
	if errors.Join(err, err2) != nil || !loopback.Name(host) {
		return nil, fault.New(fault.Invalid, "window.devserver", "The development server cannot listen at "+given+".",
			"Name a port of this computer, as -devserver localhost:34115.")
	}
	inner, err := hiddenAddress(ctx)
	if err != nil {
		return nil, err
	}
	server := loopback.New(loopback.Options{Handler: passTo(inner), Log: log})
	_, release, err = server.Open(ctx, port)
	if err != nil {
		return nil, err
	}
	change(inner)
	return release, nil
}

// devServerSetting returns where Wails is told to serve, and what tells it another address.
func devServerSetting() (given string, change func(to string)) {
	const variable, name = "devserver", "devserver"
	if given := os.Getenv(variable); given != "" {
		return given, func(to string) { _ = os.Setenv(variable, to) }
	}
	for i, argument := range os.Args[1:] {
		flag, value, joined := strings.Cut(argument, "=")
		if strings.TrimLeft(flag, "-") != name || flag == name {
			continue
		}
		if joined {
			return value, func(to string) { os.Args[1+i] = flag + "=" + to }
		}
		if i+2 < len(os.Args) {
			return os.Args[i+2], func(to string) { os.Args[i+2] = to }
		}
	}
	return "", nil
}

// hiddenAddress returns an address of this computer that nobody can guess, with a free port.
func hiddenAddress(ctx context.Context) (string, error) {
	at := netip.AddrFrom4([4]byte{127, 0, 0, 1})
	if runtime.GOOS == "linux" { // which has all of 127.0.0.0/8
		var raw [3]byte
		_, _ = rand.Read(raw[:]) // it never fails
		at = netip.AddrFrom4([4]byte{127, raw[0], raw[1], 1 + raw[2]%254})
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", netip.AddrPortFrom(at, 0).String())
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// passTo passes requests on to an address, and waits until somebody listens there.
func passTo(address string) http.Handler {
	const patience, pause = 10 * time.Second, 20 * time.Millisecond
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		for {
			c, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if !errors.Is(err, syscall.ECONNREFUSED) {
				return c, err
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return nil, err
			}
		}
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: address})
			r.Out.Host = r.In.Host
		},
		Transport: &http.Transport{DialContext: dial}, FlushInterval: -1,
	}
}

// ownFlags accepts the flags of Wails' development build, which reads them
// itself.
func ownFlags(flags *flag.FlagSet) {
	for _, name := range []string{"assetdir", "devserver", "frontenddevserverurl", "loglevel"} {
		flags.String(name, "", "of Wails' development server")
	}
}
