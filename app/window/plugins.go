package window

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Plugins is bound: the plugins of the watched folder.
type Plugins struct {
	*lifecycle
	core   Core
	undo   *undos
	adding adding
}

// List returns all plugins, sorted by name.
func (p *Plugins) List() (PluginList, error) {
	folder, problem := p.core.Host.Folder.Dir, p.core.Host.Folder.Problem()
	out := PluginList{Revision: p.core.Bus.Revision(bus.Plugins, ""), Folder: folder, Plugins: []PluginView{}}
	if problem != nil {
		out.Problem = &Failure{Kind: problem.Kind, Message: problem.Message, Hint: problem.Hint}
	}
	approvals := p.approvals()
	for _, s := range p.core.Host.List() {
		out.Plugins = append(out.Plugins, p.view(s, approvals[s.ID]))
	}
	slices.SortStableFunc(out.Plugins, func(a, b PluginView) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return out, nil
}

// approvals returns what was approved of each plugin.
func (p *Plugins) approvals() map[string]gate.Approval {
	out := map[string]gate.Approval{}
	for _, a := range p.core.Gate.Approvals.List() {
		out[a.Plugin] = a
	}
	return out
}

// remote reports whether a plugin is a program that registered its tools: of such a one no
// path is known, but an address.
func remote(s plugin.Status) bool {
	at, err := url.Parse(s.Path)
	return err == nil && at.Host != ""
}

func (p *Plugins) view(s plugin.Status, approved gate.Approval) PluginView {
	m := s.Manifest
	v := PluginView{
		ID: s.ID, Name: m.Name, Version: m.Version, Description: m.Description, Author: m.Author, Homepage: m.Homepage,
		Dialect: m.Dialect,
		Path:    s.Path, Remote: remote(s), State: s.State, Enabled: s.State != plugin.Disabled, Tools: []string{},
		Permissions: permissionViews(m.Permissions, s.Granted, s.Denied),
		Folders:     []PluginFolderView{}, Refused: []PluginRefusalView{},
		Capabilities: []string{}, Isolation: s.Isolation.Level,
		IsolationNote: s.IsolationNote(), FoundNote: s.FoundNote(),
		LoadMS: float64(s.Load.Microseconds()) / 1000, Generation: s.Generation, Loaded: chat.Stamp(s.Loaded),
		Calls: s.Calls, Errors: s.Errors,
		LastUsed: chat.Stamp(s.LastUsed), Warnings: []string{}, Developing: approved.Developing, Shipped: approved.Bundled,
		Running: s.Running, Memory: s.Usage.Memory, Digest: cmp.Or(s.Shown, s.Digest),
		Packages: packagesView(s), Settings: len(s.Options) > 0,
	}
	if !m.WorkingCopy {
		v.Origin, _ = tool.Strip(s.Origin)
	}
	for _, f := range s.Folders {
		v.Folders = append(v.Folders, PluginFolderView(f))
	}
	for _, r := range s.Refused {
		v.Refused = append(v.Refused, PluginRefusalView{r.Permission, r.Path, r.Write, r.Command(s.ID)})
	}
	for _, c := range p.core.Gate.Reach.CapabilitiesOf(s.ID) {
		v.Capabilities = append(v.Capabilities, c.Label())
	}
	if s.Problem != nil {
		v.Problem = problemView(s.Problem)
	}
	if s.Serving && (s.Problem != nil || s.LastGood) {
		v.ServingSince = chat.Stamp(s.Loaded)
	}
	v.Warnings = append(append(v.Warnings, s.Manifest.Notices...), s.Notes...)
	v.Warnings = append(v.Warnings, p.core.Gate.Approvals.Shadowing(s.ID)...)
	if told := s.Disclosure(); told != "" {
		v.Warnings = append(v.Warnings, told)
	}
	for _, t := range s.Tools {
		if s.Serving {
			v.Tools = append(v.Tools, t.ID())
		}
		for _, w := range t.Warnings {
			v.Warnings = append(v.Warnings, t.Name+": "+w)
		}
	}
	return v
}

// permissionViews are the permissions a plugin asks for, in its order, and what
// was granted or denied besides. Addresses of one's own network come with those
// of the web, since no manifest asks for them.
func permissionViews(asked, granted, denied []string) []PluginPermissionView {
	names := slices.Clone(asked)
	if slices.Contains(asked, "cors_proxy") {
		names = append(names, "local_network")
	}
	names = append(append(names, granted...), denied...)
	out := []PluginPermissionView{}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		state := PermissionAsked
		switch {
		case slices.Contains(granted, name):
			state = PermissionGranted
		case slices.Contains(denied, name):
			state = PermissionDenied
		}
		f := gate.Describe(name)
		out = append(out, PluginPermissionView{
			name, f.Sentence, f.Without, f.Risk, f.Supported, state, gate.ManualOnly(name),
		})
	}
	return out
}

// of does something about a plugin. The kind is not_found when there is none of that id.
func (p *Plugins) of(id string, do func(ctx context.Context, s plugin.Status) error) error {
	ctx := p.call()
	s, err := p.core.Host.Status(id)
	if err != nil {
		return err
	}
	return do(ctx, s)
}

// SetPermission grants or denies a plugin one permission.
func (p *Plugins) SetPermission(id, permission string, granted bool) error {
	effect := gate.Deny
	if granted {
		effect = gate.Allow
	}
	return p.of(id, func(ctx context.Context, s plugin.Status) error {
		return p.core.Gate.Reach.SetPermission(ctx, s.ID, permission, effect)
	})
}

// GrantFolder lets a plugin read a folder or file, and write there.
func (p *Plugins) GrantFolder(id, path string, write bool) error {
	return p.of(id, func(ctx context.Context, s plugin.Status) error {
		_, err := p.core.Gate.Reach.GrantFolder(ctx, s.ID, gate.Folder{Path: path, Write: write})
		return err
	})
}

// RevokeFolder takes a folder or file back from a plugin.
func (p *Plugins) RevokeFolder(id, path string) error {
	return p.of(id, func(ctx context.Context, s plugin.Status) error {
		return p.core.Gate.Reach.RevokeFolder(ctx, s.ID, path)
	})
}

func problemView(p *plugin.Problem) *ProblemView {
	message, _ := tool.Strip(p.Message)
	frame, _ := tool.Strip(p.Frame)
	stderr, _ := tool.Strip(p.Stderr)
	return &ProblemView{p.Kind, message, p.Type, p.File, p.Line, p.Column, frame, p.Hint, list(p.Missing), stderr}
}

// Show returns what a person reads before approving.
func (p *Plugins) Show(id string) (PluginDetail, error) {
	s, err := p.core.Host.Status(id)
	if err != nil {
		return PluginDetail{}, err
	}
	out := PluginDetail{
		Plugin: p.view(s, p.approvals()[s.ID]), Tools: []ToolView{}, Listed: s.Listed, Files: p.core.Host.Files(id),
		Imports: list(s.Imports), Changes: list(s.Changes), Marks: []gate.Mark{},
	}
	for _, t := range s.Tools {
		out.Tools = append(out.Tools, toolView(p.core, t, s))
		out.HiddenRemoved += t.Hidden
		for _, line := range t.Marked {
			out.Marks = append(out.Marks, gate.Mark{Where: t.Name, Text: line})
		}
	}
	return out, nil
}

// Enable switches a plugin on.
func (p *Plugins) Enable(id string) error {
	ctx := p.call()
	return p.core.Host.SetEnabled(ctx, id, true)
}

// Disable switches a plugin off.
func (p *Plugins) Disable(id string) error {
	ctx := p.call()
	return p.core.Host.SetEnabled(ctx, id, false)
}

// Reload loads a plugin again.
func (p *Plugins) Reload(id string) error { return p.core.Host.Reload(id) }

// Approve approves what a person has read, as PluginView.Digest identifies it, and nothing that
// comes after it. Kind conflict when something else waits by now, or nothing.
func (p *Plugins) Approve(id, digest string, developing bool) error {
	return p.core.Host.Approvals.Approve(p.call(), id, digest, developing)
}

// KeepOld keeps the approved version of a plugin that changed in service, and asks
// again only after the next change. digest and the kind of error are as for Approve.
func (p *Plugins) KeepOld(id, digest string) error {
	return p.core.Host.Approvals.KeepOld(p.call(), id, digest)
}

// SetDeveloping says whether the person edits the plugin themselves.
func (p *Plugins) SetDeveloping(id string, developing bool) error {
	ctx := p.call()
	return p.core.Host.Approvals.SetDeveloping(ctx, id, developing)
}

// Remove moves the plugin out of the plugins folder, with undo.
func (p *Plugins) Remove(id string) (Undo, error) {
	ctx := p.call()
	s, err := p.core.Host.Status(id)
	if err != nil {
		return Undo{}, err
	}
	kept, err := p.core.Library.Remove(ctx, id)
	if err != nil {
		return Undo{}, err
	}
	return p.undo.add("“"+s.Manifest.Name+"” was removed.", func(ctx context.Context) error {
		return p.core.Library.Restore(ctx, kept)
	}), nil
}

// Templates lists the kinds New can make.
func (p *Plugins) Templates() ([]TemplateView, error) {
	var out []TemplateView
	for _, t := range p.core.Library.Templates() {
		out = append(out, TemplateView{t.Kind, t.Title, t.Sentence, t.File, t.Common})
	}
	return out, nil
}

// New makes a plugin from a template and returns its id.
func (p *Plugins) New(kind, name string) (string, error) {
	ctx := p.call()
	id, _, err := p.core.Library.New(ctx, kind, name)
	return id, err
}

// OpenFolder shows the plugin's folder in the system's file manager; id "" is the
// plugins folder.
func (p *Plugins) OpenFolder(id string) error {
	ctx := p.call()
	folder := p.core.Host.Folder.Dir
	if id != "" {
		s, err := p.core.Host.Status(id)
		if err != nil {
			return err
		}
		if remote(s) {
			return noFiles("app.folder", s)
		}
		folder = s.Path
		if info, err := os.Stat(folder); err == nil && !info.IsDir() {
			folder = filepath.Dir(folder)
		}
	}
	return openPath(ctx, folder)
}

func noFiles(op string, s plugin.Status) error {
	return fault.New(fault.Conflict, op,
		s.Manifest.Name+" has no files here: it is a program that answers at "+s.Path+".", "")
}

// OpenInEditor opens a file of the plugin at a line, 0 = the start; file is relative
// to the plugin's folder, "" = its entry. It returns the name of the program that shows it, "" for
// the one that the system has for such files.
func (p *Plugins) OpenInEditor(id, file string, line int) (string, error) {
	ctx := p.call()
	s, err := p.core.Host.Status(id)
	if err != nil {
		return "", err
	}
	if remote(s) {
		return "", noFiles("app.editor", s)
	}
	path := s.Path
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if file == "" {
			file = s.Manifest.Entry
		}
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			return "", fault.New(fault.Invalid, "app.editor", "That file does not belong to "+s.Manifest.Name+".", "")
		}
		path = filepath.Join(path, filepath.FromSlash(file))
	}
	set, err := p.core.Settings.Settings(ctx)
	if err != nil {
		return "", err
	}
	return openEditor(ctx, set.Editor, path, line)
}

// maxLogLines bounds what Log returns.
const maxLogLines = 2000

// Log returns the lines of the plugin's log with n > since.
func (p *Plugins) Log(id string, since uint64) (PluginLog, error) {
	out := PluginLog{Revision: p.core.Bus.Revision(bus.Log, id), Lines: []LogLineView{}}
	lines := p.core.Host.Log(id, since)
	if len(lines) > 0 && lines[0].N > since+1 {
		out.Dropped = lines[0].N - since - 1
	}
	for _, l := range lines[max(0, len(lines)-maxLogLines):] {
		text, _ := tool.Strip(l.Text)
		out.Lines = append(out.Lines, LogLineView{l.N, chat.Stamp(l.Time), LogLevel(l.Level), text})
	}
	return out, nil
}
