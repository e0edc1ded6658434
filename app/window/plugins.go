package window

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/view"
)

// Plugins is bound: the plugins of the watched folder.
type Plugins struct {
	*lifecycle
	core   Core
	undo   *undos
	adding adding
}

// PluginList is all plugins.
type PluginList struct {
	Revision uint64        `json:"revision"`
	Folder   string        `json:"folder"`  // the watched folder
	Problem  *Failure      `json:"problem"` // why the folder cannot be watched, else null
	Plugins  []view.Plugin `json:"plugins"` // sorted by name
}

// List returns all plugins, sorted by name.
func (p *Plugins) List() (PluginList, error) {
	folder, problem := p.core.Host.Folder.Dir, p.core.Host.Folder.Problem()
	out := PluginList{Revision: p.core.Bus.Revision(bus.Plugins, ""), Folder: folder}
	if problem != nil {
		out.Problem = &Failure{Kind: problem.Kind, Message: problem.Message, Hint: problem.Hint}
	}
	out.Plugins = view.Map(p.core.Host.List(), func(s plugin.Status) view.Plugin {
		return view.NewPlugin(s, p.core.Gate.About(s.ID))
	})
	slices.SortStableFunc(out.Plugins, func(a, b view.Plugin) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return language.Shown(out), nil
}

// of does something about a plugin. The kind is not_found when there is none of that id.
func (p *Plugins) of(id string, do func(ctx context.Context, s plugin.Status) error) error {
	s, err := p.core.Host.Status(id)
	if err != nil {
		return err
	}
	return do(p.call(), s)
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

// Show returns all that a person reads before they approve a plugin.
func (p *Plugins) Show(id string) (view.PluginDetail, error) {
	s, err := p.core.Host.Status(id)
	if err != nil {
		return view.PluginDetail{}, err
	}
	shown := view.NewPlugin(s, p.core.Gate.About(id))
	tools := view.NewTools(s, p.core.Tools.Set(), p.core.Gate.AboutTool, true)
	return language.Shown(view.NewPluginDetail(s, shown, tools, p.core.Host.Files(id))), nil
}

// SetEnabled switches a plugin on or off.
func (p *Plugins) SetEnabled(id string, on bool) error {
	return p.core.Host.SetEnabled(p.call(), id, on)
}

// Reload loads a plugin again.
func (p *Plugins) Reload(id string) error { return p.core.Host.Reload(id) }

// UseProgram has the command that a plugin was not started for (Problem.Program) be the program at path, for
// all plugins, and starts the plugin again. Kind invalid for what is no program.
func (p *Plugins) UseProgram(id, path string) error {
	return p.core.Host.Settings.ChooseProgram(id, path)
}

// SignIn signs the person in to the service that a plugin wants, in the browser. It returns when they are
// done there. While a sign-in waits, it shows that one's page again. service is the one that the person chose among
// several (view.Plugin.SignInServices), or empty; where they have to choose, the card offers the services then.
func (p *Plugins) SignIn(id, service string) error {
	how := plugin.Signing{Service: service, Open: func(_ context.Context, address string) error {
		return p.openURL(address)
	}}
	err := p.core.Host.SignIns.In(p.call(), id, how)
	if _, choose := errors.AsType[*plugin.ServicesError](err); choose {
		return nil
	}
	return err
}

// SignOut signs the person out of the service of a plugin.
func (p *Plugins) SignOut(id string) error { return p.core.Host.SignIns.Out(p.call(), id) }

// Approve approves what a person has read, as its digest (view.Plugin) identifies it, and nothing that
// comes after it; with tools also those that it lists first, unless something about them is odd. Kind
// conflict when something else waits by now, or nothing.
func (p *Plugins) Approve(id, digest string, developing, tools bool) error {
	return p.core.Host.Approvals.Approve(p.call(), id, digest, gate.ApproveOptions{Developing: developing, Tools: tools})
}

// KeepOld keeps the approved version of a plugin that changed in service, and asks
// again only after the next change; where only words for models changed, once the person wants
// to see them. digest and the kind of error are as for Approve.
func (p *Plugins) KeepOld(id, digest string) error {
	return p.core.Host.Approvals.KeepOld(p.call(), id, digest)
}

// SetDeveloping sets whether the person edits the plugin themselves.
func (p *Plugins) SetDeveloping(id string, developing bool) error {
	return p.core.Host.Approvals.SetDeveloping(p.call(), id, developing)
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

// TemplateView is a kind of plugin that Plugins.New can make.
type TemplateView struct {
	Kind     string `json:"kind"`
	Title    string `json:"title" say:"true"`
	Sentence string `json:"sentence" say:"true"` // one line: what it is good for
	// What it makes in the plugins folder; NAME stands for the name, a / at the end for a folder.
	File   string `json:"file"`
	Common bool   `json:"common"` // one of the first three a newcomer is offered
}

// Templates lists the kinds New can make.
func (p *Plugins) Templates() ([]TemplateView, error) {
	var out []TemplateView
	for _, t := range p.core.Library.Templates() {
		out = append(out, TemplateView{t.Kind, t.Title, t.Sentence, t.File, t.Common})
	}
	return language.Shown(out), nil
}

// New makes a plugin from a template and returns its id.
func (p *Plugins) New(kind, name string) (string, error) {
	id, _, err := p.core.Library.New(p.call(), kind, name)
	return id, err
}

// OpenFolder shows the plugin's folder in the system's file manager; id "" is the
// plugins folder.
func (p *Plugins) OpenFolder(id string) error {
	folder := p.core.Host.Folder.Dir
	if id != "" {
		s, err := p.core.Host.Status(id)
		if err != nil {
			return err
		}
		if view.Remote(s) {
			return noFiles("app.folder", s)
		}
		folder = s.Path
		if info, err := os.Stat(folder); err == nil && !info.IsDir() {
			folder = filepath.Dir(folder)
		}
	}
	return openPath(p.call(), folder)
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
	if view.Remote(s) {
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

// PluginLog is a stretch of a plugin's log.
type PluginLog struct {
	Revision uint64 `json:"revision"`
	// Lines after the one asked for, oldest first, at most 2,000.
	Lines   []view.LogLine `json:"lines"`
	Dropped uint64         `json:"dropped"` // how many older lines are no longer kept
}

// maxLogLines bounds what Log returns.
const maxLogLines = 2000

// Log returns the lines of the plugin's log with n > since.
func (p *Plugins) Log(id string, since uint64) (PluginLog, error) {
	out := PluginLog{Revision: p.core.Bus.Revision(bus.Log, id)}
	lines := p.core.Host.Log(id, since)
	if len(lines) > 0 && lines[0].N > since+1 {
		out.Dropped = lines[0].N - since - 1
	}
	out.Lines = view.Map(lines[max(0, len(lines)-maxLogLines):], func(l plugin.LogLine) view.LogLine {
		return view.NewLogLine(id, l)
	})
	return out, nil
}
