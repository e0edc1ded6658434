//go:build linux

package keys

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"

	"github.com/godbus/dbus/v5"
)

// secretService is the name under which a desktop's keychain is asked.
const secretService = "org.freedesktop.secrets"

// hungKeychain starts a session bus whose secret service takes every call and answers none. It
// returns the bus's address, and what was called.
func hungKeychain(t *testing.T) (address string, called <-chan *dbus.Message) {
	t.Helper()
	daemon, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("no dbus-daemon is installed")
	}
	bus := exec.CommandContext(t.Context(), daemon, "--session", "--nofork", "--print-address=1")
	said, err := bus.StdoutPipe()
	must(t, err)
	must(t, bus.Start())
	t.Cleanup(func() {
		_ = bus.Process.Kill()
		_ = bus.Wait()
	})
	line, err := bufio.NewReader(said).ReadString('\n')
	must(t, err)
	address = strings.TrimSpace(line)
	conn, err := dbus.Connect(address)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	got, err := conn.RequestName(secretService, dbus.NameFlagDoNotQueue)
	must(t, err)
	if got != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("the bus gave the name of the secret service: %v", got)
	}
	heard := make(chan *dbus.Message, 100)
	conn.Eavesdrop(heard) // no call reaches what would answer it
	return address, heard
}

// TestAKeychainThatHangsIsGivenUpWithASentence runs itself again, on a bus whose keychain hangs: the
// library keeps its connection for as long as a process lives.
func TestAKeychainThatHangsIsGivenUpWithASentence(t *testing.T) {
	if os.Getenv("CONCLAVE_TEST_HUNG") == "" {
		address, called := hungKeychain(t)
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), "CONCLAVE_TEST_HUNG=1", "DBUS_SESSION_BUS_ADDRESS="+address)
		asked, err := child.StdinPipe()
		must(t, err)
		go func() { // ends with the question: it was asked, and by the library that asks real ones
			<-called
			_ = asked.Close()
		}()
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("on a keychain that hangs: %v\n%s", err, out)
		}
		return
	}
	unlocking = 50 * time.Millisecond
	for _, works := range []bool{false, true} { // it hangs from the start; it hung later
		s := New(t.TempDir())
		if works {
			s.probe.Do(func() { s.chain = true; close(s.answered) })
		}
		for what, err := range map[string]error{
			"Get":    second(s.Get(t.Context(), "work")),
			"Set":    s.Set(t.Context(), "work", "sk-1"),
			"Delete": s.Delete(t.Context(), "work"),
		} {
			if f := fault.Of(err); f.Kind != fault.Unavailable || f.Message != "The system keychain does not answer." ||
				!strings.Contains(f.Hint, "give it there and try again") {
				t.Errorf("%s says %+v", what, f)
			}
		}
		if works && len(s.asking) != 1 {
			t.Errorf("%d questions wait for the keychain", len(s.asking))
		}
		unlocking = time.Hour
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if _, err := s.Get(ctx, "work"); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
		unlocking = 50 * time.Millisecond
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the keychain heard of a question
}

func second(_ string, err error) error { return err }
