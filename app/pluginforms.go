package app

import (
	"encoding/json"
)

// PluginForm is what a person may set of a plugin. Schema and Values travel as
// text: what they hold is the plugin's, and the page reads it as it needs it.
type PluginForm struct {
	Schema   string   `json:"schema"`
	Values   string   `json:"values"`
	Secrets  []string `json:"secrets"`
	Problems []string `json:"problems"`
}

// Settings returns what a person may set of a plugin, and what is set.
func (p *Plugins) Settings(id string) (PluginForm, error) {
	f, err := p.core.Host.Options(p.call(), id)
	if err != nil {
		return PluginForm{}, err
	}
	return PluginForm{Schema: string(f.Schema), Values: string(f.Values), Secrets: list(f.Secrets), Problems: list(f.Problems)}, nil
}

// SetSettings replaces what is set by a JSON object, and starts the plugin anew.
func (p *Plugins) SetSettings(id, values string) error {
	return p.core.Host.SetOptions(p.call(), id, json.RawMessage(values))
}
