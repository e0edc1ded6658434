package chat

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Wrote returns the addresses among a call's arguments that the person wrote in a chat
// themselves, each of them whole, and that no call was made with since. What others wrote
// for them counts for nothing: attachments, imports, messages that a plugin had a hand in.
func Wrote(c Conversation, path []Message, arguments json.RawMessage) []string {
	if slices.ContainsFunc(c.Origins, func(o Origin) bool { return o.Kind == FromImport || o.Kind == FromMore }) {
		return nil
	}
	var own []string
	for _, address := range addresses(arguments) {
		if wrote(path, address) {
			own = append(own, address)
		}
	}
	return own
}

// wrote looks for the address from the end of a path on.
func wrote(path []Message, address string) bool {
	answered := false // the calls of a message were, so that they are not those being made
	for i := len(path) - 1; i >= 0; i-- {
		m := &path[i]
		switch {
		case m.Role == RoleTool:
			answered = true
		case m.Role == RoleAssistant && answered && slices.ContainsFunc(m.Parts, func(p Part) bool {
			return p.Call != nil && (slices.Contains(addresses(p.Call.Arguments), address) ||
				strings.Contains(p.Call.Raw, address))
		}):
			return false
		case m.Role == RoleUser && len(m.Origins) == 0 && holdsAddress(TextOf(m.Parts), address):
			return true
		}
	}
	return false
}

// addresses returns the texts within a JSON value that are addresses.
func addresses(raw json.RawMessage) []string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	var all []string
	var look func(any)
	look = func(value any) {
		switch v := value.(type) {
		case string:
			if strings.Contains(v, "://") && !slices.Contains(all, v) {
				all = append(all, v)
			}
		case []any:
			for _, item := range v {
				look(item)
			}
		case map[string]any:
			for _, item := range v {
				look(item)
			}
		}
	}
	look(value)
	return all
}

// holdsAddress reports whether a person's text holds an address as a whole, or all of it
// but its scheme, which people leave out.
func holdsAddress(text, address string) bool {
	bare, secure := strings.CutPrefix(address, "https://")
	if holdsWhole(text, address) || secure && holdsWhole(text, bare) {
		return true
	}
	host, root := strings.CutSuffix(bare, "/")
	if !root || strings.Contains(host, "/") {
		return false
	}
	return holdsWhole(text, strings.TrimSuffix(address, "/")) || secure && holdsWhole(text, host)
}

const (
	beforeAddress = "(<[{\"'“‘«>*`"
	afterAddress  = ")>]}\"'”’»*`"
	endsSentence  = ".,;:!?…"
)

// holdsWhole reports whether a part stands in a text as no part of a longer address.
func holdsWhole(text, part string) bool {
	for at := 0; part != ""; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			return false
		}
		at += i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if (at == 0 || unicode.IsSpace(before) || strings.ContainsRune(beforeAddress, before)) &&
			endsThere(text[at+len(part):]) {
			return true
		}
		at++
	}
	return false
}

// endsThere reports whether an address ends where the rest of its text begins.
func endsThere(rest string) bool {
	rest = strings.TrimLeft(rest, endsSentence)
	next, size := utf8.DecodeRuneInString(rest)
	return size == 0 || unicode.IsSpace(next) || strings.ContainsRune(afterAddress, next)
}
