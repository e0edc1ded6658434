package tool

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// maxWireName is the longest function name that all providers take; the
// pattern is ^[a-zA-Z0-9_-]{1,64}$.
const maxWireName = 64

// wireNames gives each tool the name a model sees: the one that given has for it, else its own
// where that is legal and unique among tools, else "<plugin>__<name>" with every other
// character made "_", and where that is too long or taken, its first 55 characters, "_" and 8
// hex digits of the SHA-256 of the tool's id. A qualified tool is always called
// "<plugin>__<name>", and gives up characters of the plugin rather than of its name; that of a
// member has the member's name in place of the plugin.
//
// A name in given belongs to whoever it says, also where that is not among tools. A name that
// reads like a tool of another plugin's ("<plugin>__<name>") is no tool's own. The names depend
// on tools and given alone, so they are the same from run to run.
//
// It returns given with the names that are new; given itself stays as it is.
func wireNames(tools []Tool, given map[string]string) map[string]string {
	names := make(map[string]string, len(given)+len(tools))
	mine := make(map[string]string, len(given)) // by whose it is
	for name, whose := range given {
		names[name] = whose
		if other, two := mine[whose]; !two || name < other {
			mine[whose] = name
		}
	}
	count := make(map[string]int, len(tools))
	plugins := make(map[string]string, len(tools)) // by the name with the plugin
	for i := range tools {
		t := &tools[i]
		t.WireName = mine[t.Whose()]
		if t.Member != "" {
			continue
		}
		plugins[legalised(t.Plugin)+"__"+legalised(t.Name)] = t.Plugin
		if !t.Qualified {
			count[t.Name]++
		}
	}
	give := func(t *Tool, name string) { t.WireName, names[name] = name, t.Whose() }
	for i := range tools {
		t := &tools[i]
		if t.WireName != "" || t.Qualified || t.Member != "" || count[t.Name] != 1 || !legal(t.Name) ||
			t.Name == SearchName {
			continue
		}
		_, taken := names[t.Name]
		if plugin, reads := plugins[t.Name]; !taken && (!reads || plugin == t.Plugin) {
			give(t, t.Name)
		}
	}
	for i := range tools {
		switch t := &tools[i]; {
		case t.WireName != "":
		case t.Member != "":
			give(t, qualified(t.MemberName, t, names))
		case t.Qualified:
			give(t, qualified(t.Plugin, t, names))
		default:
			give(t, prefixed(t, names))
		}
	}
	return names
}

// prefixed is "<plugin>__<name>", cut with a hash where it is too long or taken.
func prefixed(t *Tool, names map[string]string) string {
	taken := func(name string) bool { _, there := names[name]; return there }
	name := legalised(t.Plugin) + "__" + legalised(t.Name)
	if len(name) > maxWireName || taken(name) {
		name = hashed(name, t.Whose())
	}
	for n := 1; taken(name); n++ {
		name = hashed(name, t.Whose()+"#"+strconv.Itoa(n))
	}
	return name
}

// maxBare limits the length of the right part of a qualified name; it leaves two
// characters for the left one (contracts/spindle, section 8.2).
const maxBare = 60

// qualified is "<left>__<name>", with as much of the left part, a plugin or whose tool it
// is, as there is room for. A name that is too long itself is cut with a hash; one that is
// taken gets a digit behind its left part.
func qualified(whose string, t *Tool, names map[string]string) string {
	bare := legalised(t.Name)
	if len(bare) > maxBare {
		sum := sha256.Sum256([]byte(t.Name))
		bare = bare[:maxBare-9] + "_" + hex.EncodeToString(sum[:4])
	}
	left := legalised(whose)
	room := maxWireName - len("__") - len(bare)
	for n := 1; ; n++ {
		mark := ""
		if n > 1 {
			mark = strconv.Itoa(n)
		}
		if len(mark) > room { // more equal names than digits have room for
			return prefixed(t, names)
		}
		name := left[:min(len(left), room-len(mark))] + mark + "__" + bare
		if _, taken := names[name]; !taken {
			return name
		}
	}
}

func hashed(name, id string) string {
	sum := sha256.Sum256([]byte(id))
	return name[:min(len(name), 55)] + "_" + hex.EncodeToString(sum[:4])
}

func legal(name string) bool {
	if name == "" || len(name) > maxWireName {
		return false
	}
	for i := range len(name) {
		if !legalByte(name[i]) {
			return false
		}
	}
	return true
}

func legalised(name string) string {
	b := make([]byte, 0, len(name))
	for _, r := range name {
		if r < 0x80 && legalByte(byte(r)) {
			b = append(b, byte(r))
		} else {
			b = append(b, '_')
		}
	}
	return string(b)
}

func legalByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
