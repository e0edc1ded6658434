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
	Sentence string `json:"sentence" say:"true"`
}

// SettingsView holds what the page may set, and where programs register tools.
type SettingsView struct {
	settings.Page
	Revision    uint64 `json:"revision"`
	HTTPToken   bool   `json:"http_token"`              // programs must carry a token
	HTTPAddress string `json:"http_address"`            // where they register now
	HTTPTrouble string `json:"http_trouble" say:"true"` // why they cannot, or which program was refused
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
