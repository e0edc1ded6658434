package plugin

import (
	"context"
	"strings"

	"conclave/app/base/fault"
)

// Signing holds what a sign-in needs from whoever asks for it.
type Signing struct {
	// Open shows the page of the service.
	Open func(ctx context.Context, address string) error
	// Service is the address, or the host, of the service that the person chose among several; empty: none was.
	Service string
}

// ServicesError is the error of a sign-in that could be at several services: the person has to choose one.
// It is also a fault of kind conflict.
type ServicesError struct {
	Plugin   string // its id
	Name     string // as a person reads it
	Services []string
}

// Error implements error.
func (e *ServicesError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error as a fault.
func (e *ServicesError) Unwrap() error {
	return fault.New(fault.Conflict, "plugins.signin",
		e.Name+" has several sign-in services: "+strings.Join(e.Services, ", ")+".",
		"Choose one on its card, or with: conclave mcp login "+e.Plugin+" --with SERVICE")
}
