//go:build !dev

package main

import "flag"

// ownFlags adds nothing in a release.
func ownFlags(*flag.FlagSet) {}
