package library

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/plugin"
)

// cloneTime is the time that git may take to fetch one repository.
const cloneTime = 5 * time.Minute

// sizeEvery is the interval at which what git fetches is measured.
const sizeEvery = 200 * time.Millisecond

// untrusted holds git settings for cloning an untrusted repository: https alone, no
// hooks, no templates, no submodules, no stored password, no question, and no large
// file held in memory. Of the person's own settings it takes wayOut alone: a repository
// can name filters that they define, and git would run them on its files.
var untrusted = []string{
	"-c", "protocol.allow=never", "-c", "protocol.https.allow=always", "-c", "core.hooksPath=" + os.DevNull, "-c",
	"init.templateDir=",
	"-c", "submodule.recurse=false", "-c", "credential.helper=", "-c", "credential.interactive=false", "-c",
	"core.askPass=",
	"-c", "core.fsmonitor=false", "-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30", "-c",
	"core.bigFileThreshold=1m",
}

// clone fetches a repository with the system's git: over https only, without
// history, submodules, hooks or a question. A branch or tag may stand behind a #.
//
// Its files are counted before they are written: a repository of 200 KB can hold
// more of them than a disk, and git would take the memory for all their names.
func clone(ctx context.Context, address, stage string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", fault.New(fault.Invalid, "plugin.add", "A plugin is fetched over https only, and "+
			withoutPassword(address)+" is something else.", "Write it like https://example.org/name.git, without a password.")
	}
	name := strings.TrimSuffix(filepath.Base(u.Path), ".git")
	if name == "" || name == "/" || name == "." || name == ".." {
		return "", fault.New(fault.Invalid, "plugin.add", "The address "+address+" names no repository.",
			"Write it like https://example.org/name.git.")
	}
	branch := u.Fragment
	u.Fragment = ""
	r := repository{address: address, dir: filepath.Join(stage, name)}
	ctx, cancel := context.WithTimeoutCause(ctx, cloneTime,
		fault.New(fault.Unavailable, "plugin.add", "git could not fetch "+address+" within "+fault.Seconds(cloneTime)+".",
			"Try again, or download it and add its folder."))
	defer cancel()
	r.settings = wayOut(ctx)
	if err := r.fetch(ctx, u.String(), branch); err != nil {
		return "", err
	}
	files, err := r.count(ctx)
	if err == nil && files > 0 {
		err = r.run(ctx, "-C", r.dir, "reset", "--quiet", "--hard")
	}
	if err != nil {
		return "", err
	}
	return r.dir, nil
}

// repository is a clone under way.
type repository struct {
	address, dir string
	settings     []string // of the person's, as arguments
}

// fetch brings in what the repository holds, and writes none of its files.
func (r repository) fetch(ctx context.Context, from, branch string) error {
	arguments := []string{
		"clone", "--quiet", "--no-checkout", "--depth", "1", "--single-branch", "--no-tags",
		"--no-recurse-submodules",
	}
	if branch != "" {
		arguments = append(arguments, "--branch="+branch)
	}
	ctx, stop := context.WithCancelCause(ctx)
	over := make(chan struct{})
	go func() { // ends with ctx, at the latest when git has ended
		defer close(over)
		r.watch(ctx, stop)
	}()
	err := r.run(ctx, append(arguments, "--", from, r.dir)...)
	stop(nil)
	<-over
	return err
}

// watch stops a clone that takes more room than a plugin may.
func (r repository) watch(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(sizeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		size := int64(0)
		_ = filepath.WalkDir(r.dir, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				if info, err := entry.Info(); err == nil { // else it is gone again
					size += info.Size()
				}
			}
			return nil
		})
		if size > plugin.MaxBytes {
			stop(r.tooLarge())
		}
	}
}

// count returns how many files and folders the fetched version holds: none when the
// repository is empty. The error is a fault of kind invalid when they are too many.
func (r repository) count(ctx context.Context) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := r.git(ctx, "-C", r.dir, "ls-tree", "-r", "-t", "-l", "-z", "HEAD")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, r.failed(ctx, err, "")
	}
	entries, size := 0, int64(0)
	list := bufio.NewScanner(out)
	list.Split(func(data []byte, end bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, 0); i >= 0 {
			return i + 1, data[:i], nil
		}
		return 0, nil, nil
	})
	for list.Scan() && entries <= 2*plugin.MaxFiles && size <= plugin.MaxBytes {
		entries++
		facts, _, _ := strings.Cut(list.Text(), "\t") // mode, kind, object, size
		if fields := strings.Fields(facts); len(fields) == 4 {
			n, _ := strconv.ParseInt(fields[3], 10, 64) // a folder has none
			size += n
		}
	}
	if list.Err() != nil || entries > 2*plugin.MaxFiles || size > plugin.MaxBytes { // as many folders as files at most
		stop(r.tooLarge())
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil && entries > 0:
		return 0, r.failed(ctx, err, "")
	}
	return entries, nil
}

func (r repository) tooLarge() error {
	return fault.New(fault.Invalid, "plugin.add",
		fmt.Sprintf("The repository %s holds more than %d files or %d MiB.", r.address, plugin.MaxFiles, plugin.MaxBytes>>20),
		"Do not use it, or download what is needed of it and add that folder.")
}

// git is a command of git's.
func (r repository) git(ctx context.Context, arguments ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", slices.Concat(untrusted, r.settings, arguments)...)
	home := filepath.Dir(r.dir) // without a .netrc, and without attributes
	cmd.Env = append(surroundings(os.Environ()), "HOME="+home, "XDG_CONFIG_HOME="+home,
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never",
		"GIT_LFS_SKIP_SMUDGE=1", "GIT_ALLOW_PROTOCOL=https", "LC_ALL=C")
	cmd.WaitDelay = 5 * time.Second // a helper of git's may hold its output open
	return cmd
}

// passed names the variables of the person's that git is given: where programs lie, and the
// way out to the network.
var passed = []string{
	"PATH", "LD_LIBRARY_PATH", "DEVELOPER_DIR", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"NIX_SSL_CERT_FILE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_PROXY_SSL_CAINFO", "GIT_EXEC_PATH",
}

// surroundings returns what of an environment git is given.
func surroundings(environment []string) []string {
	return slices.DeleteFunc(slices.Clone(environment), func(one string) bool {
		name, _, _ := strings.Cut(one, "=")
		return !slices.Contains(passed, strings.ToUpper(name))
	})
}

// wayOut returns what the person's own settings of git say of proxies and of whose
// certificates are believed, for all servers, as arguments. None of them names a program.
func wayOut(ctx context.Context) []string {
	var settings []string
	for _, where := range []string{"--system", "--global"} {
		out, err := exec.CommandContext(ctx, "git", "config", where, "--null", "--get-regexp",
			`^http\.(proxy|sslcainfo|sslcapath|sslbackend|schannelusesslcainfo|proxysslcainfo)$`).Output()
		if err != nil {
			continue // there is none, or no git, which fetching says
		}
		for one := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if name, value, ok := strings.Cut(one, "\n"); ok {
				settings = append(settings, "-c", name+"="+value)
			}
		}
	}
	return settings
}

// run runs git to its end. The error is a fault.
func (r repository) run(ctx context.Context, arguments ...string) error {
	out, err := r.git(ctx, arguments...).CombinedOutput()
	if err != nil {
		return r.failed(ctx, err, string(out))
	}
	return nil
}

func (r repository) failed(ctx context.Context, err error, said string) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fault.Wrap(fault.Unavailable, "plugin.add", "git was not found, so nothing can be fetched.",
			"Install git, or download the plugin and add its folder.", err)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fault.Wrap(fault.Unavailable, "plugin.add", "git could not fetch "+r.address+": "+lastLine(said),
		"Check the address and the network, or download the plugin and add its folder.", err)
}

// withoutPassword is an address as it may be shown.
func withoutPassword(address string) string {
	if u, err := url.Parse(address); err == nil && u.User != nil {
		return u.Redacted()
	}
	return address
}

// lastLine returns the last line that holds something.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
