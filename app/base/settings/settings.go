// Package settings defines what a person may set: the values, their defaults, and
// which values are valid; [Current] reads and changes them in the store.
//
// A Settings value is stored as one JSON record. Keys that this version does not know
// survive a load and a save, so that a newer Conclave's settings are not lost by
// opening the store with an older one.
package settings

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/pattern"
	"conclave/app/model"
	"conclave/app/model/cost"
)

// Theme is the colours of the window.
type Theme string

// The themes.
const (
	System   Theme = "system" // as the system is
	Light    Theme = "light"
	Dark     Theme = "dark"
	Contrast Theme = "contrast"
)

// Font is the font of messages.
type Font string

// The fonts.
const (
	Sans  Font = "sans" // that of the window itself
	Serif Font = "serif"
)

// SendKey is the key that sends a message; the other makes a new line.
type SendKey string

// The keys that send.
const (
	Enter    SendKey = "enter"
	ModEnter SendKey = "mod-enter" // with Ctrl, or ⌘ on macOS
)

// Page holds the settings that the window's page shows and changes: each field is one
// of its type Settings, too.
type Page struct {
	Theme Theme `json:"theme"`
	// The language of the window, and of the terminal where the environment names none.
	Language    language.Language `json:"language"`
	Zoom        int               `json:"zoom"`      // size of everything in the window in percent, 50 to 300
	TextSize    int               `json:"text_size"` // size of message text in px, 13 to 22
	ReadingFont Font              `json:"reading_font"`
	SendKey     SendKey           `json:"send_key"`
	// After sending: hold the question at the top, or follow the end.
	Follow      bool `json:"follow"`
	ScanAtStart bool `json:"scan_at_start"` // look for local models at start
	// Command that opens an editor, with {file} and {line}; "" = the system's choice.
	Editor       string `json:"editor"`
	SidebarOpen  bool   `json:"sidebar_open"`
	SidebarWidth int    `json:"sidebar_width"`
	DockOpen     bool   `json:"dock_open"`
	DockWidth    int    `json:"dock_width"`
	DockTab      string `json:"dock_tab"`
	ModelTitles  bool   `json:"model_titles"` // a chat's model names it after its first answer
	// A finished answer is announced by the system while the window does not have the keyboard.
	NotifyAnswers bool `json:"notify_answers"`
	// Models that the person marked, and those chosen last, the newest first.
	FavouriteModels []string `json:"favourite_models"`
	RecentModels    []string `json:"recent_models"`
	// The part of a model's context that definitions of tools may take, in percent, 1 to 100; a model finds
	// those that do not fit when it needs them.
	ToolShare int `json:"tool_share"`

	// What models may cost for each plugin in a day, in US dollars, and in tokens of
	// models without a known price.
	PluginSpend  float64 `json:"plugin_spend"`
	PluginTokens int64   `json:"plugin_tokens"`

	HTTPTools bool `json:"http_tools"` // programs of this computer may register tools
	HTTPPort  int  `json:"http_port"`  // at this port

	// Changed shortcuts: command id → chord ("Mod+Shift+P"), "" for none; commands not named
	// keep theirs. Chords of a key alone are not read: they would take the key from every
	// text field.
	Keys map[string]string `json:"keys"`
}

// Settings are all values. The zero value is not useful; start from Default.
type Settings struct {
	Page

	OpenChat     string             `json:"open_chat"`     // the chat looked at last
	Draft        string             `json:"draft"`         // the half-written first message of a new chat
	DefaultModel string             `json:"default_model"` // empty until the person chooses one
	Connections  []model.Connection `json:"connections"`
	Python       string             `json:"python"`      // interpreter; empty = found
	ChainLimit   int                `json:"chain_limit"` // model requests with tools in one turn; 0 = any number
	Mode         string             `json:"mode"`        // careful, standard
	Prices       []cost.Price       `json:"prices"`      // of models, before the built-in ones
	HTTPToken    bool               `json:"http_token"`  // programs must carry the token that is stored with the keys
	// RequiredHooks are the plugins, by id, without whose hooks no answer is written.
	RequiredHooks []string `json:"required_hooks"`
	// Where the window was on each arrangement of displays, the newest first.
	WindowPlaces []WindowPlace `json:"window_places"`

	unknown map[string]json.RawMessage
}

// WindowPlace holds the window's place and size, in pixels, on an arrangement of displays.
type WindowPlace struct {
	Displays  string `json:"displays"` // the size of each: "1920x1080 2560x1440"
	X         int    `json:"x"`
	Y         int    `json:"y"`
	Width     int    `json:"width"` // as it is when it is not maximised
	Height    int    `json:"height"`
	Maximised bool   `json:"maximised"`
}

// DefaultHTTPPort is the port at which programs expect to register tools (contracts/neko,
// section 8).
const DefaultHTTPPort = 48911

// DemoModel is the model of a Conclave that has no other.
const DemoModel = "demo/guide"

// Default returns the settings of a new installation. The widths are those of
// the window's design (sidebar 264, dock 400 px); ten model requests are
// those of the llm program (contracts/llm-functions, section 8.7).
func Default() Settings {
	return Settings{
		Page: Page{
			Theme: System, Language: language.System, Zoom: 100, TextSize: 15, ReadingFont: Sans, SendKey: Enter,
			SidebarOpen: true, SidebarWidth: 264, DockOpen: true, DockWidth: 400, DockTab: "tools",
			ModelTitles: true, NotifyAnswers: true, ToolShare: 5, PluginSpend: 1, PluginTokens: 500_000,
			HTTPPort: DefaultHTTPPort,
			Keys:     map[string]string{}, FavouriteModels: []string{}, RecentModels: []string{},
		},
		Connections: []model.Connection{}, ChainLimit: 10, Mode: "standard", Prices: []cost.Price{},
		RequiredHooks: []string{}, WindowPlaces: []WindowPlace{},
	}
}

// plain is Settings without its methods, for the JSON of the known keys.
type plain Settings

// UnmarshalJSON reads known keys over the present values and keeps the others.
func (s *Settings) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*plain)(s)); err != nil {
		return err
	}
	maps.DeleteFunc(s.Keys, func(_, chord string) bool { return bare(chord) })
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	known, err := json.Marshal(plain(*s))
	if err != nil {
		return err
	}
	var names map[string]json.RawMessage
	if err := json.Unmarshal(known, &names); err != nil {
		return err
	}
	for name := range names {
		delete(all, name)
	}
	if s.unknown == nil {
		s.unknown = map[string]json.RawMessage{}
	}
	maps.Copy(s.unknown, all)
	return nil
}

// MarshalJSON writes the known keys and those kept from a newer version.
func (s Settings) MarshalJSON() ([]byte, error) {
	known, err := json.Marshal(plain(s))
	if err != nil || len(s.unknown) == 0 {
		return known, err
	}
	all := maps.Clone(s.unknown)
	var names map[string]json.RawMessage
	if err := json.Unmarshal(known, &names); err != nil {
		return nil, err
	}
	maps.Copy(all, names)
	return json.Marshal(all)
}

// Check returns a fault of kind invalid that names the first value that cannot
// be, or nil.
func (s Settings) Check() error {
	between := func(name string, value, low, high int) error {
		if value >= low && value <= high {
			return nil
		}
		return invalid(fmt.Sprintf("The setting %s cannot be %d.", name, value),
			fmt.Sprintf("It is from %d to %d.", low, high))
	}
	for _, err := range []error{
		oneOf("theme", s.Theme, System, Light, Dark, Contrast),
		oneOf("language", s.Language, language.System, language.English, language.Chinese),
		oneOf("reading_font", s.ReadingFont, Sans, Serif),
		oneOf("send_key", s.SendKey, Enter, ModEnter),
		oneOf("mode", s.Mode, "careful", "standard"),
		between("zoom", s.Zoom, 50, 300),
		between("text_size", s.TextSize, 13, 22),
		between("sidebar_width", s.SidebarWidth, 200, 360),
		between("dock_width", s.DockWidth, 360, 560),
		between("chain_limit", s.ChainLimit, 0, 1000),
		between("tool_share", s.ToolShare, 1, 100),
		between("http_port", s.HTTPPort, 1024, 65535),
	} {
		if err != nil {
			return err
		}
	}
	for command, chord := range s.Keys {
		if bare(chord) {
			return invalid(fmt.Sprintf("The shortcut of %s cannot be %s.", command, chord),
				"Hold Mod, Ctrl, Meta or Alt with it, or use a function key.")
		}
	}
	if err := s.PluginCap().Check(); err != nil {
		return err
	}
	for _, p := range s.Prices {
		if err := p.Check(); err != nil {
			return err
		}
	}
	seen := map[string]bool{"demo": true}
	for _, c := range s.Connections {
		if err := CheckConnection(c); err != nil {
			return err
		}
		if seen[c.Name] {
			return invalid("There is a connection named "+c.Name+" already.", "Choose another name.")
		}
		seen[c.Name] = true
	}
	return nil
}

var functionKey = pattern.Lazy(`^F[0-9]{1,2}$`)

// bare reports whether a chord is a key that one writes or moves the focus with, and not a shortcut.
func bare(chord string) bool {
	keys := strings.Split(chord, "+")
	holds := func(key string) bool { return slices.Contains([]string{"Mod", "Ctrl", "Meta", "Alt"}, key) }
	last := len(keys) - 1
	return chord != "" && !slices.ContainsFunc(keys[:last], holds) && !functionKey().MatchString(keys[last])
}

// PluginCap returns the amount that each plugin may spend on models in a day.
func (s Settings) PluginCap() cost.Cap {
	return cost.Cap{Dollars: s.PluginSpend, Tokens: s.PluginTokens}
}

// oneOf returns a fault of kind invalid when value is none of those allowed.
func oneOf[T ~string](name string, value T, allowed ...T) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	var words []string
	for _, one := range allowed {
		words = append(words, string(one))
	}
	return invalid(fmt.Sprintf("The setting %s cannot be “%s”.", name, value),
		"It is one of: "+strings.Join(words, ", ")+".")
}

var connectionName = pattern.Lazy(`^[a-z0-9][a-z0-9._-]{0,39}$`)

// Kinds are the kinds of connections a person can add.
var Kinds = []string{"openai", "anthropic", "google", "ollama"}

// CheckConnection returns a fault of kind invalid, or nil.
func CheckConnection(c model.Connection) error {
	if !connectionName().MatchString(c.Name) {
		return invalid("A connection cannot be named “"+c.Name+"”.",
			"Use small letters, digits, dots and dashes, at most 40.")
	}
	if !slices.Contains(Kinds, c.Kind) {
		return invalid("There is no kind of connection “"+c.Kind+"”.", "It is one of: "+strings.Join(Kinds, ", ")+".")
	}
	if c.URL == "" {
		return nil
	}
	u, err := url.Parse(c.URL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" ||
		strings.HasSuffix(u.Host, ":") || strings.ContainsAny(u.Path, " \t") {
		return invalid("“"+c.URL+"” is not the address of a model server.", "Write it like http://localhost:11434/v1.")
	}
	if u.User != nil || u.Query().Has("key") || u.Query().Has("api_key") {
		return invalid("The address of "+c.Name+" holds a key.", "Leave it out of the address; give it as the key.")
	}
	return nil
}

func invalid(message, hint string) error {
	return fault.New(fault.Invalid, "settings.check", message, hint)
}
