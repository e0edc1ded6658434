package remote_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/terminal/remote"

	"golang.org/x/sys/unix"
)

// nobody is the user that plays the attacker. Only root can become another user.
const nobody = 65534

// TestMain lets the test binary play other programs: the owner of a data folder,
// and another user's programs.
func TestMain(m *testing.M) {
	role, at := os.Getenv("REMOTE_TEST_ROLE"), os.Getenv("REMOTE_TEST_AT")
	switch role {
	case "owner":
		_, err := remote.Serve(at, "1.0", playCommand)
		report(err)
		select {}
	case "trap":
		report(trap(at)) // returns only when it failed
	case "thief":
		report(steal(at))
	default:
		os.Exit(m.Run())
	}
}

// report tells the test that the role is played, or why not.
func report(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
}

// playCommand waits for the end of a command named wait, which it says has begun.
func playCommand(ctx context.Context, _ <-chan struct{}, c remote.Command, s remote.Streams) int {
	if c.Args[0] == "wait" {
		_, _ = s.Out.Write([]byte("begun"))
		<-ctx.Done()
	}
	return 7
}

// trap listens at a path, in a folder that it makes when there is none, and
// prints whatever it is sent.
func trap(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil { //nolint:gosec // an attacker's
		return err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	if err := os.Chmod(path, 0o777); err != nil { //nolint:gosec // an attacker's
		return err
	}
	go func() { // ends with the program, which the test kills
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			got, _ := io.ReadAll(c)
			fmt.Printf("sent: %q\n", got)
		}
	}()
	fmt.Println("ready")
	select {}
}

// steal sends a command to a socket and prints what came back.
func steal(path string) error {
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	words := `{"version":"1.0","args":["keys"]}`
	_, _ = c.Write(append([]byte{'c', 0, 0, 0, byte(len(words))}, words...))
	got, _ := io.ReadAll(c)
	if len(got) > 0 {
		return fmt.Errorf("the owner answered %q", got)
	}
	return nil
}

// player is a process that plays a role.
type player struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

// play starts a role, as the user uid, and waits until it is played.
func play(t *testing.T, role, at string, uid uint32) *player {
	t.Helper()
	self := filepath.Join(openFolder(t), "test")
	if err := os.Link(os.Args[0], self); err != nil {
		copyFile(t, os.Args[0], self)
	}
	if err := os.Chmod(self, 0o755); err != nil { //nolint:gosec // another user runs it
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "REMOTE_TEST_ROLE="+role, "REMOTE_TEST_AT="+at)
	cmd.Stderr = os.Stderr
	if uid != uint32(os.Getuid()) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &player{cmd, bufio.NewReader(out)}
	t.Cleanup(func() { _ = p.end() })
	if line, err := p.out.ReadString('\n'); line != "ready\n" {
		t.Fatalf("the %s said %q, %v", role, line, err)
	}
	return p
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	must(t, err)
	if err := os.WriteFile(to, data, 0o755); err != nil { //nolint:gosec // another user runs it
		t.Fatal(err)
	}
}

// end kills the process and returns what it printed since it was ready.
func (p *player) end() string {
	_ = p.cmd.Process.Kill()
	rest, _ := io.ReadAll(p.out)
	_ = p.cmd.Wait()
	return string(rest)
}

// stop stops the process, as Ctrl-Z does, and waits until it has stopped.
func (p *player) stop(t *testing.T) {
	t.Helper()
	must(t, p.cmd.Process.Signal(syscall.SIGSTOP))
	must(t, unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WSTOPPED|unix.WNOWAIT, nil))
}

// openFolder returns a folder that every user may enter and write to.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "open")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil { //nolint:gosec // as /tmp is
		t.Fatal(err)
	}
	return dir
}

// longFolder returns a data folder whose path is too long for a socket, in a
// world where no folder for sockets is known but the temporary one, which it
// returns too.
func longFolder(t *testing.T) (data, shared string) {
	t.Helper()
	shared = openFolder(t)
	t.Setenv("TMPDIR", shared)
	t.Setenv("XDG_RUNTIME_DIR", "")
	data = filepath.Join(shortFolder(t), strings.Repeat("long/", 25))
	must(t, os.MkdirAll(data, 0o700))
	if dir := fmt.Sprintf("/run/user/%d", os.Getuid()); os.Mkdir(filepath.Join(dir, "conclave"), 0o700) == nil {
		t.Cleanup(func() { _ = os.Remove(filepath.Join(dir, "conclave")) })
	}
	return data, shared
}

func needRoot(t *testing.T) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can play another user")
	}
}

var secret = remote.Command{Version: "1.0", Args: []string{"keys", "set", "sk-secret"}}

func ask(t *testing.T, data string, command remote.Command) (int, error) {
	t.Helper()
	return remote.Run(t.Context(), data, command, remote.Streams{Out: io.Discard, Err: io.Discard})
}

func TestTheSocketOfALongPathLiesInAPrivateFolder(t *testing.T) {
	data, shared := longFolder(t)
	runtime := shortFolder(t)
	for name, folder := range map[string]string{"the user's runtime folder": runtime, "the temporary folder": ""} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", folder)
			server, err := remote.Serve(data, "1.0", playCommand)
			must(t, err)
			defer server.Close()
			if code, err := ask(t, data, secret); code != 7 || err != nil {
				t.Errorf("got status %d, %v; want 7", code, err)
			}
			// A program that was given another environment finds it all the same.
			t.Setenv("XDG_RUNTIME_DIR", runtime)
			if code, err := ask(t, data, secret); code != 7 || err != nil {
				t.Errorf("with another environment: got status %d, %v; want 7", code, err)
			}
			for _, dir := range []string{runtime, shared} {
				sockets, _ := filepath.Glob(filepath.Join(dir, "*", "*.sock"))
				for _, socket := range sockets {
					info, err := os.Stat(filepath.Dir(socket))
					if err != nil || info.Mode().Perm() != 0o700 {
						t.Errorf("%s lies in a folder of mode %v, %v; want 0700", socket, info.Mode(), err)
					}
				}
			}
		})
	}
}

func TestAPredictableNameThatAnotherUserTookFirstGetsNothing(t *testing.T) {
	needRoot(t)
	data, _ := longFolder(t)
	server, err := remote.Serve(data, "1.0", playCommand) // to learn the name
	must(t, err)
	path := server.Address()
	server.Close()
	must(t, os.Remove(filepath.Dir(path)))
	attacker := play(t, "trap", path, nobody)
	if server, err := remote.Serve(data, "1.0", playCommand); err == nil {
		server.Close()
		t.Error("the owner listens in a folder that another user made")
	}
	if _, err := ask(t, data, secret); err == nil || !strings.Contains(err.Error(), "another user could") {
		t.Errorf("got %v, want to hear that the folder is not private", err)
	}
	if got := attacker.end(); got != "" {
		t.Errorf("the attacker got %s", got)
	}
}

func TestAnotherUsersProgramAtTheVeryPathGetsNothing(t *testing.T) {
	needRoot(t)
	data, elsewhere := shortFolder(t), filepath.Join(openFolder(t), "s")
	attacker := play(t, "trap", elsewhere, nobody)
	must(t, os.Rename(elsewhere, filepath.Join(data, "conclave.sock")))
	_, err := ask(t, data, secret)
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "is another user's") {
		t.Errorf("got %v, want a conflict that names another user", err)
	}
	if got := attacker.end(); strings.Contains(got, "secret") || strings.Contains(got, "args") {
		t.Errorf("the attacker got %s", got)
	}
}

func TestAnotherUsersCommandIsNotRun(t *testing.T) {
	needRoot(t)
	t.Setenv("TMPDIR", "/tmp") // which other users may enter
	ran := make(chan struct{}, 1)
	data, server := serve(t, func(context.Context, <-chan struct{}, remote.Command, remote.Streams) int {
		ran <- struct{}{}
		return 0
	})
	// As if the person had opened them to everybody.
	for path, mode := range map[string]os.FileMode{data: 0o711, server.Address(): 0o666} {
		must(t, os.Chmod(path, mode))
	}
	play(t, "thief", server.Address(), nobody)
	select {
	case <-ran:
		t.Error("the owner ran another user's command")
	default:
	}
}

func TestAFolderThatOthersMayWriteIsNoPlaceForTheSocket(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string){
		"writable by everybody": func(t *testing.T, path string) {
			if err := errors.Join(os.Mkdir(path, 0o700), os.Chmod(path, 0o777)); err != nil { //nolint:gosec // that is the case
				t.Fatal(err)
			}
		},
		"a link to a private one": func(t *testing.T, path string) {
			must(t, os.Symlink(shortFolder(t), path))
		},
		"a file": func(t *testing.T, path string) {
			must(t, os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			data, shared := longFolder(t)
			if _, err := os.Stat(fmt.Sprintf("/run/user/%d", os.Getuid())); err == nil {
				t.Skip("there is a runtime folder, which is taken before")
			}
			prepare(t, filepath.Join(shared, fmt.Sprintf("conclave-%d", os.Getuid())))
			if server, err := remote.Serve(data, "1.0", playCommand); err == nil {
				server.Close()
				t.Error("the owner listens there")
			}
		})
	}
}

func TestAStoppedOwnerIsGivenFiveSecondsAndThenASentence(t *testing.T) {
	t.Parallel()
	data := shortFolder(t)
	owner := play(t, "owner", data, uint32(os.Getuid()))
	owner.stop(t)
	begin := time.Now()
	_, err := ask(t, data, secret)
	if fault.KindOf(err) != fault.Timeout || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("got %v, want a timeout that says so", err)
	}
	if took := time.Since(begin); took < 4*time.Second || took > time.Minute {
		t.Errorf("it took %v, want about five seconds", took)
	}
}

func TestTheFirstSignalEndsACommandWhoseOwnerIsStopped(t *testing.T) {
	remote.SetPatience(t, time.Hour) // which an owner that is not stopped has
	data := shortFolder(t)
	owner := play(t, "owner", data, uint32(os.Getuid()))
	owner.stop(t)
	stopped := errors.New("the person pressed Ctrl-C")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(100*time.Millisecond, func() { cancel(stopped) })
	_, err := remote.Run(ctx, data, secret, remote.Streams{Out: io.Discard, Err: io.Discard})
	if !errors.Is(err, stopped) {
		t.Errorf("got %v, want the cause of the context's end", err)
	}
}

func TestAnOwnerThatIsStoppedInTheMiddleDoesNotHoldTheCommand(t *testing.T) {
	t.Parallel()
	for name, signal := range map[string]bool{"left alone": false, "interrupted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := shortFolder(t)
			owner := play(t, "owner", data, uint32(os.Getuid()))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := writer(func(p []byte) {
				if !bytes.Equal(p, []byte("begun")) {
					t.Errorf("got output %q", p)
				}
				owner.stop(t)
				if signal {
					cancel()
				}
			})
			wait := remote.Command{Version: "1.0", Args: []string{"wait"}}
			_, err := remote.Run(ctx, data, wait, remote.Streams{Out: out, Err: io.Discard})
			if signal && !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want the cause of the context's end", err)
			}
			if !signal && fault.KindOf(err) != fault.Timeout {
				t.Errorf("got %v, want a timeout", err)
			}
		})
	}
}

func TestAProgramThatTakesNoOutputDoesNotHoldAClosingOwner(t *testing.T) {
	t.Parallel()
	running := make(chan struct{})
	data, server := serve(t, func(_ context.Context, _ <-chan struct{}, _ remote.Command, s remote.Streams) int {
		close(running)
		for {
			if _, err := s.Out.Write(make([]byte, 1<<20)); err != nil {
				return 1
			}
		}
	})
	block := make(chan struct{})
	out := writer(func([]byte) { <-block })
	done := make(chan struct{})
	go func() { // ends with the test
		defer close(done)
		_, _ = remote.Run(t.Context(), data, secret, remote.Streams{Out: out, Err: io.Discard})
	}()
	<-running
	closed := make(chan struct{})
	go func() { server.Close(); close(closed) }() // ends with the test
	select {
	case <-closed:
	case <-time.After(2 * time.Minute):
		t.Error("the owner does not close")
	}
	close(block)
	<-done
}

// writer is output that calls back.
type writer func([]byte)

func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}
