package window

import (
	"conclave/app/view"
)

// ConnectionState describes how the last test of a connection went.
type ConnectionState string

// The states of a connection.
const (
	ConnectionUnknown ConnectionState = "unknown" // not asked yet
	ConnectionListed  ConnectionState = "listed"  // it listed its models in an earlier run of the program
	ConnectionAsking  ConnectionState = "asking"  // a test runs
	ConnectionOK      ConnectionState = "ok"
	ConnectionFailed  ConnectionState = "failed"
)

// ConnectionView is one provider's card.
type ConnectionView struct {
	Name      string          `json:"name"` // left half of "connection/model"
	Kind      string          `json:"kind"`
	Title     string          `json:"title"`
	URL       string          `json:"url"`
	Host      string          `json:"host"` // host asked, for “Asking api.example.org…”
	HasKey    bool            `json:"has_key"`
	BuiltIn   bool            `json:"built_in"` // Demo guide: cannot be changed or removed
	State     ConnectionState `json:"state"`
	Problem   *Failure        `json:"problem"` // state failed
	LatencyMS int64           `json:"latency_ms"`
	Checked   string          `json:"checked"`
	Models    []string        `json:"models"` // model ids added by hand
}

// ProviderView is a vendor, or a program of this computer, that can be connected.
type ProviderView struct {
	ID       string `json:"id"`
	Kind     string `json:"kind"` // of the connection
	Title    string `json:"title"`
	URL      string `json:"url"` // address to start from; "" = the vendor's own
	NeedsKey bool   `json:"needs_key"`
	AsksURL  bool   `json:"asks_url"` // the address is asked for, too
	KeyPage  string `json:"key_page"` // where a person gets a key; "" = nowhere
	// Regular expressions that its keys match, the more particular first, to guess the provider from a key.
	KeyShapes []string `json:"key_shapes"`
	Local     bool     `json:"local"`  // it runs on this computer
	Models    []string `json:"models"` // ids of its models, where it does not list them
}

// SavedConnection has the result of Models.Save.
type SavedConnection struct {
	Name    string   `json:"name"`    // "" where nothing was stored
	Problem *Failure `json:"problem"` // why its server did not list its models; null = it did, or was not asked
}

// ModelList is all connections and their models.
type ModelList struct {
	Revision    uint64           `json:"revision"`
	Default     string           `json:"default"` // "connection/model"
	Connections []ConnectionView `json:"connections"`
	Models      []view.Model     `json:"models"` // sorted by connection, then title
	Providers   []ProviderView   `json:"providers"`
	// “Keys are kept in the system keychain.”, or what is used instead.
	KeyStore string `json:"key_store" say:"true"`
	// KeysLocked says that the keys are in an encrypted file whose passphrase is needed first (Models.Unlock).
	KeysLocked bool `json:"keys_locked"`
	KeysFresh  bool `json:"keys_fresh"` // that passphrase is still to be chosen
}

// ConnectionEdit is a connection as a person writes it. Its key goes to the key
// store and nowhere else.
type ConnectionEdit struct {
	Kind string `json:"kind"`
	// "" lets Go make one from the title. Cannot change in Update.
	Name  string `json:"name"`
	Title string `json:"title"`
	URL   string `json:"url"`
	// "" leaves the key as it is. Travels inwards only.
	Key    string   `json:"key"`
	Models []string `json:"models"`
}
