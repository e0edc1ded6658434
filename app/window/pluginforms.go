package window

import (
	"encoding/json"

	"conclave/app/view"
)

// PluginForm tells what a person may set of a plugin. Schema and Values travel as
// text: what they hold is the plugin's, and the page reads it as it needs it.
type PluginForm struct {
	Schema   string   `json:"schema"`   // JSON Schema of an object, as text; "" = nothing to set
	Values   string   `json:"values"`   // what is set, a JSON object as text, without secrets
	Secrets  []string `json:"secrets"`  // the paths of the secrets that are set: "server.token"
	Problems []string `json:"problems"` // why the values do not fit the schema as it is now
}

// Settings returns what a person may set of a plugin, and what is set.
func (p *Plugins) Settings(id string) (PluginForm, error) {
	f, err := p.core.Host.Settings.Form(p.call(), id)
	if err != nil {
		return PluginForm{}, err
	}
	return PluginForm{
		Schema: string(f.Schema), Values: string(f.Values), Secrets: view.List(f.Secrets), Problems: view.List(f.Problems),
	}, nil
}

// SetRunning sets how many calls of a plugin run at once (0 is the default), whether it goes on running while
// nobody uses it, and whether models get the words about its tools that the person approved, whatever it says now.
// Kind invalid for a number that cannot be.
func (p *Plugins) SetRunning(id string, atOnce int, keep, words bool) error {
	if err := p.core.Host.Settings.SetAtOnce(p.call(), id, atOnce); err != nil {
		return err
	}
	if err := p.core.Host.Settings.SetKeepRunning(p.call(), id, keep); err != nil {
		return err
	}
	return p.core.Host.Settings.SetKeepWords(p.call(), id, words)
}

// SetSettings replaces the settings by a JSON object, and restarts the plugin; a
// secret that is null is deleted. Kind invalid names what does not fit.
func (p *Plugins) SetSettings(id, values string) error {
	return p.core.Host.Settings.Set(p.call(), id, json.RawMessage(values))
}
