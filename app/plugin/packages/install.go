package packages

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/sandbox"
)

// Bounds of what is kept of an installer's words.
const (
	maxSaid    = 64 << 10 // the end, for finding out what went wrong
	maxLog     = 1 << 20  // install.log
	maxLine    = 2 << 10
	maxPipLog  = 8 << 20 // what is read of pip's own log
	sizePeriod = 2 * time.Second
)

// Install makes a new environment with the packages that the plugin needs, and
// replaces the old one with it once it is complete. What it downloaded before a
// failure is kept for the next try. The error is a *plugin.Problem, or the cause of
// ctx's end.
func (e *Environments) Install(ctx context.Context, src plugin.Source, m plugin.Manifest, l plugin.Listing,
	consent plugin.InstallOptions, tell func(string),
) error {
	began := time.Now()
	p, err := e.plan(ctx, src, m, l)
	if err != nil {
		return err
	}
	if p == nil || len(p.lines) == 0 {
		return &plugin.Problem{Kind: "packages", Message: "It wants no packages."}
	}
	if p.packages.Unable != "" {
		return &plugin.Problem{Kind: "packages", Message: "No packages can be installed here.", Hint: p.packages.Unable}
	}
	lines, err := p.allowed(consent, tell)
	if err != nil {
		return err
	}
	py, err := e.o.Python.Python(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, e.o.Timeout, &plugin.Problem{
		Kind:    "deadline",
		Message: fmt.Sprintf("The installation took longer than %s and was stopped.", e.o.Timeout.Round(time.Second)),
		Hint:    "What has arrived is kept: install again to go on.",
	})
	defer cancel()

	e.sweep(src.ID)
	j := job{home: e.home(src.ID), index: e.o.Index, consent: consent, py: py}
	if consent.Elsewhere {
		j.more = p.indexes
	}
	w, err := j.prepare(lines)
	if err != nil {
		return full(err)
	}
	defer os.RemoveAll(j.temp) //nolint:errcheck // swept with the next installation
	w.tell = tell
	defer w.close()
	done := false
	defer func() {
		if !done {
			_ = os.RemoveAll(j.env) // or with the next installation
		}
	}()
	if err := e.fill(ctx, j, w, len(lines)); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	bytes, installed, err := j.finish(p.packages.Digest)
	if err != nil {
		return full(err)
	}
	done = true
	w.say(fmt.Sprintf("Done: %s, %s, in %.1f s.",
		limit.Counted(installed, "package"), megabytes(bytes), time.Since(began).Seconds()))
	return nil
}

// full is the problem of files that cannot be written.
func full(err error) error {
	return &plugin.Problem{
		Kind: "packages", Message: "The environment cannot be written: " + err.Error() + ".",
		Hint: "Check the disk's space and the rights of Conclave's data folder.",
	}
}

func megabytes(bytes int64) string {
	if bytes < 100_000 {
		return fmt.Sprintf("%.1f kB", float64(bytes)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// allowed returns what may be installed with the person's consent. What is left
// out is reported; what the plugin cannot be without is a *plugin.Problem.
func (p *plan) allowed(consent plugin.InstallOptions, tell func(string)) ([]wanted, error) {
	lacking := p.packages.MissingRequired()
	var lines []wanted
	for _, w := range p.lines {
		why := ""
		switch {
		case w.guessed && !slices.Contains(consent.Guessed, canonical(w.name)):
			why = "its name is only a guess, and it is installed by its name alone"
		case w.url == "":
		case !consent.Elsewhere:
			why = "it comes from " + redact(w.url) + ", which needs your consent"
		case !consent.Build && !isWheel(w.url):
			why = "it comes as source, whose code would run during the installation"
		}
		if why == "" {
			lines = append(lines, w)
			continue
		}
		if slices.ContainsFunc(lacking, func(one plugin.Package) bool { return one.Name == canonical(w.name) }) {
			return nil, &plugin.Problem{
				Kind: "packages", Message: "The package " + w.name + " was not installed: " + why + ".",
				Missing: []string{canonical(w.name)},
				Hint:    "Allow it where you install, if you trust the plugin's author with it.",
			}
		}
		tell("Left out: " + w.name + "; " + why + ".")
	}
	if len(lines) == 0 {
		return nil, &plugin.Problem{
			Kind: "packages", Message: "There is nothing that may be installed.",
			Hint: "What nobody declared is a guess from an import: read who publishes it, then install it by its name.",
		}
	}
	return lines, nil
}

// prepare makes the folders, the list of requirements and the log.
func (j *job) prepare(lines []wanted) (*words, error) {
	if err := os.MkdirAll(j.home, 0o700); err != nil {
		return nil, err
	}
	var err error
	if j.env, err = os.MkdirTemp(j.home, "env-"); err != nil {
		return nil, err
	}
	j.temp = filepath.Join(j.env, "tmp")
	for _, dir := range []string{j.temp, j.cache()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	var text strings.Builder
	for _, line := range lines {
		if line.url != "" {
			j.addresses = append(j.addresses, line.url)
		}
		text.WriteString(line.text())
		for _, hash := range line.hashes {
			j.hashes = true
			text.WriteString(" --hash=" + hash)
		}
		text.WriteByte('\n')
	}
	j.list = filepath.Join(j.temp, "requirements.txt")
	if err := os.WriteFile(j.list, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(j.home, "install.log"))
	if err != nil {
		return nil, err
	}
	return &words{log: log}, nil
}

// fill makes the environment and installs into it.
func (e *Environments) fill(ctx context.Context, j job, w *words, packages int) error {
	w.say("Making an environment with Python " + j.py.Version + ".")
	if exit, err := e.run(ctx, j.venv(), w); err != nil || exit != "exit 0" {
		return w.problem(err, "The environment could not be made ("+exit+").", "Its log says more: "+
			filepath.Join(j.home, "install.log"))
	}
	what := "Installing " + limit.Counted(packages, "package") + " from " + j.places(packages)
	if e.o.UV != "" && len(j.addresses) == 0 {
		w.say(what + " with uv.")
		exit, err := e.run(ctx, j.withUV(e.o.UV), w)
		if err == nil && exit == "exit 0" || ctx.Err() != nil {
			return err
		}
		if _, ok := pipOf(j.py); !ok {
			return w.problem(err, "The packages could not be installed ("+exit+").", "uv said: "+w.last())
		}
		w.say("uv did not manage it (" + exit + "); pip tries.")
	}
	p, ok := pipOf(j.py)
	if !ok {
		hint := e.unable(j.py)
		if hint == "" {
			hint = "Packages from addresses are installed with pip: install it for " + j.py.Executable + "."
		}
		return &plugin.Problem{Kind: "packages", Message: "No packages can be installed here.", Hint: hint}
	}
	w.say(what + " with pip " + p.version + ".")
	watching, stop := context.WithCancel(ctx)
	var arriving sync.WaitGroup
	arriving.Go(func() { w.watch(watching, j.temp) }) // ended by stop
	exit, err := e.run(ctx, j.pip(p), w)
	stop()
	arriving.Wait()
	if err != nil || exit != "exit 0" {
		if err != nil {
			return err
		}
		return w.explain(j, exit)
	}
	return nil
}

// finish writes what the environment is, which makes it the current one.
func (j job) finish(digest string) (bytes int64, installed int, err error) {
	if err := os.RemoveAll(j.temp); err != nil {
		return 0, 0, err
	}
	r := record{
		Dir: filepath.Base(j.env), Digest: digest, Abi: abi(j.py), Python: j.py.Version, Made: time.Now().UTC(),
		Bytes: size(j.env), Installed: []string{},
	}
	for name, version := range distributions([]string{siteOf(j.env, j.py)}) {
		r.Installed = append(r.Installed, name+" "+version)
	}
	slices.Sort(r.Installed)
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return 0, 0, err
	}
	temp := filepath.Join(j.home, "current-new.json")
	if err := os.WriteFile(temp, text, 0o600); err != nil {
		return 0, 0, err
	}
	if err := os.Rename(temp, filepath.Join(j.home, currentFile)); err != nil {
		return 0, 0, err
	}
	return r.Bytes, len(r.Installed), os.RemoveAll(j.cache())
}

// run runs a process to its end and notes what it says. exit is how it ended; the
// error is a *plugin.Problem when it could not be started, or the cause of ctx's
// end, with which the process is killed, and all it started.
func (e *Environments) run(ctx context.Context, spec sandbox.Spec, w *words) (exit string, err error) {
	process, err := e.o.Launcher.Start(ctx, spec)
	if err != nil {
		return "", err
	}
	if follows, ok := process.(interface{ Lines(line func(string)) }); ok {
		follows.Lines(w.say)
	}
	var reading sync.WaitGroup
	reading.Go(func() { // ends with the process
		in := bufio.NewScanner(process.Wire())
		in.Buffer(make([]byte, 16<<10), 1<<20)
		for in.Scan() {
			w.say(in.Text())
		}
	})
	select {
	case <-process.Done():
	case <-ctx.Done():
		process.Kill()
		<-process.Done()
	}
	reading.Wait()
	process.End()
	if ctx.Err() != nil {
		return process.Exit(), context.Cause(ctx)
	}
	return process.Exit(), nil
}

// words holds an installer's output: shown on the card, written to a log, and searched
// when it fails. It is safe for concurrent use.
type words struct {
	tell func(string)

	mu      sync.Mutex // guards the fields below
	said    []byte
	log     *os.File
	written int
}

// say takes one line.
func (w *words) say(line string) {
	line = redact(strings.ToValidUTF8(strings.TrimRight(line, "\r\n\t "), "\uFFFD"))
	if line == "" {
		return
	}
	if len(line) > maxLine {
		line = shorten.Bytes(line, maxLine) + " …"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(append(w.said, line...), '\n')
	w.said = w.said[max(0, len(w.said)-maxSaid):]
	if w.written += len(line) + 1; w.written <= maxLog {
		_, _ = io.WriteString(w.log, line+"\n") // the card has it too
	}
	w.tell(line)
}

func (w *words) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.log.Close()
}

func (w *words) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.said)
}

// last returns the last line that was said.
func (w *words) last() string {
	text := strings.TrimSpace(w.text())
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// watch reports now and then how much has arrived, until ctx ends.
func (w *words) watch(ctx context.Context, dir string) {
	tick := time.NewTicker(sizePeriod)
	defer tick.Stop()
	var before int64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if now := size(dir); now > before+100_000 {
				w.say("… " + megabytes(now) + " have arrived")
				before = now
			}
		}
	}
}

func (w *words) problem(err error, message, hint string) error {
	if err != nil {
		return err
	}
	return &plugin.Problem{Kind: "packages", Message: message, Hint: hint, Stderr: w.text()}
}

// explain finds out from what pip said why it failed.
func (w *words) explain(j job, exit string) error {
	said := w.text()
	p := &plugin.Problem{Kind: "packages", Stderr: said, Hint: "Its log says more: " +
		filepath.Join(j.home, "install.log")}
	const again = "What has arrived is kept: install again to go on."
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(said, part) })
	}
	name := packageOfLine(said)
	switch {
	case has(unnamed):
		_, rest, _ := strings.Cut(said, unnamed)
		rest, _, _ = strings.Cut(rest, "\n")
		p.Message = "The package" + rest + ", an address that the plugin's list does not name, so nothing was installed."
		p.Hint = "Its author has to name that address in the list; then you can read it there and allow it."
	case has("THESE PACKAGES DO NOT MATCH THE HASHES"):
		p.Message = "What arrived is not what the plugin's list says it must be (its hash is another), so nothing was " +
			"installed."
		p.Hint = "Somebody replaced the package, or the list is wrong. Do not go on before you know which."
	case has("In --require-hashes mode"):
		p.Message = "The plugin's list gives hashes for some packages and not for all that are needed, so nothing was " +
			"installed."
		p.Hint = "Its author has to complete the list (pip-compile --generate-hashes does)."
	case has("ResolutionImpossible", "conflicting dependencies"):
		p.Message = "The packages cannot be had together: their versions contradict one another."
		p.Hint = conflict(said)
	case has("No space left on device", "Disk quota exceeded"):
		p.Message, p.Hint = "The disk is full.", "Make room, then install again."
	case has("CERTIFICATE_VERIFY_FAILED", "SSLCertVerificationError"):
		p.Message = "The certificate of " + serverOf(j.index) + " is not one that this machine trusts."
		p.Hint = "A proxy may stand in between: its certificate is named by SSL_CERT_FILE."
	case has("Could not find a version", "No matching distribution") && !unreachable(said):
		p.Missing = []string{canonical(name)}
		switch {
		case sourceOnly(j, name):
			p.Message = "The package " + name +
				" exists as source only, and code of it would run during the installation, so it was not installed."
			p.Hint = "Allow it where you install (--build), if you trust its authors."
		case has("Requires-Python", "require a different python version"):
			p.Message = "There is no version of " + name + " for Python " + j.py.Version + "."
			p.Hint = "Name another Python in the settings."
		case has("(from versions: none)"):
			p.Message = "There is no package " + name + " at " + serverOf(j.index) + " that fits this machine."
			p.Hint = "Is its name right? Packages are looked for at " + redact(j.index) + "."
		default:
			p.Message = "There is no version of " + name + " at " + serverOf(j.index) + " that the plugin takes."
		}
	case unreachable(said):
		p.Message, p.Hint = serverOf(j.index)+" cannot be reached.", "Check the network. "+again
	case has("IncompleteRead", "Connection broken", "Read timed out", "ConnectionResetError", "ReadTimeoutError",
		"ProtocolError", "RemoteDisconnected", "IncompleteDownload", "incomplete-download", "Connection aborted"):
		p.Message, p.Hint = "The download broke off.", again
	case has("HTTP error 5", "503 Server Error", "500 Server Error", "502 Server Error", "HTTP error 4"):
		p.Message, p.Hint = serverOf(j.index)+" answered with an error.", "Try again later. "+again
	case strings.HasPrefix(exit, "signal"):
		p.Message = "The installer was ended (" + exit + ")."
	default:
		p.Message = "The packages could not be installed (" + exit + "): " + w.last()
	}
	return p
}

// unreachable reports whether no connection could be made.
func unreachable(said string) bool {
	return slices.ContainsFunc([]string{
		"NewConnectionError", "Name or service not known",
		"Temporary failure in name resolution", "Connection refused", "Network is unreachable", "nodename nor servname",
		"getaddrinfo failed", "No route to host", "ConnectTimeoutError", "Cannot connect to proxy",
	},
		func(part string) bool { return strings.Contains(said, part) })
}

// packageOfLine returns the package that could not be found, as pip names it.
func packageOfLine(said string) string {
	for _, before := range []string{"No matching distribution found for ", "satisfies the requirement "} {
		if _, rest, found := strings.Cut(said, before); found {
			if m := namePattern().FindStringSubmatch(rest); m != nil {
				return m[1]
			}
		}
	}
	return "?"
}

// conflict returns the lines in which pip reports what contradicts what.
func conflict(said string) string {
	_, rest, _ := strings.Cut(said, "The conflict is caused by:")
	rest, _, _ = strings.Cut(rest, "To fix this")
	var lines []string
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < 6 {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// sourceOnly reports whether pip passed over source of the package.
func sourceOnly(j job, name string) bool {
	text, _, err := safefs.ReadWritable(j.env, "tmp/"+pipLog, maxPipLog)
	return err == nil && strings.Contains(string(text), "No sources permitted for "+name)
}
