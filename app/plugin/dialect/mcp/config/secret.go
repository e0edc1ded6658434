package config

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// secretWords are parts of names whose values are secrets.
var secretWords = []string{"key", "token", "secret", "password", "passwd", "passphrase", "credential", "pat", "auth"}

// secretName reports whether a variable or a parameter of this name holds a secret.
func secretName(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(word string) bool {
		if word == "pat" || word == "auth" { // parts of path and author
			parts := strings.FieldsFunc(lower, func(r rune) bool { return r == '_' || r == '-' || r == '.' })
			return slices.Contains(parts, word)
		}
		return strings.Contains(lower, word)
	})
}

// secretHeader reports whether a header of this name holds a secret.
func secretHeader(name string) bool {
	lower := strings.ToLower(name)
	return secretName(name) || strings.Contains(lower, "authorization") || strings.Contains(lower, "cookie")
}

// secretFlag reports whether the argument after this one is a secret: --api-key.
func secretFlag(arg string) bool {
	return strings.HasPrefix(arg, "-") && !strings.Contains(arg, "=") && secretName(strings.TrimLeft(arg, "-"))
}

// secretBeginnings begin the keys of well-known services.
var secretBeginnings = []string{
	"sk-", "sk_live_", "sk_test_", "rk_live_", "ghp_", "gho_", "ghu_", "ghs_", "github_pat_", "glpat-", "xoxb-",
	"xoxp-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "eyJ", "hf_", "npm_", "pypi-", "pplx-", "gsk_", "tvly-", "ntn_",
	"secret_",
	"lin_api_", "figd_", "fc-", "SG.", "shpat_", "dop_v1_", "pat_", "tskey-", "whsec_", "xai-", "r8_", "BSA",
}

// looksSecret reports whether a value is a key of a well-known service, or an address with a password.
func looksSecret(value string) bool {
	for _, beginning := range secretBeginnings {
		if strings.HasPrefix(value, beginning) && len(value) >= len(beginning)+12 && !strings.ContainsAny(value, " /") {
			return true
		}
	}
	if !strings.Contains(value, "://") {
		return false
	}
	address, err := url.Parse(value)
	if err != nil || address.User == nil {
		return false
	}
	password, has := address.User.Password()
	return has && password != "" && !strings.Contains(password, "${")
}

// IsSecret reports whether the value of a variable looks like a secret.
func IsSecret(name, value string) bool {
	return !plainValue(value) && secretName(name) || looksSecret(value)
}

// plainValue reports whether a value is none whatever its name: a number, a boolean, a path, a placeholder.
func plainValue(value string) bool {
	if value == "" || strings.Contains(value, "${input:") {
		return true
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil && len(value) < 8 {
		return true
	}
	if _, err := strconv.ParseBool(value); err == nil {
		return true
	}
	return strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") || strings.HasPrefix(value, "./") ||
		strings.HasPrefix(value, "${") || len(value) > 2 && value[1:3] == `:\`
}

// taking moves secrets out of a server.
type taking struct {
	s       *Server
	secrets map[string]string
}

// TakeSecrets returns the server with a placeholder and a secret Input for each literal value that looks like a secret
// (MC-92), and those values by the ids of the inputs.
func TakeSecrets(s Server) (kept Server, secrets map[string]string) {
	s = s.clone()
	t := taking{&s, map[string]string{}}
	for _, name := range sorted(s.Env) {
		if value := s.Env[name]; IsSecret(name, value) {
			s.Env[name] = t.take(name, value, "The variable "+name+".")
		}
	}
	for _, name := range sorted(s.Headers) {
		value := s.Headers[name]
		if plainValue(value) || !secretHeader(name) && !looksSecret(value) {
			continue
		}
		scheme, credential, two := strings.Cut(value, " ") // "Bearer abc"
		if !two || strings.Contains(credential, " ") {
			scheme, credential = "", value
		} else {
			scheme += " "
		}
		s.Headers[name] = scheme + t.take(name, credential, "The header "+name+".")
	}
	t.arguments()
	t.address()
	if s.OAuth != nil && s.OAuth.ClientSecret != "" && !plainValue(s.OAuth.ClientSecret) {
		s.OAuth.ClientSecret = t.take("CLIENT_SECRET", s.OAuth.ClientSecret, "The secret of the client that signs in.")
	}
	return s, t.secrets
}

// take keeps a secret, and returns its placeholder.
func (t *taking) take(name, value, about string) string {
	id := legal(name)
	for n := 2; slices.ContainsFunc(t.s.Inputs, func(in Input) bool { return in.ID == id }); n++ {
		id = legal(name) + "_" + strconv.Itoa(n)
	}
	t.s.Inputs = append(t.s.Inputs, Input{ID: id, Secret: true, Description: about})
	t.secrets[id] = value
	return placeholder(id)
}

func (t *taking) arguments() {
	for i, arg := range t.s.Args {
		flag, value, joined := strings.Cut(arg, "=")
		switch {
		case looksSecret(arg):
			t.s.Args[i] = t.take("argument", arg, "An argument of its command.")
		case joined && !plainValue(value) && secretAssignment(flag), joined && looksSecret(value):
			t.s.Args[i] = flag + "=" + t.take(strings.TrimLeft(flag, "-"), value, "The argument "+flag+".")
		case i > 0 && secretFlag(t.s.Args[i-1]) && !strings.HasPrefix(arg, "-") && !plainValue(arg):
			before := t.s.Args[i-1]
			t.s.Args[i] = t.take(strings.TrimLeft(before, "-"), arg, "The argument "+before+".")
		case i > 0 && t.s.Args[i-1] == "--header":
			name, value, ok := strings.Cut(arg, ":")
			if value = strings.TrimSpace(value); ok && secretHeader(name) && !plainValue(value) {
				t.s.Args[i] = name + ": " + t.take(name, value, "The header "+name+".")
			}
		}
	}
}

// secretAssignment reports whether what stands before = in an argument names a secret: --api-key, or NAME of -e NAME=….
func secretAssignment(flag string) bool {
	return secretName(strings.TrimLeft(flag, "-")) && !strings.ContainsAny(flag, " /:")
}

// address takes secrets out of the query of the server's address, and a password before its host.
func (t *taking) address() {
	before, query, ok := strings.Cut(t.s.URL, "?")
	if ok {
		parts := strings.Split(query, "&")
		for i, part := range parts {
			name, value, has := strings.Cut(part, "=")
			if has && !plainValue(value) && (secretName(name) || looksSecret(value)) {
				parts[i] = name + "=" + t.take(name, value, "The part “"+name+"” of its address.")
			}
		}
		t.s.URL = before + "?" + strings.Join(parts, "&")
	}
	scheme, rest, _ := strings.Cut(t.s.URL, "://")
	host := rest
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		host = rest[:end]
	}
	at := strings.LastIndexByte(host, '@')
	user, password, has := strings.Cut(host[:max(at, 0)], ":")
	if has && !plainValue(password) {
		stand := t.take("password", password, "The password in its address.")
		t.s.URL = scheme + "://" + user + ":" + stand + rest[at:]
	}
}

// clone returns a copy whose maps and lists can be changed.
func (s Server) clone() Server {
	s.Args, s.Inputs, s.Warnings = slices.Clone(s.Args), slices.Clone(s.Inputs), slices.Clone(s.Warnings)
	s.Marked, s.Include, s.Exclude = slices.Clone(s.Marked), slices.Clone(s.Include), slices.Clone(s.Exclude)
	s.Env, s.Headers = maps.Clone(s.Env), maps.Clone(s.Headers)
	if s.OAuth != nil {
		s.OAuth = ptr(*s.OAuth)
		s.OAuth.Scopes = slices.Clone(s.OAuth.Scopes)
	}
	return s
}
