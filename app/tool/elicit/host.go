package elicit

import (
	"net/url"

	"golang.org/x/net/idna"
)

// Host returns the host of an address in letters that nothing can imitate: of one with letters beyond
// ASCII, the form that the name service knows (xn--…).
func Host(u *url.URL) string {
	host := u.Hostname()
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host
}
