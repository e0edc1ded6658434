//go:build !linux

package loopback

import "net/netip"

// Listening returns the program that listens at an address of this computer; this system
// does not tell.
func Listening(netip.AddrPort) (Program, bool) { return Program{}, false }

// OtherUsers reports whether a program of another user listens at an address; this system
// does not tell.
func OtherUsers(netip.AddrPort) bool { return false }

// Connected returns the program at the far end of a connection; this system does not tell.
func Connected(_, _ netip.AddrPort) (Program, bool) { return Program{}, false }

// OthersConnected reports whether a program of another user is at the far end of a connection;
// this system does not tell.
func OthersConnected(_, _ netip.AddrPort) bool { return false }
