package address

import (
	"net/netip"
	"testing"
)

func TestOnlyPublicAddressesArePublic(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "10.1.2.3": true, "192.168.0.1": true, "172.16.0.1": true, "169.254.169.254": true,
		"100.64.0.1": true, "0.0.0.0": true, "::": true,
		"::1": true, "fe80::1": true, "fd00::1": true, "::ffff:127.0.0.1": true, "224.0.0.1": true, "64:ff9b::7f00:1": true,
		"2002:7f00:1::": true,
		"8.8.8.8":       false, "1.1.1.1": false, "2606:4700::1111": false,
	} {
		if got := Private(netip.MustParseAddr(text)); got != want {
			t.Errorf("Private(%s) = %v", text, got)
		}
	}
}

// Addresses of IPv6 that hold one of IPv4, or that are nobody's on the internet.
func TestNoSpellingOfAPrivateAddressIsPublic(t *testing.T) {
	for _, text := range []string{
		"::7f00:1", "::ffff:0:7f00:1", "2001::80ff:fffe", "fec0::1", "2001:10::1", "5f00::1", "3fff::1", "::1%lo",
		"64:ff9b:1::7f00:1", "192.88.99.1",
	} {
		if !Private(netip.MustParseAddr(text)) {
			t.Errorf("%s is public", text)
		}
	}
	for _, text := range []string{
		"169.254.169.254", "::ffff:a9fe:a9fe", "::a9fe:a9fe", "::ffff:0:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1",
		"fe80::a9fe:a9fe%eth0",
		"64:ff9b::6464:64c8", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254",
	} {
		if !Metadata(netip.MustParseAddr(text)) {
			t.Errorf("%s can be asked by who may ask this network", text)
		}
	}
	for _, text := range []string{"192.168.1.1", "127.0.0.1", "::1", "fd00::1", "64:ff9b::c0a8:101"} {
		if Metadata(netip.MustParseAddr(text)) {
			t.Errorf("%s cannot be asked even by who may ask this network", text)
		}
	}
}

func TestThisComputerIsKnownByEachAddressThatLeadsToItself(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": true, "127.1.2.3": true, "::1": true, "::1%lo": true, "::ffff:127.0.0.1": true,
		"0.0.0.0": true, "::": true, "::%lo": true, "::ffff:0.0.0.0": true,
		"192.168.0.1": false, "fe80::1": false, "8.8.8.8": false, "0.0.0.1": false,
	} {
		if got := Here(netip.MustParseAddr(text)); got != want {
			t.Errorf("Here(%s) = %v", text, got)
		}
	}
}

func TestAMetadataAddressIsKnownHoweverItIsNamed(t *testing.T) {
	for text, want := range map[string]bool{
		"169.254.169.254": true, "http://169.254.169.254/latest": true, "https://[::ffff:a9fe:a9fe]:80/": true,
		"[64:ff9b::a9fe:a9fe]":  true,
		"http://168.63.129.16/": true, "http://[fd20:ce::254]/": true, "Metadata.Google.Internal.": true,
		"http://metadata/x": true, "100.100.100.200": true,
		"http://8.8.8.8/": false, "192.168.0.1": false, "metadata.example.org": false, "the metadata": false, "": false,
	} {
		if got := NamesMetadata(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
