package engine

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// parseHost reads a host as the URL Standard's host parser does (section 3.5):
// a name, an IPv4 address in any of its disguises, or an IPv6 address in
// brackets.
func parseHost(text string, special bool) (string, bool) {
	if strings.HasPrefix(text, "[") {
		if !strings.HasSuffix(text, "]") {
			return "", false
		}
		addr, err := netip.ParseAddr(text[1 : len(text)-1])
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", false
		}
		return "[" + serializeIPv6(addr) + "]", true
	}
	if !special {
		if strings.ContainsAny(text, "\x00\t\n\r #/:<>?@[\\]^|") {
			return "", false
		}
		return escape(text, ""), true
	}
	decoded := unescape(text)
	host, err := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false),
		idna.CheckHyphens(false)).ToASCII(decoded)
	if err != nil || host == "" || strings.ContainsAny(host, "\x00\t\n\r #%/:<>?@[\\]^`{|}") ||
		strings.ContainsFunc(host, func(r rune) bool { return r <= 0x1f || r == 0x7f }) {
		return "", false
	}
	return parseIPv4(strings.ToLower(host))
}

// serializeIPv6 writes an address without the dotted form netip uses for mapped
// IPv4.
func serializeIPv6(addr netip.Addr) string {
	if !addr.Is4In6() {
		return addr.String()
	}
	b := addr.As16()
	return "::ffff:" + strconv.FormatUint(uint64(b[12])<<8|uint64(b[13]), 16) + ":" +
		strconv.FormatUint(uint64(b[14])<<8|uint64(b[15]), 16)
}

// parseIPv4 returns host as it is unless it ends in a number, which makes it an
// IPv4 address of one to four numbers, each decimal, octal or hexadecimal.
func parseIPv4(host string) (string, bool) {
	parts := strings.Split(strings.TrimSuffix(host, "."), ".")
	if last := parts[len(parts)-1]; !isNumber(last) {
		return host, true
	}
	if len(parts) > 4 {
		return "", false
	}
	var value uint64
	for i, part := range parts {
		n, ok := parseIPv4Number(part)
		if !ok {
			return "", false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return "", false
			}
			value |= n << (8 * (3 - i))
			continue
		}
		if n >= 1<<(8*(5-len(parts))) {
			return "", false
		}
		value |= n
	}
	b := [4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}
	return netip.AddrFrom4(b).String(), true
}

func isNumber(part string) bool {
	if part == "" {
		return false
	}
	if strings.Trim(part, "0123456789") == "" {
		return true
	}
	_, ok := parseIPv4Number(part)
	return ok
}

func parseIPv4Number(part string) (uint64, bool) {
	base := 10
	switch {
	case part == "":
		return 0, false
	case strings.HasPrefix(part, "0x"):
		part, base = part[2:], 16
	case len(part) > 1 && part[0] == '0':
		part, base = part[1:], 8
	}
	if part == "" {
		return 0, true
	}
	n, err := strconv.ParseUint(part, base, 32)
	return n, err == nil
}

func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
