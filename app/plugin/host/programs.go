package host

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"conclave/app/base/place"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// maxPrograms bounds the programs that run at once for one process of a plugin.
const maxPrograms = 8

// maxLine bounds a line of a program's output, which may have none: its rate is bounded.
const maxLine = 1 << 40

// maxRead limits how much of a program's output one answer has, in bytes.
const maxRead = 256 << 10

// programs are those that Conclave started for one process of a plugin, which may start
// none itself.
type programs struct {
	mu    sync.Mutex
	live  map[string]*running
	asked int // how many commands wait for a decision
	begun int
	ended bool // the process has ended, and nothing is started for it any more
}

// running is one of them.
type running struct {
	sandbox.Process
	reading sync.Mutex // one reads its output at a time
}

// programArgs are those of the services programs.*:
//
//	programs.start {argv, folder?, env?}
//	                                  asks, and returns {id}
//	programs.write {id, base64?, end} passes on its input; end says that there is no more
//	programs.read  {id}               {base64} of its output, or how it ended:
//	                                  {exit} or {signal}, and {error}, the last 64 KiB of its standard error
//	programs.kill  {id}
type programArgs struct {
	Argv   []string `json:"argv"`
	Folder string   `json:"folder"`
	// Env are the variables that the plugin would have started it with, by name.
	Env    map[string]string `json:"env"`
	ID     string            `json:"id"`
	Base64 []byte            `json:"base64"`
	End    bool              `json:"end"`
}

// program answers one of the services programs.*.
func (s *session) program(ctx context.Context, service string, args json.RawMessage, call string) (any, error) {
	var a programArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, hostError("invalid", "The arguments of "+service+" cannot be read.")
	}
	if service == "programs.start" {
		return s.startProgram(ctx, a, call)
	}
	s.programs.mu.Lock()
	p := s.programs.live[a.ID]
	s.programs.mu.Unlock()
	if p == nil {
		return nil, hostError("not_found", "There is no program “"+shownFile(a.ID)+"” any more.")
	}
	switch service {
	case "programs.write":
		if _, err := p.Wire().Write(a.Base64); err != nil {
			return nil, hostError("failed", "It does not read any more.")
		}
		if a.End {
			if in, ok := p.Process.(interface{ CloseInput() error }); !ok || in.CloseInput() != nil {
				return nil, hostError("failed", "Its input cannot be ended.")
			}
		}
		return struct{}{}, nil
	case "programs.kill":
		p.Kill()
		return struct{}{}, nil
	}
	return s.programs.read(ctx, a.ID, p)
}

// startProgram asks whether a command may be started, and starts it in the sandbox of the
// plugin.
func (s *session) startProgram(ctx context.Context, a programArgs, call string) (any, error) {
	base := s.r.spec.Load()
	if base == nil || base.Kind != "command" || s.r.e.preview {
		return nil, hostError("denied", "PERMISSION_DENIED: "+gate.Programs)
	}
	id := s.r.e.grantee()
	path, folder, err := commandOf(a, func(path string) bool {
		return s.r.h.o.Gate.Reach.Writes(id, path) ||
			slices.ContainsFunc(base.Write, func(folder string) bool { return place.Inside(folder, path) })
	}, base.Dir)
	if err != nil {
		return nil, err
	}
	if !s.programs.ask() {
		return nil, hostError("unavailable",
			fmt.Sprintf("%d commands of the plugin wait for an answer, the most there may be.", maxPrograms))
	}
	spec := *base
	spec.Argv, spec.Dir, spec.Input, spec.Open = append([]string{path}, a.Argv[1:]...), folder, nil, nil
	plugin.StartOptions{Granted: []string{gate.Programs}}.ApplyPermissions(&spec)
	spec.Execute, spec.Line = append(spec.Execute, plugin.ProgramFiles(path)...), maxLine
	own := spec.Env
	var passed []string
	if spec.Env, passed, err = withVariables(own, a.Env); err != nil {
		s.programs.answered()
		return nil, err
	}
	starting := gate.Starting{
		Plugin: id, Program: path, Arguments: s.withoutSecrets(own, a.Argv[1:]),
		Variables: s.withoutSecrets(own, passed), Folder: folder, Own: base.Write,
		Behalf: s.r.h.Calls.Behalf(id, call), Within: s.r.h.Calls.Working(id),
	}
	asked, answered := s.r.h.Calls.During(ctx, id)
	d := s.r.h.o.Gate.Start(asked, starting)
	allowed := d.Effect == gate.Allow && asked.Err() == nil
	answered()
	s.programs.answered()
	if !allowed {
		s.r.e.refused([]plugin.Refusal{{Permission: gate.Programs}})
		return nil, hostError("denied", "PERMISSION_DENIED: "+gate.Programs+": "+
			filepath.Base(path)+" was not started: "+cmp.Or(d.Reason, d.Why)+".")
	}
	p, err := s.programs.launch(ctx, s.r.h.o.Launcher, spec)
	if err != nil {
		return nil, err
	}
	s.r.e.memory.mayRepeat(savedState{Outside: true})
	return map[string]string{"id": p}, nil
}

// commandOf returns the file of a command and the folder in which it runs, at first the plugin's
// own. Of the file the folder has its links resolved. writes reports what the plugin can change.
func commandOf(a programArgs, writes func(path string) bool, own string) (path, folder string, err error) {
	if len(a.Argv) == 0 || a.Argv[0] == "" {
		return "", "", hostError("invalid", "The command names no program.")
	}
	folder = cmp.Or(a.Folder, own)
	if folder, err = filepath.EvalSymlinks(folder); err != nil || !filepath.IsAbs(folder) {
		return "", "", hostError("not_found", "There is no folder "+shownFile(a.Folder)+".")
	}
	path, there := gate.ProgramFile(a.Argv[0], folder)
	_, missing := os.Stat(path)
	switch {
	case missing == nil && (writes(path) || writes(place.Real(path))):
		return "", "", hostError("denied", "PERMISSION_DENIED: "+gate.Programs+": "+filepath.Base(path)+
			" lies where the plugin can change it, so nobody is asked about it.")
	case !there:
		return "", "", hostError("not_found", "There is no program "+shownFile(a.Argv[0])+".")
	}
	return path, folder, nil
}

// withVariables returns the variables of a program: own, those that it has from Conclave, with
// what the plugin passes in their place. passed are those of the latter that differ, sorted.
func withVariables(own []string, given map[string]string) (all, passed []string, err error) {
	values := map[string]string{}
	for _, one := range own {
		name, value, _ := strings.Cut(one, "=")
		values[name] = value
	}
	for name, value := range given {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return nil, nil, hostError("invalid", "A variable of the command has no name that there can be.")
		}
		if was, there := values[name]; !there || was != value {
			passed = append(passed, name+"="+value)
		}
		values[name] = value
	}
	for name, value := range values {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	slices.Sort(passed)
	return all, passed, nil
}

// proxyVariable is one of those that hold the credential of a plugin's way out.
const proxyVariable = "HTTPS_PROXY="

// withoutSecrets returns words as they may be shown and kept: without the plugin's secrets, and
// without the credential of its way out, which own may hold.
func (s *session) withoutSecrets(own, words []string) []string {
	shown := make([]string, len(words))
	for i, word := range words {
		shown[i] = s.r.e.redactor.text(word)
		for _, variable := range own {
			if credential, is := strings.CutPrefix(variable, proxyVariable); is && credential != "" {
				shown[i] = strings.ReplaceAll(shown[i], credential, masked)
			}
		}
	}
	return shown
}

// ask counts a command that a person is asked about, until answered. It reports false where so
// many wait that no further one is asked about.
func (k *programs) ask() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.asked >= maxPrograms {
		return false
	}
	k.asked++
	return true
}

func (k *programs) answered() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked--
}

// launch starts a program for the process, and keeps it until it was read to its end.
func (k *programs) launch(ctx context.Context, launcher sandbox.Launcher, spec sandbox.Spec) (id string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.ended:
		return "", hostError("failed", "The plugin has ended.")
	case len(k.live) >= maxPrograms:
		return "", hostError("unavailable", fmt.Sprintf("%s was not started: %d programs that were started for the plugin "+
			"still run, the most there may be.", filepath.Base(spec.Argv[0]), maxPrograms))
	}
	p, err := launcher.Start(ctx, spec)
	if err != nil {
		return "", hostError("failed", plugin.ProblemOf(err).Error())
	}
	k.begun++
	id = strconv.Itoa(k.begun)
	k.live[id] = &running{Process: p}
	return id, nil
}

// programEnd is how programs.read reports the end of a program.
type programEnd struct {
	Exit   *int   `json:"exit,omitempty"`
	Signal string `json:"signal,omitempty"`
	Error  string `json:"error,omitempty"` // the last of its standard error, in base64
}

// read returns what a program printed next, or how it ended, after which nobody
// knows it any more.
func (k *programs) read(ctx context.Context, id string, p *running) (any, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	buf := make([]byte, maxRead)
	n, err := p.Wire().Read(buf)
	if n > 0 {
		return map[string]string{"base64": base64.StdEncoding.EncodeToString(buf[:n])}, nil
	}
	if err != nil && !errors.Is(err, io.EOF) {
		p.Kill()
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	k.mu.Lock()
	delete(k.live, id)
	k.mu.Unlock()
	end := programEnd{Error: base64.StdEncoding.EncodeToString([]byte(p.Stderr()))}
	said := p.Exit()
	if code, ok := strings.CutPrefix(said, "exit "); ok {
		if number, err := strconv.Atoi(code); err == nil {
			end.Exit = &number
			return end, nil
		}
	}
	end.Signal = strings.TrimPrefix(said, "signal: ")
	return end, nil
}

// end ends the programs that still run for a process which has ended.
func (k *programs) end() {
	k.mu.Lock()
	k.ended = true
	live := k.live
	k.live = nil
	k.mu.Unlock()
	for _, p := range live {
		p.Kill()
	}
	for _, p := range live {
		p.End()
	}
}
