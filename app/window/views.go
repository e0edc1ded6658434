package window

import (
	"conclave/app/base/settings"
	"conclave/app/chat/transcript"
)

// Failure is a fault as the page shows it.
type Failure = transcript.Failure

// Undo names what can be taken back. Every destructive method returns one.
type Undo struct {
	Token string `json:"token"` // for Window.Undo
	// What was done, for the toast: "“Trip to Lyon” was deleted."
	Sentence string `json:"sentence"`
}

// SettingsView holds what the page may set.
type SettingsView struct {
	Revision    uint64           `json:"revision"`
	Theme       settings.Theme   `json:"theme"`
	Zoom        int              `json:"zoom"`      // size of everything in percent, 50 to 300
	TextSize    int              `json:"text_size"` // size of message text in px, 13 to 22
	ReadingFont settings.Font    `json:"reading_font"`
	SendKey     settings.SendKey `json:"send_key"`
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

	// How much each plugin may have models cost in a day, in US dollars, and in tokens of
	// models without a known price.
	PluginSpend  float64 `json:"plugin_spend"`
	PluginTokens int64   `json:"plugin_tokens"`

	// Programs of this computer may register tools, at this port; where they do now, and why
	// they cannot.
	HTTPTools   bool   `json:"http_tools"`
	HTTPPort    int    `json:"http_port"`
	HTTPToken   bool   `json:"http_token"` // they must carry a token
	HTTPAddress string `json:"http_address"`
	HTTPTrouble string `json:"http_trouble"` // why it is not open, or which program was refused

	// Changed shortcuts: command id → chord ("Mod+Shift+P"); commands not named keep theirs.
	Keys map[string]string `json:"keys"`
}

// Platform is the system that the window runs on.
type Platform string

// The systems that Conclave is made for.
const (
	Linux   Platform = "linux"
	MacOS   Platform = "darwin"
	Windows Platform = "windows"
)

// Hello is all that the first paint needs.
type Hello struct {
	Version       string       `json:"version"`
	Platform      Platform     `json:"platform"`
	FirstRun      bool         `json:"first_run"` // no model was connected and no chat was kept yet
	DataFolder    string       `json:"data_folder"`
	PluginsFolder string       `json:"plugins_folder"`
	LogFolder     string       `json:"log_folder"`
	Isolation     string       `json:"isolation"` // what holds plugins on this system, one sentence
	Licence       string       `json:"licence"`
	Settings      SettingsView `json:"settings"`
	// The chat to open: the last one looked at; "" = the welcome page.
	OpenChat string `json:"open_chat"`
	// The store was damaged and set aside, or the like; null when all is well.
	Trouble *Failure `json:"trouble"`
}
