package host

import (
	"slices"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// version is one state of a plugin's source, and what is known of it.
type version struct {
	src        plugin.Source
	digest     string
	dialect    plugin.Dialect
	manifest   plugin.Manifest
	listing    plugin.Listing
	tools      []tool.Tool // as listed by running it
	listed     bool
	isolation  sandbox.Confinement
	settings   string // digest of the person's settings it was loaded with
	selfReport        // as read, or as listed
}

// facts are those of v's dialect.
func (v version) facts() plugin.Facts {
	if v.dialect == nil {
		return plugin.Facts{}
	}
	return v.dialect.Facts()
}

// loadTime returns the time that v may take to load; fallback is that of plugins whose dialect names none.
func (v version) loadTime(fallback time.Duration) time.Duration {
	p, ok := v.dialect.(plugin.Patient)
	if !ok {
		return fallback
	}
	first, later := p.LoadTime(v.manifest)
	if v.listed {
		return later
	}
	return first
}

// installs reports whether starting v for the first time installs something.
func (v version) installs() bool {
	p, ok := v.dialect.(plugin.Patient)
	if !ok {
		return false
	}
	first, later := p.LoadTime(v.manifest)
	return first > later
}

// forApproval describes v to the gate.
func (v version) forApproval() gate.PluginVersion {
	c := gate.PluginVersion{
		Plugin: v.src.ID, Name: v.manifest.Name, Dialect: v.manifest.Dialect, Code: v.digest,
		Tools: v.listing.Tools, Permissions: v.manifest.Permissions, Imports: v.listing.Imports,
		Isolation: v.isolation.Level, ReadAll: v.listing.Known, Settings: v.settings,
		Folder: v.src.Display, Hidden: v.manifest.Hidden, Marked: v.manifest.Marked,
	}
	facts := v.facts()
	c.Convention, c.Sealed = facts.Convention, facts.Sealed
	if v.listed {
		c.Tools, c.Listed = v.tools, true
	}
	return c
}

// recorded returns the version of src with this digest from the record, and whether that has it.
func (e *entry) recorded(src plugin.Source, digest string) (v version, known bool) {
	v = version{src: src, digest: digest, settings: e.settings()}
	rec := e.now().record
	dialect := e.h.Dialects.named(rec.Manifest.Dialect)
	if rec.Digest != digest || src.Tools != "" || dialect == nil {
		return v, false
	}
	v.dialect, v.manifest, v.listing, v.tools = dialect, rec.Manifest, rec.Listing, fromStored(rec.Tools)
	// A toolbox's settings make its tools: others are listed again, whichever process set them.
	v.listed = rec.Listed && rec.Settings == v.settings
	v.selfReport = selfReport{options: rec.Options, notes: rec.Notes, wakes: rec.Wakes}
	v.isolation = confinementOf(dialect, v.manifest, e.h.o.Launcher)
	return v, true
}

// good returns the version whose files were kept, for the plugin at src.
func (m *memory) good(src plugin.Source) (version, bool) {
	good := m.e.now().record.Good
	if good == nil {
		return version{}, false
	}
	v := version{
		src:    plugin.Source{ID: src.ID, Path: good.Base, Folder: good.Folder, Display: src.Display, Row: good.Row},
		digest: good.Digest, manifest: good.Manifest, tools: fromStored(good.Tools), listed: true,
		dialect:  m.e.h.Dialects.named(good.Manifest.Dialect),
		settings: m.e.settings(),
	}
	v.isolation = confinementOf(v.dialect, v.manifest, m.e.h.o.Launcher)
	if good.Row != "" || good.Base == "" {
		v.src.Dialect = good.Manifest.Dialect
	}
	if good.Base == "" {
		return v, v.dialect != nil
	}
	v.src = m.e.files.copyOf(v)
	return v, m.e.files.copied(v) && v.dialect != nil
}

// previewPermissions returns the permissions of a plugin that is only previewed: to
// offer tools, which opens nothing.
func (v version) previewPermissions() []string {
	needed := v.facts().ToolsPermission
	return slices.DeleteFunc(slices.Clone(v.manifest.Permissions), func(p string) bool { return p != needed })
}
