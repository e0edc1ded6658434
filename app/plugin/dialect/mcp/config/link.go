package config

import (
	"encoding/base64"
	"net/netip"
	"net/url"
	"strings"

	"conclave/app/net/address"
)

// isLink reports whether a text is a link that adds a server to a program.
func isLink(s string) bool {
	if strings.ContainsAny(s, " \t\r\n") {
		return false
	}
	lower := strings.ToLower(s)
	scheme, rest, found := strings.Cut(lower, ":")
	if !found {
		return false
	}
	rest = strings.TrimPrefix(rest, "//")
	switch scheme {
	case "http", "https":
		return strings.Contains(rest, "install-mcp?") || strings.Contains(rest, "vscode.dev/redirect")
	case "conclave", "cursor", "lmstudio", "vscode", "vscode-insiders":
		return true
	}
	return false
}

// link reads the server of a link. Nothing of a link is trusted: it names no address of this computer or its network,
// and none of the person's variables is put into it unasked.
func (p *parsing) link(link string) {
	name, root, ok := p.linked(link)
	if !ok {
		return
	}
	if p.program == "" {
		p.program = Link
	}
	if isEntry(root) && name != "" {
		p.inputs = p.described(root.get("inputs"))
		p.entry(name, root, "")
	} else if !p.shape(root) {
		p.refuse(Problem{
			Message: "The link names no server.", Hint: "Ask for the configuration itself, and paste that.",
		})
	}
	kept := p.servers[:0]
	for _, s := range p.servers {
		if host := s.PrivateHost(); host != "" {
			p.refuse(Problem{
				Server: s.Name, Message: "The link leads to " + host + ", an address of this computer or its network.",
				Hint: "If you know the server, type its address yourself.",
			})
			continue
		}
		for i := range s.Inputs {
			s.Inputs[i].Env = ""
		}
		kept = append(kept, s)
	}
	p.servers = kept
}

// linked returns the name and the configuration of a link.
func (p *parsing) linked(link string) (name string, root node, ok bool) {
	address, err := url.Parse(link)
	if err != nil {
		p.refuse(Problem{Message: "The link is damaged.", Hint: "Copy it again."})
		return "", node{}, false
	}
	query := address.Query()
	if inner := query.Get("url"); strings.Contains(link, "vscode.dev/redirect") && inner != "" {
		return p.linked(inner)
	}
	text := query.Get("config")
	if text == "" { // vscode:mcp/install?{…}
		_, raw, _ := strings.Cut(link, "?")
		if text, err = url.QueryUnescape(strings.ReplaceAll(raw, "+", "%2B")); err != nil {
			text = ""
		}
	}
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		text = unbase64(text)
	}
	if root, err = readJSON(text); err != nil {
		problem := problemOf(err)
		problem.Message = "The link holds no configuration that can be read: " + problem.Message
		p.refuse(problem)
		return "", node{}, false
	}
	if name = query.Get("name"); name == "" {
		name = root.get("name").words()
	}
	if inner := root.get("config"); isEntry(inner) {
		root = inner
	}
	if listed := query.Get("inputs"); listed != "" {
		if inputs, err := readJSON(listed); err == nil {
			root.members = append(root.members, member{"inputs", inputs})
		}
	}
	return name, root, true
}

// unbase64 decodes either alphabet, with padding or without; spaces were + before a query was read.
func unbase64(s string) string {
	s = strings.NewReplacer(" ", "+", "-", "+", "_", "/", "\n", "", "\r", "").Replace(s)
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return s
	}
	return decoded(raw)
}

// PrivateHost returns the host of a remote server that is this computer or lies in its network, also where defaults of
// its inputs make it that; "" for others, and for a host that only the person tells. It looks nothing up.
func (s Server) PrivateHost() string {
	host := s.host()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") ||
		strings.HasSuffix(host, ".internal") || !strings.ContainsAny(host, ".:") && host != "" {
		return host
	}
	if ip, err := netip.ParseAddr(host); err == nil && address.Private(ip) {
		return host
	}
	return ""
}

// host returns the host of a server's address in small letters, with the defaults of its inputs; "" for none.
func (s Server) host() string {
	var whole strings.Builder
	pieces(s.URL, func(literal string) { whole.WriteString(literal) }, func(id string) {
		given := "given.by.the.person"
		for _, input := range s.Inputs {
			if all := asTexts(input.Default); input.ID == id && len(all) > 0 {
				given = strings.Join(all, "")
			}
		}
		whole.WriteString(given)
	})
	_, rest, ok := strings.Cut(whole.String(), "://")
	if !ok {
		return ""
	}
	if end := strings.IndexAny(rest, `/?#\`); end >= 0 {
		rest = rest[:end]
	}
	rest = strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:])
	if inner, bracketed := strings.CutPrefix(rest, "["); bracketed {
		rest, _, _ = strings.Cut(inner, "]")
		return rest
	}
	rest, _, _ = strings.Cut(rest, ":")
	return strings.TrimSuffix(rest, ".")
}
