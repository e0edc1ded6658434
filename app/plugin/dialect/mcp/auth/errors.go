package auth

import (
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/hidden"
	"conclave/app/base/shorten"
)

// NeedsSignIn is the error of a request that a server refuses until the person signs in. It is also
// a fault of kind not_allowed.
type NeedsSignIn struct {
	Server  string // its name, as a person reads it
	Address string
	Reason  string   // a sentence
	Scopes  []string // what the server wants in addition, where it said so
}

// Error implements error.
func (n *NeedsSignIn) Error() string { return n.fault().Error() }

// Unwrap returns the error as a fault.
func (n *NeedsSignIn) Unwrap() error { return n.fault() }

func (n *NeedsSignIn) fault() *fault.Error {
	return fault.New(fault.NotAllowed, "mcp.auth", n.Reason,
		"Press “Sign in to "+n.Server+"” on its card, or run conclave mcp login.")
}

// NeedsClient is the error of a sign-in at a service that lets no program register by itself. The
// person registers Conclave there, and enters what the service gave. It is also a fault of kind
// unavailable.
type NeedsClient struct {
	Server   string
	Issuer   string // the sign-in service
	Redirect string // the redirect address to register
	Page     string // where the service describes how; often empty
}

// Error implements error.
func (n *NeedsClient) Error() string { return n.fault().Error() }

// Unwrap returns the error as a fault.
func (n *NeedsClient) Unwrap() error { return n.fault() }

func (n *NeedsClient) fault() *fault.Error {
	hint := "Register Conclave there as a native app with the redirect address " + n.Redirect +
		", and enter the client ID that you get in the settings of " + n.Server + "."
	if n.Page != "" {
		hint += " The service describes it at " + n.Page + "."
	}
	return fault.New(fault.Unavailable, "mcp.auth",
		"The sign-in service of "+n.Server+", "+n.Issuer+", lets no program register by itself.", hint)
}

// refuse returns the error of a sign-in that is not safe, or cannot be.
func refuse(message, hint string) *fault.Error {
	return fault.New(fault.NotAllowed, "mcp.auth", message, hint)
}

// unreachable returns the error of a service that does not answer, or not as it should.
func unreachable(message string, err error) *fault.Error {
	return fault.Wrap(fault.Unavailable, "mcp.auth", message, "Check the connection and try again.", err)
}

// foreign returns a text that somebody else wrote, as a part of a sentence.
func foreign(text string, most int) string {
	text, _ = hidden.Strip(shorten.Bytes(text, 8*most))
	return shorten.To(strings.Join(strings.Fields(text), " "), most)
}

func lower(text string) string { return strings.ToLower(text) }

// union returns the words of all lists, each once, in their order.
func union(lists ...[]string) []string {
	var all []string
	for _, list := range lists {
		for _, word := range list {
			if !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
	}
	return all
}
