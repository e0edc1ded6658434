package window

import (
	"context"
	"encoding/json"
	"maps"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
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
	var http view.HTTPStatus
	if core.HTTP != nil && s.HTTPTools {
		address, trouble := core.HTTP.Address()
		http = view.NewHTTPStatus(s, address, trouble)
	}
	return SettingsView{
		revision, s.Theme, s.Zoom, s.TextSize, s.ReadingFont, s.SendKey, s.Follow, s.ScanAtStart,
		s.Editor,
		s.SidebarOpen, s.SidebarWidth, s.DockOpen, s.DockWidth, s.DockTab, s.ModelTitles,
		s.PluginSpend, s.PluginTokens, s.HTTPTools,
		s.HTTPPort, s.HTTPToken, http.Address, http.Trouble, maps.Clone(s.Keys),
	}
}

// SettingsPatch is those fields of SettingsView that change.
//
//page:type Partial<Omit<Settings, "revision">>
type SettingsPatch map[string]json.RawMessage

// Set changes the fields given; the others stay.
func (s *Settings) Set(patch SettingsPatch) (SettingsView, error) {
	ctx := s.call()
	var bad error
	_, err := s.core.Settings.ChangeSettings(ctx, func(now *settings.Settings) {
		edited := settingsView(s.core, 0, *now)
		raw, err := json.Marshal(patch)
		if err == nil {
			err = json.Unmarshal(raw, &edited)
		}
		if err != nil {
			bad = fault.Wrap(fault.Invalid, "app.settings", "A setting is not of its kind.", "", err)
			return
		}
		now.Zoom = edited.Zoom
		now.Theme, now.TextSize, now.ReadingFont, now.SendKey, now.Follow = edited.Theme, edited.TextSize, edited.ReadingFont,
			edited.SendKey, edited.Follow
		now.ScanAtStart, now.Editor, now.ModelTitles = edited.ScanAtStart, edited.Editor, edited.ModelTitles
		now.SidebarOpen, now.SidebarWidth, now.DockOpen, now.DockWidth, now.DockTab = edited.SidebarOpen, edited.SidebarWidth,
			edited.DockOpen, edited.DockWidth, edited.DockTab
		now.PluginSpend, now.PluginTokens = edited.PluginSpend, edited.PluginTokens
		now.HTTPTools, now.HTTPPort = edited.HTTPTools, edited.HTTPPort
		if _, given := patch["keys"]; given {
			now.Keys = map[string]string{}
			bad = json.Unmarshal(patch["keys"], &now.Keys)
		}
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
