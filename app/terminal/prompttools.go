package terminal

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// scriptFile reports whether a -T value names a file.
func (t *promptRun) scriptFile(spec string) bool {
	return slices.Contains(t.app.Host.Dialects.Endings(), strings.ToLower(filepath.Ext(spec)))
}

// fileSpecs returns the files and the toolboxes with settings in -T, with absolute paths, as the chat
// stores them to offer them again.
func (t *promptRun) fileSpecs() []string {
	var files []string
	for _, spec := range t.f.tools {
		switch {
		case t.scriptFile(spec):
			files = append(files, t.c.Path(spec))
		case isBox(spec):
			files = append(files, t.absoluteBox(spec))
		}
	}
	return files
}

// askAboutChanged asks whether files that the chat offers again may run although they changed since
// the person allowed them. Naming one again with -T is a yes. Chats that are older than this question
// have no digests, so nothing is asked.
func (t *promptRun) askAboutChanged(ctx context.Context) error {
	t.digests = map[string]string{}
	named := t.fileSpecs()
	files := t.chat.Tools
	if t.chat.ID == "" {
		files = named
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the person named it
		if err != nil {
			continue // not a file, or loading it will report why
		}
		before, now := t.chat.Digests[file], fmt.Sprintf("%x", sha256.Sum256(text))
		if before == now {
			continue
		}
		if before != "" && !slices.Contains(named, file) {
			answer, err := t.asker.Ask(ctx, gate.Request{
				Kind: gate.KindChanged, Title: "The file " + file + " changed since it was given to this chat",
				Reason: "this chat would run it as it is now.",
			})
			if err != nil && !errors.Is(err, gate.ErrNobody) {
				return err
			}
			if err != nil || answer.Effect != gate.Allow {
				return fault.New(fault.NotAllowed, "cli.prompt",
					"The file "+file+" changed since it was given to this chat.",
					"Read it, then name it again with -T, or continue with --no-tools.")
			}
		}
		t.digests[file] = now
	}
	return nil
}

// addFiles loads the files of -T and --functions for this run, and those that the chat was begun
// with. Naming a file on the command line is the yes to running it.
func (t *promptRun) addFiles(ctx context.Context, before []string) error {
	files := before
	for _, spec := range t.fileSpecs() {
		if !slices.Contains(files, spec) {
			files = append(files, spec)
		}
	}
	for _, code := range t.f.functions {
		file, err := t.functionsFile(code)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	for _, file := range files {
		if isBox(file) {
			id, name, err := t.addToolbox(ctx, file)
			if err != nil {
				return err
			}
			t.boxes = append(t.boxes, box{id, name})
			continue
		}
		if err := t.addFile(ctx, file); err != nil {
			return err
		}
	}
	return nil
}

// functionsFile returns the file that a value of --functions names, or a temporary one with its
// text.
func (t *promptRun) functionsFile(code string) (string, error) {
	if !strings.Contains(code, "\n") && strings.HasSuffix(code, ".py") {
		return t.c.Path(code), nil
	}
	dir, err := os.MkdirTemp("", "conclave-functions-")
	if err != nil {
		return "", err
	}
	next := t.temporary
	t.temporary = func() { _ = os.RemoveAll(dir); next() }
	path := filepath.Join(dir, "functions.py")
	return path, os.WriteFile(path, []byte(code), 0o600)
}

// addFile loads a file for this run.
func (t *promptRun) addFile(ctx context.Context, file string) error {
	id, err := t.app.Host.ThisRun.Load(ctx, file)
	if err != nil {
		return err
	}
	s, err := t.app.Host.Status(id)
	if err != nil {
		return err
	}
	if waits(s) {
		return fault.New(fault.NotAllowed, "cli.prompt",
			"The file "+file+" lists other tools when it runs than in its text.",
			"Read it. To use it, conclave plugins add "+file+" and approve what it lists.")
	}
	if s.State != plugin.Ready {
		return notServing(s)
	}
	t.loaded = append(t.loaded, id)
	return nil
}

// set returns the tools that this turn offers, and whether the person named them.
func (t *promptRun) set() (*tool.Set, bool, error) {
	if t.f.noTools {
		return nil, false, nil
	}
	all := t.app.Tools.Set()
	named := slices.DeleteFunc(slices.Clone(t.f.tools), func(spec string) bool {
		return t.scriptFile(spec) || isBox(spec)
	})
	if len(named) == 0 && len(t.loaded) == 0 && len(t.boxes) == 0 {
		return all.ForModel(), false, nil
	}
	offers, byName := map[string]bool{}, map[string]bool{}
	for _, spec := range named {
		found := false
		for _, offered := range all.Tools() {
			seen := offered.Visibility != tool.Hidden
			switch {
			case spec == offered.ID(), spec == offered.Name, spec == offered.WireName:
				byName[offered.ID()] = true // by its name, so it is offered from the start
				fallthrough
			case spec == "*" && seen, spec == offered.Plugin && seen, inBox(offered, spec) && seen:
				offers[offered.ID()] = true
				found = true
			}
		}
		if !found {
			row, noTool := findRow(t.app, spec)
			if noTool == nil {
				p, _ := t.app.Host.Status(row.Plugin)
				return nil, true, notServing(p)
			}
			p, err := findPlugin(t.app, spec)
			if err != nil {
				return nil, true, noTool
			}
			return nil, true, errNotAvailable(p)
		}
	}
	offered := all.Filter(func(x tool.Tool) bool {
		return offers[x.ID()] || slices.Contains(t.loaded, x.Plugin) ||
			slices.ContainsFunc(t.boxes, func(b box) bool { return b.plugin == x.Plugin && inBox(x, b.name) })
	})
	return offered.Promote(func(x tool.Tool) bool { return byName[x.ID()] }), true, nil
}
