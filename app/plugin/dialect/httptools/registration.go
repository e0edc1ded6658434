package httptools

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"slices"

	"conclave/app/tool"
)

// Registration is one tool as a program registered it. It is kept as JSON.
type Registration struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	CallbackURL string          `json:"callback_url"`
	Role        string          `json:"role,omitempty"` // empty is every role
	Source      string          `json:"source"`
	Timeout     float64         `json:"timeout_seconds"`

	// Address is the one that callback_url's host was resolved to when it was registered.
	Address netip.AddrPort `json:"address"`
	// NotFor are the roles for which a tool of every role was unregistered.
	NotFor []string `json:"not_for,omitempty"`
	// Program registered it, Listener answered at the address then; empty where the system
	// does not know.
	Program  string `json:"program,omitempty"`
	Listener string `json:"listener,omitempty"`
	// Order is that of registration: of two of one name the later counts.
	Order uint64 `json:"order"`

	live    bool   // it registered, or its address answered, since Conclave started
	version uint64 // of what is known of it; no two have one
}

// id returns the key of a registration. The same source, name and role replace one
// another.
func (r *Registration) id() string {
	return hash(r.Source, r.Name, r.Role)
}

// hash returns 32 hexadecimal digits that stand for texts.
func hash(texts ...string) string {
	raw, err := json.Marshal(texts)
	if err != nil { // texts can be written
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// isFor reports whether the tool is for a role.
func (r *Registration) isFor(role string) bool {
	return (r.Role == "" || r.Role == role) && !slices.Contains(r.NotFor, role)
}

// same reports whether two registrations say the same, whenever they were made.
func (r *Registration) same(other *Registration) bool {
	return r.Name == other.Name && r.Description == other.Description &&
		string(r.Parameters) == string(other.Parameters) &&
		r.CallbackURL == other.CallbackURL && r.Role == other.Role && r.Source == other.Source &&
		r.Timeout == other.Timeout && r.Address == other.Address && r.Program == other.Program &&
		r.Listener == other.Listener && slices.Equal(r.NotFor, other.NotFor)
}

// defaultRole is the role of who answers where no council does.
const defaultRole = tool.MainRole
