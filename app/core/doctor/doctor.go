// Package doctor checks what this machine has: the store, the plugins, Python, the sandbox, the
// programs and the models. It changes nothing. Read Machine.Check first.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/version"
	"conclave/app/model"
	"conclave/app/model/connections"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
	"conclave/app/terminal"
	"conclave/store"
)

// Machine holds the parts of Conclave that Check looks at.
type Machine struct {
	Data        string // the data folder
	Worker      string // the program that plugins are started from
	Store       *store.Store
	Host        *host.Host
	Python      *python.Interpreters
	Confinement sandbox.Confinement // of plugins
	Keys        string              // a sentence about where keys are stored
	Models      *connections.Models
}

// Check returns one finding for each thing.
func (m Machine) Check(ctx context.Context) []terminal.Finding {
	return []terminal.Finding{
		m.checkStore(ctx), m.checkMedia(ctx), m.checkRecord(ctx),
		m.checkPlugins(), m.checkPython(ctx), checkSandbox(m.Confinement),
		{Name: "keys", OK: true, Found: strings.TrimSuffix(m.Keys, ".")},
		m.checkWorker(ctx), checkWindow(ctx), checkServers(ctx), m.checkModel(ctx),
	}
}

func (m Machine) checkStore(ctx context.Context) terminal.Finding {
	f := terminal.Finding{Name: "store", OK: true}
	info, err := os.Stat(filepath.Join(m.Data, "conclave.db"))
	if err != nil {
		return terminal.Finding{
			Name:  "store",
			Found: "its file cannot be seen",
			Fix:   "Check the permissions of " + m.Data + ".",
		}
	}
	f.Found = fmt.Sprintf("%s, %.1f MB", m.Data, float64(info.Size())/1e6)
	if m.Store.ReadOnly() {
		f.OK = false
		f.Fix = "Make the folder writable, or name a copy of it with --data; until then it can only be read."
		f.Found += ", and nothing can be written there"
	} else if err := roomIn(m.Data); err != nil {
		f.OK, f.Fix = false, "Make room on the disk; Conclave keeps nothing new until then."
		f.Found += ", and nothing can be written there: " + plainCause(err)
		return f
	}
	if space, err := m.Store.Space(ctx); err == nil && space.Wasteful() {
		f.Found += fmt.Sprintf(" (%.1f MB of them hold nothing)", float64(space.Free)/1e6)
		f.Fix = "Close Conclave and run conclave compact to give them back."
	}
	problems, err := m.Store.Check(ctx)
	if err != nil {
		problems = append(problems, damageOf(err))
	}
	if len(problems) > 0 {
		f.OK, f.Fix = false, m.goodCopy(ctx)
		f.Found += ", damaged: " + strings.Join(problems, "; ")
	}
	return f
}

// damageOf returns the sentence about a store whose check ended with an error.
func damageOf(err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Err != nil {
		return strings.TrimPrefix(f.Err.Error(), "the file is damaged: ")
	}
	return err.Error()
}

// goodCopy returns a sentence with the copy of the store to go back to.
func (m Machine) goodCopy(ctx context.Context) string {
	copies, err := store.Recover(ctx, m.Data)
	for _, kept := range copies {
		if err == nil && kept.Whole() {
			return fmt.Sprintf("Close Conclave; the newest good copy is from %s: conclave restore %s",
				kept.Made.Local().Format("2 January 2006, 15:04"), kept.Path)
		}
	}
	return "There is no good copy in " + filepath.Join(m.Data, "backups") + ". Copy the folder before you go on."
}

// checkMedia finds files attached to chats that are missing.
func (m Machine) checkMedia(ctx context.Context) terminal.Finding {
	f := terminal.Finding{Name: "attached files", OK: true}
	r, err := m.Store.Media.CheckMedia(ctx)
	if err != nil {
		f.OK, f.Found, f.Fix = false, fault.Of(err).Message, "See the line of the store."
		return f
	}
	f.Found = fmt.Sprintf("%d, all there", r.Files)
	if r.Missing > 0 {
		f.OK, f.Found = false, r.Sentence()
		f.Fix = "A backup that was made before has them: conclave restore brings them with it."
	}
	return f
}

// checkRecord verifies the record of activity.
func (m Machine) checkRecord(ctx context.Context) terminal.Finding {
	f := terminal.Finding{Name: "record", OK: true}
	report, err := m.Store.Activity.VerifyActivity(ctx)
	if err != nil {
		f.OK, f.Found, f.Fix = false, fault.Of(err).Message, "See the line of the store."
		return f
	}
	f.Found = strings.TrimSuffix(report.Sentence(), ".")
	if !report.OK {
		f.OK = false
		f.Fix = "Find out who may write in " + m.Data + "; a copy in its folder backups may have the record whole."
	}
	return f
}

// roomIn writes a file of 1 MiB into dir and removes it: some chats' worth.
func roomIn(dir string) (err error) {
	file, err := os.CreateTemp(dir, ".room-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.Write(make([]byte, 1<<20))
	return errors.Join(err, file.Close())
}

// plainCause returns a file error without the operation and the path.
func plainCause(err error) string {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

func (m Machine) checkPlugins() terminal.Finding {
	dir, problem := m.Host.Folder.Dir, m.Host.Folder.Problem()
	sources, err := host.Sources(dir, m.Host.Dialects.Endings())
	if err == nil {
		err = m.Host.Folder.Away()
	}
	if problem == nil && err != nil {
		problem = fault.Of(err)
	}
	if problem != nil {
		return terminal.Finding{Name: "plugins", Found: problem.Message, Fix: problem.Hint}
	}
	found := fmt.Sprintf("%s, %d plugins", dir, len(sources))
	for _, link := range m.Host.Folder.LinksOut() {
		found += ". " + link.Sentence()
	}
	return terminal.Finding{Name: "plugins", OK: true, Found: found}
}

func (m Machine) checkPython(ctx context.Context) terminal.Finding {
	p, err := m.Python.Python(ctx)
	if err != nil {
		var problem *plugin.Problem
		if errors.As(err, &problem) {
			return terminal.Finding{Name: "python", Found: problem.Message, Fix: problem.Hint}
		}
		return terminal.Finding{Name: "python", Found: err.Error(), Fix: "Install Python 3.9 or newer."}
	}
	return terminal.Finding{Name: "python", OK: true, Found: fmt.Sprintf("%s (%s), %s", p.Version, p.Executable, p.Why)}
}

// checkSandbox finds what confines plugins, or what would.
func checkSandbox(confinement sandbox.Confinement) terminal.Finding {
	if confinement.Sentence == "" && confinement.Network != "" {
		return terminal.Finding{
			Name: "sandbox", Found: confinement.Network,
			Fix: "A Linux kernel of 5.6 or newer, whose kernel.yama.ptrace_scope is 0 or 1, holds it.",
		}
	}
	if confinement.Sentence == "" {
		return terminal.Finding{
			Name:  "sandbox",
			OK:    true,
			Found: "plugins are confined by " + strings.ReplaceAll(confinement.Level, "+", " and "),
		}
	}
	return terminal.Finding{
		Name:  "sandbox",
		Found: confinement.Sentence,
		Fix:   "A Linux kernel with Landlock (5.13 or newer) confines them.",
	}
}

// checkWorker asks the program that plugins are started from for its version.
func (m Machine) checkWorker(ctx context.Context) terminal.Finding {
	f := terminal.Finding{Name: "worker", Fix: "Install Conclave again, or build its programs with make build."}
	out, err := exec.CommandContext(ctx, m.Worker, "version").Output()
	said := strings.TrimSpace(string(out))
	switch {
	case errors.Is(err, os.ErrNotExist):
		f.Found = m.Worker + ", which plugins are started from, is not there"
	case err != nil:
		f.Found = m.Worker + ", which plugins are started from, does not run: " + plainCause(err)
	case said != version.Worker+" "+version.Version:
		f.Found = fmt.Sprintf("%s is of another version: it is %s, and this is %s", m.Worker, said, version.Version)
	default:
		return terminal.Finding{Name: "worker", OK: true, Found: m.Worker}
	}
	return f
}

// checkWindow looks for the window's program and what it links to.
func checkWindow(ctx context.Context) terminal.Finding {
	f := terminal.Finding{Name: "window"}
	path, err := version.Beside(version.Window)
	if err != nil {
		return terminal.Finding{
			Name:  "window",
			Found: "this program's own file is unknown: " + plainCause(err),
			Fix:   "On Linux, mount /proc.",
		}
	}
	display := runtime.GOOS != "linux" || os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
	if _, err := os.Stat(path); err != nil {
		if !display {
			return terminal.Finding{
				Name: "window", OK: true, Found: "not here, and there is no display; the terminal works without it",
			}
		}
		f.Found, f.Fix = path+" is not there", "Build it with make build; the terminal works without it."
		return f
	}
	if runtime.GOOS == "linux" {
		out, err := exec.CommandContext(ctx, "ldd", path).Output()
		if err == nil && strings.Contains(string(out), "not found") {
			f.Found, f.Fix = "libraries of the web view are missing", "Install GTK 3 and WebKitGTK 4.1."
			return f
		}
		if !display {
			return terminal.Finding{Name: "window", OK: true, Found: path + " (there is no display here)"}
		}
	}
	return terminal.Finding{Name: "window", OK: true, Found: path}
}

func checkServers(ctx context.Context) terminal.Finding {
	found, err := model.Scanner{}.Scan(ctx)
	f := terminal.Finding{Name: "local models", OK: true, Found: "no local server answered"}
	if err != nil {
		return terminal.Finding{Name: "local models", Found: err.Error()}
	}
	var names []string
	for _, s := range found {
		names = append(names, fmt.Sprintf("%s at %s with %d models", s.Name(), s.URL, len(s.Models)))
	}
	if len(names) > 0 {
		f.Found = strings.Join(names, ", ")
	}
	return f
}

func (m Machine) checkModel(ctx context.Context) terminal.Finding {
	name, err := m.Models.Default(ctx)
	if err == nil {
		_, err = m.Models.Open(ctx, name)
	}
	if err != nil {
		f := fault.Of(err)
		return terminal.Finding{Name: "default model", Found: f.Message, Fix: f.Hint}
	}
	return terminal.Finding{Name: "default model", OK: true, Found: name}
}
