package window

import (
	"context"
	"encoding/json"
	"maps"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/settings"
	"conclave/app/view"
)

// Settings is bound: what the person set for the window.
type Settings struct {
	*lifecycle
	core Core
}

// Get returns the settings.
func (s *Settings) Get() (SettingsView, error) {
	return keptSettings(s.call(), s.core)
}

// keptSettings reads the revision before what it is of: whoever changes that in between announces
// a newer one, and the page asks again.
func keptSettings(ctx context.Context, core Core) (SettingsView, error) {
	revision := core.Bus.Revision(bus.Settings, "")
	set, err := core.Settings.Settings(ctx)
	if err != nil {
		return SettingsView{}, err
	}
	return settingsView(core, revision, set), nil
}

func settingsView(core Core, revision uint64, s settings.Settings) SettingsView {
	v := SettingsView{Page: s.Page, Revision: revision, HTTPToken: s.HTTPToken}
	v.Keys = maps.Clone(s.Keys)
	if core.HTTP != nil && s.HTTPTools {
		address, trouble := core.HTTP.Address()
		http := view.NewHTTPStatus(s, address, trouble)
		v.HTTPAddress, v.HTTPTrouble = http.Address, http.Trouble
	}
	return language.Shown(v)
}

// SettingsPatch holds the settings that change, by name.
//
//page:type Partial<PageSettings>
type SettingsPatch map[string]json.RawMessage

// Set changes the settings given; the others stay. Keys are replaced as a whole.
func (s *Settings) Set(patch SettingsPatch) (SettingsView, error) {
	ctx := s.call()
	var bad error
	_, err := s.core.Settings.ChangeSettings(ctx, func(now *settings.Settings) {
		edited := now.Page
		edited.Keys = maps.Clone(edited.Keys)
		if _, given := patch["keys"]; given {
			edited.Keys = map[string]string{}
		}
		raw, err := json.Marshal(patch)
		if err == nil {
			err = json.Unmarshal(raw, &edited)
		}
		if err != nil {
			bad = fault.Wrap(fault.Invalid, "app.settings", "A setting is not of its kind.", "", err)
			return
		}
		now.Page = edited
	})
	if bad != nil {
		return SettingsView{}, bad
	}
	if err != nil {
		return SettingsView{}, err
	}
	s.core.Bus.Changed(bus.Settings, "")
	return keptSettings(ctx, s.core)
}
