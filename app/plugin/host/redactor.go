package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"conclave/app/plugin"
	"conclave/app/tool"
)

// masked stands for a secret.
const masked = "•••"

// minSecret is the least length of a secret, in bytes: masking a shorter one
// would mask ordinary words.
const minSecret = 4

// redactor knows the secrets that a plugin got, so that what it says about them
// (results, errors, printed text, its log) reaches neither the record nor a model
// nor the window. The zero value knows none. It is safe for concurrent use.
type redactor struct {
	mu      sync.Mutex // guards secrets
	secrets []string
}

// add adds a secret.
func (m *redactor) add(secret string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(secret) >= minSecret && !slices.Contains(m.secrets, secret) {
		m.secrets = append(m.secrets, secret)
		// A secret that holds another is masked whole.
		slices.SortFunc(m.secrets, func(a, b string) int { return len(b) - len(a) })
	}
}

// minKept is the least length of a plugin's own secret that is masked: what
// it keeps may be as ordinary as “true”.
const minKept = 8

// learn adds the secrets that the plugin reads and writes, so
// that nothing it says contains them.
func (m *redactor) learn(service string, args json.RawMessage, value any) {
	var secret string
	switch service {
	case "secrets.get":
		found, _ := value.(map[string]any)
		secret, _ = found["value"].(string)
	case "secrets.put":
		var given struct {
			Value string `json:"value"`
		}
		_ = json.Unmarshal(args, &given) // what cannot be read was refused
		secret = given.Value
	}
	if len(secret) >= minKept {
		m.add(secret)
	}
}

// known returns the secrets, longest first; the slice is not changed later.
func (m *redactor) known() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.secrets)
}

// text returns text without the secrets.
func (m *redactor) text(text string) string {
	for _, secret := range m.known() {
		text = strings.ReplaceAll(text, secret, masked)
	}
	return text
}

// quoted returns text, which is JSON or the beginning of some, without the secrets as they may be written in it.
func (m *redactor) quoted(text string) string {
	for _, secret := range m.known() {
		for _, form := range written(secret) {
			text = strings.ReplaceAll(text, form, masked)
		}
	}
	return text
}

// withoutBegun returns text, which was cut off, without a secret that it ends in the middle of.
func (m *redactor) withoutBegun(text string) string {
	for _, secret := range m.known() {
		for _, form := range append(written(secret), secret) {
			for n := min(len(form)-1, len(text)); n > 0; n-- {
				if strings.HasSuffix(text, form[:n]) {
					text = text[:len(text)-n]
					break
				}
			}
		}
	}
	return text
}

// written returns the ways in which a text is written in JSON, where that is not as it is.
func written(text string) (forms []string) {
	for _, html := range []bool{true, false} {
		var b strings.Builder
		out := json.NewEncoder(&b)
		out.SetEscapeHTML(html)
		_ = out.Encode(text) // a text can be written
		form := strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
		forms = append(forms, form, ascii(form))
	}
	return slices.DeleteFunc(forms, func(form string) bool { return form == text })
}

// ascii returns the inside of a text in JSON with all other characters escaped, as Python writes it.
func ascii(text string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		if unit < utf8.RuneSelf {
			b.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// problem returns an error without the secrets, where it is a *plugin.Problem: that quotes what the plugin wrote.
func (m *redactor) problem(err error) error {
	p, ok := errors.AsType[*plugin.Problem](err)
	if !ok {
		return err
	}
	c := *p
	c.Message, c.Hint, c.Frame, c.Stderr = m.text(p.Message), m.text(p.Hint), m.text(p.Frame), m.text(p.Stderr)
	return &c
}

// result takes the secrets out of what a call answered.
func (m *redactor) result(r *tool.Result) {
	secrets := m.known()
	if len(secrets) == 0 {
		return
	}
	for i := range r.Content {
		r.Content[i].Text = m.text(r.Content[i].Text)
	}
	r.Error, r.Traceback, r.Printed = m.text(r.Error), m.text(r.Traceback), m.text(r.Printed)
	for _, secret := range secrets {
		quoted, err := json.Marshal(secret) // as it is written inside JSON
		if err == nil {
			quoted = bytes.Trim(quoted, `"`)
			r.Value = bytes.ReplaceAll(r.Value, quoted, []byte(masked))
			r.Meta = bytes.ReplaceAll(r.Meta, quoted, []byte(masked))
		}
	}
}
