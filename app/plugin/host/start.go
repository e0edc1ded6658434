package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"conclave/app/base/bus"
	"conclave/app/base/limit"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"
	"conclave/app/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// How the process of a version starts, from the wish for one to its listed tools, read from the top.

// use returns the running session, starting it when there is none, and holds it
// until release.
func (r *runner) use(ctx context.Context) (*session, error) {
	for {
		access, keeps, announced := r.access(), r.keepsRevoked(), r.version().facts().Announced
		r.mu.Lock()
		switch {
		case r.live != nil && (r.live == keeps || !r.live.access.equal(access, announced)):
			// a grant holds from the next call on
			r.mu.Unlock()
			r.renew()
			continue
		case r.rested != nil:
			p := r.rested
			r.mu.Unlock()
			return nil, p
		case r.live != nil && r.live.ending():
			over := r.live.over
			r.mu.Unlock()
			select {
			case <-over:
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		case r.live != nil:
			s := r.live
			s.uses++
			r.mu.Unlock()
			return s, nil
		case r.opening != nil:
			wait := r.opening
			r.mu.Unlock()
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		opening := make(chan struct{})
		r.opening = opening
		r.mu.Unlock()

		s, err := r.startSession(ctx)
		for n := 1; errors.Is(err, plugin.ErrStartAgain) && n < maxStarts; n++ {
			s, err = r.startSession(ctx)
		}
		r.started(ctx, err)
		r.mu.Lock()
		r.opening = nil
		close(opening)
		if err != nil {
			r.mu.Unlock()
			return nil, err
		}
		s.uses++
		if !s.spent { // else it died already
			r.live = s
		}
		r.mu.Unlock()
		r.h.tasks.spawn(func() { r.e.memory.storeReasons(s) }) // a write to the store
		r.h.o.Bus.Changed(bus.Plugins, "")
		return s, nil
	}
}

// maxStarts bounds the processes that one start takes: one that installs, one that is greeted wrongly, and one that
// stays.
const maxStarts = 3

// startSession starts the process of what r runs, from the copy of what was approved, or reaches what runs
// elsewhere, and greets it. What was started is ended if that fails. The error is a *Problem, or the cause
// of ctx's end.
func (r *runner) startSession(ctx context.Context) (_ *session, err error) {
	defer func() { err = r.e.redactor.problem(err) }()
	v := r.version()
	ctx, cancel := boundLoad(ctx, v.loadTime(r.h.o.LoadTimeout))
	defer cancel()
	src, start, with, err := r.prepare(ctx, v)
	if err != nil {
		return nil, err
	}
	s := &session{
		access: with, opened: &openedFiles{rules: map[string]bool{}}, r: r, over: make(chan struct{}), load: loadClockOf(ctx),
		surface: newRegistrations(), programs: programs{live: map[string]*running{}},
	}
	if c := connector(v.dialect, v.manifest); c != nil {
		s.load.follow(nil)
		if s.backend, err = c.Connect(ctx, src, v.manifest, start, s.listener()); err != nil {
			err = plugin.ProblemOf(err)
		}
	} else if s.process, err = r.launch(ctx, v, src, start, s.opened); err == nil {
		s.load.follow(s.process)
		s.logOutput()
		err = s.greet(ctx, v, src)
	}
	if err != nil {
		return nil, err // of ctx's end as it is: whoever waits tells a deadline from a newer save by it
	}
	s.watched.Go(s.watch) // ends when the backend does
	if !r.h.processes.adopt(s) {
		s.end(closingReason)
		return nil, &plugin.Problem{Kind: "unavailable", Message: closingReason}
	}
	if s.exceeds() { // taken back while it started
		s.kill(revokedReason)
	}
	if !r.e.temporary {
		s.code.Store(&v.digest)
	}
	return s, nil
}

// prepare makes the plugin's storage and its copy ready for a process of v. It returns where the copy lies, and
// what the process starts with: its folders, and what the person granted and set.
func (r *runner) prepare(ctx context.Context, v version) (plugin.Source, plugin.StartOptions, access, error) {
	fail := func(err error) (plugin.Source, plugin.StartOptions, access, error) {
		return plugin.Source{}, plugin.StartOptions{}, access{}, err
	}
	storage := r.h.o.storage(r.e.id)
	folder, err := safefs.OpenOrMake(storage)
	if err != nil {
		return fail(&plugin.Problem{
			Kind: "unavailable", Message: "Its storage folder cannot be opened: " + err.Error() + ".",
		})
	}
	_ = folder.Close() // nothing is buffered
	if r.e.quota.full(storage, nil) {
		return fail(fullProblem(storage))
	}
	src, err := r.e.files.ensure(v, r.e.inUse(v))
	if err != nil {
		return fail(err)
	}
	if err := r.e.memory.seed(v, src, storage); err != nil {
		return fail(err)
	}
	with := r.access()
	_, set := r.e.options()
	options, named := r.namedNow(set)
	start := plugin.StartOptions{
		Storage: storage, Runtime: plugin.Runtime(r.h.o.Data), Work: r.h.o.Work, Site: r.site(ctx),
		Granted: with.granted, Folders: slices.Concat(with.folders, named), Programs: with.programs,
		Options: options, Secrets: set.Secrets, Secret: r.settingSecret, Mask: r.e.redactor.add, Opens: r.e.opensUnasked,
	}
	if r.h.o.LoadTimeout != LoadTimeout {
		start.Load = r.h.o.LoadTimeout
	}
	if !r.e.temporary {
		start.Code = v.digest
	}
	if src.HasFiles() {
		r.e.memory.mayRepeat(savedState{Had: with.reads()})
	}
	return src, start, with, nil
}

// launch starts the process, with a way out if it may use the network.
func (r *runner) launch(ctx context.Context, v version, src plugin.Source,
	start plugin.StartOptions, files *openedFiles,
) (_ sandbox.Process, err error) {
	pass := func() {}
	if r.h.o.Network != nil && slices.Contains(start.Granted, gate.Network) {
		if start.Proxy, pass, err = r.h.o.Network.Admit(r.e.grantee()); err != nil {
			return nil, &plugin.Problem{
				Kind: "unavailable", Message: "Its way out to the network cannot be made: " + err.Error() + ".",
			}
		}
	}
	defer func() {
		if err != nil {
			pass()
		}
	}()
	spec, err := v.dialect.Spec(ctx, src, v.manifest, start)
	if err != nil {
		return nil, err
	}
	r.e.leaveOut(&spec, start)
	start.ApplyPermissions(&spec)
	if !r.e.preview {
		spec.Open = func(ctx context.Context, path string, write bool) sandbox.Opening {
			return r.openFile(ctx, files, path, write)
		}
		spec.Ports = r.h.Ports.Of(r.e.grantee())
		spec.Listen = func(ctx context.Context, port sandbox.Port) bool { return r.listenOn(ctx, files, port) }
	}
	if err := resolve(&spec, src, r.h.o.Data); err != nil {
		return nil, err
	}
	r.spec.Store(&spec)
	running, err := r.h.o.Launcher.Start(ctx, spec)
	if err != nil {
		return nil, plugin.ProblemOf(err)
	}
	if start.Proxy.Address != "" {
		r.h.tasks.spawn(func() { <-running.Done(); pass() }) // ends with the process
	}
	return running, nil
}

// logOutput copies what the process prints into the plugin's log.
func (s *session) logOutput() {
	lines, ok := s.process.(interface {
		// Lines calls back with each line of standard error, from one goroutine,
		// until the process is reaped.
		Lines(func(line string))
	})
	if !ok {
		return
	}
	lines.Lines(func(line string) {
		s.r.e.logs("info", line)
	})
}

// greet makes the backend of the process, which it ends if that fails.
func (s *session) greet(ctx context.Context, v version, src plugin.Source) (err error) {
	if a, ok := v.dialect.(plugin.Adapter); ok {
		s.backend, err = a.Adapt(ctx, s.process, src, v.manifest, s.listener())
	} else if s.worker, err = dialWorker(ctx, s, v); err == nil {
		s.backend = s.worker
	}
	if err == nil {
		return nil
	}
	if _, gone := errors.AsType[*wire.Broken](err); gone || ctx.Err() != nil {
		s.process.Kill() // else it ends by itself, and says how
	}
	s.process.End()
	return s.startProblem(ctx, err)
}

// listener passes on what the backend reports.
func (s *session) listener() plugin.Listener {
	return plugin.Listener{
		Log: s.r.e.logs, Traffic: s.r.e.traffic.add, ToolsChanged: s.r.toolsChanged, Ask: s.r.elicit,
		Granted: s.access.granted, Folders: s.access.folders,
		Serve: func(ctx context.Context, service string, args json.RawMessage, call string) (json.RawMessage, error) {
			value, err := s.serve(ctx, service, args, call)
			if err != nil {
				return nil, err
			}
			return json.Marshal(value)
		},
	}
}

// startProblem returns why a handshake failed.
func (s *session) startProblem(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, plugin.ErrStartAgain) {
		return err
	}
	if p, ok := errors.AsType[*plugin.Problem](err); ok {
		return p
	}
	if load, ok := errors.AsType[*wire.LoadError](err); ok {
		var p plugin.Problem
		if json.Unmarshal(load.Problem, &p) == nil && p.Message != "" {
			if p.Kind == "" {
				p.Kind = "script"
			}
			return &p
		}
		return &plugin.Problem{Kind: "script", Message: load.Message}
	}
	stderr := s.stderr()
	if broken, ok := errors.AsType[*wire.Broken](err); ok {
		return &plugin.Problem{
			Kind: broken.Kind, Message: broken.Message, Stderr: stderr,
			Hint: "Output belongs on standard error; see its log.",
		}
	}
	hint := lastError(stderr)
	for _, one := range s.r.e.stands(s.r.e.refused(plugin.GuessRefusals(stderr))) {
		hint = sentence(one, s.r.e.id)
	}
	if exit := s.process.Exit(); streamEnded(err) || exit != "exit 0" && exit != "signal: killed" {
		return &plugin.Problem{
			Kind: "crashed", Message: "Its process ended before it was ready (" + exit + ").",
			Stderr: stderr, Hint: hint,
		}
	}
	return &plugin.Problem{Kind: "crashed", Message: "It does not speak the protocol: " +
		strings.TrimSuffix(err.Error(), ".") + ".", Stderr: stderr, Hint: hint}
}

// streamEnded reports whether err is that of a pipe whose other end is gone.
func streamEnded(err error) bool {
	for _, gone := range []error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, os.ErrClosed, syscall.EPIPE,
		mcp.ErrConnectionClosed,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// selfReport holds what a plugin says about itself in addition to its tools.
type selfReport struct {
	options json.RawMessage // the schema of its settings
	notes   []string        // sentences for its card
	wakes   []string        // what it must be running for
}

// maxNotes bounds the sentences on a plugin's card, and each of them in bytes.
const (
	maxNotes = 20
	maxNote  = 500
)

// list asks for the tools of v, and for what else the plugin says about itself, and puts both into v.
func (s *session) list(ctx context.Context, v *version) error {
	offer, err := s.backend.List(ctx)
	if err != nil {
		return s.r.e.redactor.problem(err)
	}
	tools, said, left := []tool.Tool{}, selfReport{options: v.options, wakes: s.surface.reasons()}, 0
	if len(offer.Options) > 0 {
		said.options = usable(offer.Options)
	}
	for _, note := range offer.Notes {
		if text, _ := tool.Clean(note); text != "" && len(said.notes) < maxNotes {
			said.notes = append(said.notes, lastBytes(text, maxNote))
		}
	}
	for _, t := range offer.Tools {
		if !nameable(t.Name) || len(tools) >= limit.PluginTools ||
			len(t.Description)+len(t.Parameters)+len(t.Annotations) > limit.ToolDefinition {
			s.r.e.logs("warn", fmt.Sprintf("The tool %.80q was left out: a plugin may offer %s tools of at most %s each, "+
				"with a name that can be shown.", t.Name, limit.Number(limit.PluginTools), limit.Size(limit.ToolDefinition)))
			left++
			continue
		}
		t.Plugin, t.Dialect = v.src.ID, v.manifest.Dialect
		t.Title, t.File = cmp.Or(t.Title, t.Name), cmp.Or(t.File, v.manifest.Entry)
		t.Instance, _ = tool.Clean(lastBytes(t.Instance, maxInstance))
		tools = append(tools, tool.Normal(t))
	}
	if left > 0 {
		said.notes = append(said.notes, limit.ToolsLeftOut(left))
	}
	v.tools, v.listed = tools, true
	now := s.r.e.now()
	tools, others := now.approvedWords(*v)
	if len(others) > 0 {
		said.notes = append(said.notes, otherWords(others))
	}
	v.tools, v.selfReport = tools, said
	s.r.mu.Lock()
	s.listed = tools
	s.r.mu.Unlock()
	return nil
}

// maxToolName is the longest name of a tool, in bytes.
const maxToolName = 512

// nameable reports whether a tool can have a name: what is written as it is, on one line.
func nameable(name string) bool {
	clean, _ := tool.Clean(name)
	return name != "" && clean == name && len(name) <= maxToolName && !strings.ContainsAny(name, "\r\n\t")
}

// maxInstance bounds what is on record of the object a tool belongs to, in bytes.
const maxInstance = 2 << 10
