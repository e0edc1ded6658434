package remote_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/terminal/remote"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// shortFolder returns a data folder whose path is short enough for a socket.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "data")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func serve(t *testing.T, handle remote.Handler) (string, *remote.Server) {
	t.Helper()
	data := shortFolder(t)
	s, err := remote.Serve(data, "1.0", handle)
	must(t, err)
	t.Cleanup(s.Close)
	return data, s
}

func TestACommandRunsInTheOwner(t *testing.T) {
	path, _ := serve(t, func(_ context.Context, _ <-chan struct{}, c remote.Command, s remote.Streams) int {
		in, _ := io.ReadAll(s.In)
		_, _ = s.Out.Write([]byte(strings.Join(c.Args, "+") + ":" + string(in)))
		_, _ = s.Err.Write([]byte(c.Dir))
		return 5
	})
	var out, errs bytes.Buffer
	big := strings.Repeat("x", 3<<20) // more than a frame
	code, err := remote.Run(t.Context(), path, remote.Command{Version: "1.0", Args: []string{"a", "b"}, Dir: "/here"},
		remote.Streams{In: strings.NewReader(big), Out: &out, Err: &errs})
	if err != nil || code != 5 {
		t.Fatalf("got status %d, %v; want 5", code, err)
	}
	if got := out.String(); got != "a+b:"+big {
		t.Errorf("got %d bytes of output beginning %q", len(got), got[:10])
	}
	if got := errs.String(); got != "/here" {
		t.Errorf("got %q on standard error", got)
	}
}

func TestOnlyTheOwnerMayOpenTheSocket(t *testing.T) {
	path, _ := serve(t, func(context.Context, <-chan struct{}, remote.Command, remote.Streams) int { return 0 })
	info, err := os.Stat(filepath.Join(path, "conclave.sock"))
	must(t, err)
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("permissions are %o, want 600", got)
	}
}

func TestAnotherVersionIsRefusedWithASentence(t *testing.T) {
	path, _ := serve(t, func(context.Context, <-chan struct{}, remote.Command, remote.Streams) int { return 0 })
	_, err := remote.Run(t.Context(), path, remote.Command{Version: "2.0"},
		remote.Streams{Out: io.Discard, Err: io.Discard})
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "version 1.0") {
		t.Errorf("got %v", err)
	}
}

func TestInterruptingReachesTheCommandAndItsLastWordsComeBack(t *testing.T) {
	running := make(chan struct{})
	path, _ := serve(t, func(ctx context.Context, _ <-chan struct{}, _ remote.Command, s remote.Streams) int {
		close(running)
		<-ctx.Done()
		_, _ = s.Out.Write([]byte("kept"))
		return 130
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-running; cancel() }()
	var out bytes.Buffer
	code, err := remote.Run(ctx, path, remote.Command{Version: "1.0"}, remote.Streams{Out: &out, Err: io.Discard})
	if err != nil || code != 130 || out.String() != "kept" {
		t.Errorf("got status %d, %v, output %q", code, err, out.String())
	}
}

// What was typed before a question counts for nothing, wherever on the way it is: not sent yet, sent
// and not read, or sent while the other side throws it away.
func TestAttackWhatWasTypedBeforeIsReadByACommandThatRunsElsewhere(t *testing.T) {
	keys, typed := io.Pipe()
	sent, flushed := make(chan struct{}), make(chan struct{})
	path, _ := serve(t, func(_ context.Context, _ <-chan struct{}, _ remote.Command, s remote.Streams) int {
		<-sent
		s.Flush()
		close(flushed)
		got, _ := io.ReadAll(s.In)
		_, _ = s.Out.Write(got)
		return 0
	})
	flushes := 0
	go func() { // ends with the input
		for range 10 { // more than is kept of what a command does not read
			_, _ = typed.Write([]byte("y\n"))
		}
		_, _ = typed.Write(nil) // returns once the last was sent
		close(sent)
		<-flushed
		_, _ = typed.Write([]byte("n\n"))
		_ = typed.Close()
	}()
	var out bytes.Buffer
	code, err := remote.Run(t.Context(), path, remote.Command{Version: "1.0", Terminal: true}, remote.Streams{
		In: keys, Out: &out, Err: io.Discard, Flush: func() { flushes++ },
	})
	if err != nil || code != 0 || out.String() != "n\n" || flushes != 1 {
		t.Errorf("got status %d, %v, read %q, flushed %d times", code, err, out.String(), flushes)
	}
}

// Input without end, of which the command reads nothing, or all: an interrupt gets past it, and the
// owner keeps no more of it than it says.
func TestAttackInputWithoutEndIsInTheWayOfAnInterrupt(t *testing.T) {
	for name, reads := range map[string]bool{"nothing is read": false, "all is read": true} {
		t.Run(name, func(t *testing.T) {
			var read atomic.Int64
			full := make(chan struct{})
			path, _ := serve(t, func(ctx context.Context, _ <-chan struct{}, _ remote.Command, s remote.Streams) int {
				<-full
				buffer := make([]byte, 4<<10)
				for reads && ctx.Err() == nil {
					n, _ := s.In.Read(buffer)
					read.Add(int64(n))
				}
				<-ctx.Done()
				_, _ = io.WriteString(s.Out, "stopped")
				return 3
			})
			ctx, interrupt := context.WithCancel(t.Context())
			yes := &endless{wanted: func(sent int64) {
				switch {
				case sent == remote.Window: // nothing of it was read yet
					close(full)
					if !reads {
						interrupt()
					}
				case sent > remote.Window && !reads:
					t.Errorf("%d bytes are sent of which none is read", sent)
				case sent >= 16*remote.Window:
					interrupt()
				}
			}}
			var out bytes.Buffer
			code, err := remote.Run(ctx, path, remote.Command{Version: "1.0"}, remote.Streams{
				In: yes, Out: &out, Err: io.Discard,
			})
			if err != nil || code != 3 || out.String() != "stopped" {
				t.Errorf("got status %d, %v, %q after %d bytes", code, err, out.String(), read.Load())
			}
		})
	}
}

// endless is the output of yes, and tells how much of it was read.
type endless struct {
	sent   int64
	wanted func(sent int64)
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, bytes.Repeat([]byte("y\n"), len(p)/2))
	e.sent += int64(n)
	e.wanted(e.sent)
	return n, nil
}

func TestACommandThatFlushesDoesNotWaitForAProgramThatIsGone(t *testing.T) {
	ended := make(chan struct{})
	path, _ := serve(t, func(_ context.Context, _ <-chan struct{}, _ remote.Command, s remote.Streams) int {
		defer close(ended)
		s.Flush()
		return 0
	})
	keys, _ := io.Pipe()
	go func() { // ends at its flush, and with it the connection
		_, _ = remote.Run(t.Context(), path, remote.Command{Version: "1.0"}, remote.Streams{
			In: keys, Out: io.Discard, Err: io.Discard, Flush: runtime.Goexit,
		})
	}()
	<-ended
}

func TestACommandIsNotDoneTwiceWhenItsOwnerDies(t *testing.T) {
	for name, c := range map[string]struct {
		frames []byte
		want   error
	}{
		"before it began": {nil, remote.ErrGone},
		"in the middle":   {[]byte{'B', 0, 0, 0, 0, 'O', 0, 0, 0, 1, 'x'}, remote.ErrLost},
		"while it lasts":  {[]byte{'B', 0, 0, 0, 0, 'L', 0, 0, 0, 0, 'O', 0, 0, 0, 1, 'x'}, remote.ErrGone},
	} {
		t.Run(name, func(t *testing.T) {
			path := shortFolder(t)
			l, err := net.Listen("unix", filepath.Join(path, "conclave.sock"))
			must(t, err)
			defer l.Close()
			go func() {
				c2, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c2.Read(make([]byte, 4096)) // the command
				_, _ = c2.Write(c.frames)
				_ = c2.Close()
			}()
			in := &untouched{}
			_, err = remote.Run(t.Context(), path, remote.Command{Version: "1.0"}, remote.Streams{
				In: in, Out: io.Discard, Err: io.Discard,
			})
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if c.frames == nil && in.read.Load() {
				t.Error("input was read for a command that never began")
			}
		})
	}
}

// untouched is input that notices when it is read.
type untouched struct{ read atomic.Bool }

func (u *untouched) Read([]byte) (int, error) {
	u.read.Store(true)
	return 0, io.EOF
}

func TestALastingCommandGivesWayToAClosingOwner(t *testing.T) {
	running := make(chan struct{})
	path, server := serve(t, func(_ context.Context, closing <-chan struct{}, _ remote.Command, _ remote.Streams) int {
		close(running)
		<-closing
		return remote.Gone
	})
	go func() { <-running; server.Close() }()
	_, err := remote.Run(t.Context(), path, remote.Command{Version: "1.0"},
		remote.Streams{Out: io.Discard, Err: io.Discard})
	if !errors.Is(err, remote.ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
	if _, err := remote.Run(t.Context(), path, remote.Command{Version: "1.0"},
		remote.Streams{Out: io.Discard, Err: io.Discard}); err == nil {
		t.Error("a closed owner still runs commands")
	}
}
