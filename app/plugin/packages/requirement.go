package packages

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"conclave/app/base/pattern"
)

// requirement is one line of PEP 508: a name, extras, versions or an address,
// and a marker that says where it counts.
type requirement struct {
	name   string // as written
	extras string // "[a,b]" or ""
	spec   string // ">=2,<3" or ""
	url    string // of "name @ url"
	marker string // without the semicolon
}

// maxRequirement bounds one requirement; longer ones are nobody's.
const maxRequirement = 2000

var (
	namePattern = pattern.Lazy(`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[A-Za-z0-9._,\s-]*\])?\s*`)
	specPattern = pattern.Lazy(`^\(?\s*(?:(?:===|~=|==|!=|<=|>=|<|>)\s*[A-Za-z0-9._*+!-]+\s*,?\s*)*\)?$`)
)

// parseRequirement reads one requirement. The error says what is wrong with it,
// in words.
func parseRequirement(text string) (requirement, error) {
	if len(text) > maxRequirement {
		return requirement{}, fmt.Errorf("it is longer than %d characters", maxRequirement)
	}
	if strings.ContainsAny(text, "\x00\n\r") {
		return requirement{}, errors.New("it has more than one line")
	}
	if strings.Contains(text, "${") {
		return requirement{}, errors.New("it holds a variable")
	}
	m := namePattern().FindStringSubmatch(text)
	if m == nil {
		return requirement{}, errors.New("it does not begin with the name of a package")
	}
	r := requirement{name: m[1], extras: strings.Join(strings.Fields(m[2]), "")}
	rest := text[len(m[0]):]
	if address, ok := strings.CutPrefix(rest, "@"); ok {
		r.url, r.marker = cutMarker(address, " ;")
		if r.url == "" {
			return requirement{}, errors.New("its address is missing")
		}
		if !fetchable(r.url) {
			return requirement{}, errors.New("its address is not one of https")
		}
		return r, optionless(r.marker)
	}
	r.spec, r.marker = cutMarker(rest, ";")
	if !specPattern().MatchString(r.spec) {
		return requirement{}, fmt.Errorf("%q is no version", r.spec)
	}
	r.spec = strings.Join(strings.Fields(strings.Trim(r.spec, "()")), "")
	return r, optionless(r.marker)
}

// optionless says that a marker holds what an installer would take for an option.
func optionless(marker string) error {
	if strings.Contains(marker, "--") || strings.HasPrefix(marker, "-") || strings.Contains(marker, " -") {
		return errors.New("it holds an option")
	}
	return nil
}

// fetchable reports whether packages may come from an address at all: over https,
// or from this machine.
func fetchable(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || strings.ContainsAny(address, " \t\"'<>\\") {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "git+https" || loopback(u)
}

// cutMarker parts what stands before a marker from it. After an address the
// semicolon needs a space before it: it may be part of one.
func cutMarker(text, separator string) (before, marker string) {
	before, marker, _ = strings.Cut(text, separator)
	return strings.TrimSpace(before), strings.TrimSpace(marker)
}

// text writes the requirement as an installer reads it.
func (r requirement) text() string {
	out := r.name + r.extras + r.spec
	if r.url != "" {
		out = r.name + r.extras + " @ " + r.url
	}
	if r.marker != "" {
		out += " ; " + r.marker
	}
	return out
}

var separators = pattern.Lazy(`[-_.]+`)

// canonical is the name by which packages are compared (PEP 503).
func canonical(name string) string {
	return strings.ToLower(separators().ReplaceAllString(name, "-"))
}
