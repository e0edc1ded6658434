package core_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/core"
	"conclave/app/test/testkit"
	"conclave/store"
)

var must = testkit.Must

// ownerVar makes the test binary a program that has the store of a folder open
// until its input ends or it is told to end.
const ownerVar = "CONCLAVE_TEST_OWNER"

func init() {
	dir := os.Getenv(ownerVar)
	if dir == "" {
		return
	}
	s, err := store.Open(context.Background(), store.Options{Dir: dir, Program: "conclave chat"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = s.Close()
	os.Exit(0)
}

// owned starts a program that has the store of dir.
func owned(t *testing.T, dir string) (cmd *exec.Cmd, let func()) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), ownerVar+"="+dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the owner said %q, %v", line, err)
	}
	return cmd, func() { _ = in.Close() }
}

func TestTheWindowOpensWhenACommandOfTheTerminalEnds(t *testing.T) {
	options := func(t *testing.T) core.Options {
		return core.Options{Data: t.TempDir(), Plugins: t.TempDir(), Name: core.WindowName}
	}
	wants := func(t *testing.T, c *core.Core, err error) {
		t.Helper()
		must(t, err)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Run("one that ends soon is waited for", func(t *testing.T) {
		o := options(t)
		_, let := owned(t, o.Data)
		time.AfterFunc(100*time.Millisecond, let)
		c, err := core.OpenWhenFree(t.Context(), o, time.Minute, func(context.Context, store.Owner) core.Choice {
			t.Error("somebody was asked")
			return core.GiveUp
		})
		wants(t, c, err)
	})
	t.Run("one that lasts is named, and the question ends with it", func(t *testing.T) {
		o := options(t)
		cmd, let := owned(t, o.Data)
		c, err := core.OpenWhenFree(t.Context(), o, time.Millisecond,
			func(ctx context.Context, owner store.Owner) core.Choice {
				if owner.Program != "conclave chat" || owner.PID != cmd.Process.Pid {
					t.Errorf("named %+v", owner)
				}
				let()
				<-ctx.Done()
				return core.GiveUp
			})
		wants(t, c, err)
	})
	t.Run("it is ended", func(t *testing.T) {
		o := options(t)
		cmd, _ := owned(t, o.Data)
		c, err := core.OpenWhenFree(t.Context(), o, time.Millisecond,
			func(context.Context, store.Owner) core.Choice { return core.EndThem })
		wants(t, c, err)
		if err := cmd.Wait(); err == nil {
			t.Error("the owner was not ended")
		}
	})
	t.Run("the person gives up", func(t *testing.T) {
		o := options(t)
		owned(t, o.Data)
		_, err := core.OpenWhenFree(t.Context(), o, time.Millisecond,
			func(context.Context, store.Owner) core.Choice { return core.GiveUp })
		if fault.KindOf(err) != fault.Canceled {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another window is not waited for", func(t *testing.T) {
		o := options(t)
		first, err := core.Open(t.Context(), o)
		must(t, err)
		_, err = core.OpenWhenFree(t.Context(), o, time.Minute, nil)
		if fault.KindOf(err) != fault.Locked {
			t.Errorf("got %v", err)
		}
		wants(t, first, nil)
	})
}
