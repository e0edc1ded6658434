// Package address lists the network addresses that plugins, models and pages may not
// reach: those of this computer and its own network, and those where clouds keep a
// machine's credentials. It makes no connections.
package address

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// global is where all public addresses of IPv6 are.
var global = netip.MustParsePrefix("2000::/3")

// notPublic are ranges that netip has no word for.
var notPublic = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// embedding are ranges of IPv6 whose addresses hold one of IPv4, by where in them it
// begins: what such an address reaches may be that one.
var embedding = map[netip.Prefix]int{
	netip.MustParsePrefix("::/96"): 12, netip.MustParsePrefix("::ffff:0:0:0/96"): 12,
	netip.MustParsePrefix("64:ff9b::/96"): 12, netip.MustParsePrefix("2002::/16"): 2,
}

// metadata are addresses outside the link-local ranges at which clouds give a machine
// its credentials.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd20:ce::254"),
}

// metadataNames are names by which such an address is asked for.
var metadataNames = []string{"metadata.google.internal", "metadata", "instance-data"}

func prefixes(texts ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, p := range texts {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

// Private reports whether an address is of this computer or its own network, or
// of nobody.
func Private(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !global.Contains(a) || Metadata(a) ||
		slices.ContainsFunc(notPublic, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Here reports whether an address leads to programs of this computer that listen for its own
// alone: those of loopback, and the one that stands for any, which systems connect to as those.
func Here(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsLoopback() || a.IsUnspecified()
}

// Metadata reports whether an address is one at which clouds keep a machine's
// credentials, or one of IPv6 that holds it.
func Metadata(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for prefix, at := range embedding {
		if prefix.Contains(a) {
			bytes := a.As16()
			if Metadata(netip.AddrFrom4([4]byte(bytes[at:]))) {
				return true
			}
		}
	}
	return a.IsLinkLocalUnicast() || slices.Contains(metadata, a)
}

// NamesMetadata reports whether text, an address, a host's name or a URL, names
// such an address.
func NamesMetadata(text string) bool {
	host := strings.ToLower(text)
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		host = strings.ToLower(u.Hostname())
	}
	host = strings.TrimSuffix(host, ".")
	if slices.Contains(metadataNames, host) {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && Metadata(a)
}
