//go:build !windows

package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/test/testkit"
	"conclave/store"
	"conclave/store/storetest"
)

// child names what the test binary does instead of testing, and where.
const (
	childVar = "CONCLAVE_STORE_CHILD"
	dirVar   = "CONCLAVE_STORE_DIR"
)

// children run in this binary as the child of a test, with a store's folder.
var children = map[string]func(context.Context, string) error{
	"stream": childStream, "hold": childHold, "limit": childLimit, "council": childCouncil,
	"record": childRecord,
}

// patience bounds every wait: far above what anything takes.
var patience = testkit.Patience

func TestMain(m *testing.M) {
	run, ok := children[os.Getenv(childVar)]
	if !ok {
		os.Exit(m.Run())
	}
	if err := run(context.Background(), os.Getenv(dirVar)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// start runs this binary as a child and returns it with its output.
func start(t *testing.T, what, dir string) (*exec.Cmd, *bufio.Scanner, io.WriteCloser) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+what, dirVar+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	return cmd, lines, in
}

// childStream streams a reply for ever: one number a millisecond, with how many transactions
// were written when it had been given to the journal on standard output.
func childStream(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	c := chat.Conversation{ID: "c"}
	if err := s.Chats.CreateConversation(ctx, &c); err != nil {
		return err
	}
	call := chat.CallRecord{ToolName: "asked", Conversation: "c", Status: chat.CallAsked, Timestamp: time.Now()}
	if err := s.Calls.PutCall(ctx, &call); err != nil {
		return err
	}
	done := chat.CallRecord{ToolName: "done", Conversation: "c", Status: chat.CallOK, Timestamp: time.Now()}
	if err := s.Calls.PutCall(ctx, &done); err != nil {
		return err
	}
	m := chat.Message{
		Conversation: "c", Role: chat.RoleAssistant, State: chat.Streaming, Parts: []chat.Part{{Kind: chat.PartText}},
	}
	if err := s.Chats.Append(ctx, &m); err != nil {
		return err
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 1; ; i++ {
		<-tick.C
		m.Parts[0].Text += fmt.Sprintf(" %d", i)
		s.Chats.Journal(m)
		fmt.Println(i, s.Commits())
	}
}

// TestAKillLosesWhatNoTransactionHadOfAStreamAndNoCall kills where it may. How soon a
// transaction follows, TestTheJournalIsWrittenEvery250Milliseconds says on a clock of its own.
func TestAKillLosesWhatNoTransactionHadOfAStreamAndNoCall(t *testing.T) {
	dir := t.TempDir()
	cmd, lines, _ := start(t, "stream", dir)
	var commits []int // when each number had been given
	for lines.Scan() {
		var n, at int
		if _, err := fmt.Sscan(lines.Text(), &n, &at); err != nil || n != len(commits)+1 {
			t.Fatalf("after %d the child said %q", len(commits), lines.Text())
		}
		if commits = append(commits, at); n >= 700 && at >= commits[0]+3 {
			must(t, cmd.Process.Kill())
		}
	}
	_ = cmd.Wait()
	last := len(commits)
	if last < 700 {
		t.Fatalf("the child ended after %d", last)
	}
	// The transaction after the one that was under way began later than the number was given.
	due := sort.SearchInts(commits, commits[last-1]-1)
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	path, err := s.Chats.Path(t.Context(), "c")
	must(t, err)
	equal(t, "state", path[0].State, chat.Interrupted)
	words := strings.Fields(chat.TextOf(path[0].Parts))
	for i, w := range words {
		if w != strconv.Itoa(i+1) {
			t.Fatalf("word %d is %q", i+1, w)
		}
	}
	if len(words) < due || due == 0 {
		t.Errorf("of %d words %d are there, and %d were to be written", last, len(words), due)
	}
	calls, err := s.Calls.Calls(t.Context(), chat.CallFilter{})
	if err != nil || len(calls) != 2 {
		t.Fatalf("got %d calls, %v", len(calls), err)
	}
	equal(t, "the call that had ended", calls[0].Status, chat.CallOK)
	equal(t, "the call under way", calls[1].Status, chat.CallDied)
	report, err := s.Activity.VerifyActivity(t.Context())
	if err != nil || !report.OK || report.Entries != 2 {
		t.Errorf("the record of activity: %+v, %v", report, err)
	}
	row, err := s.Activity.ActivityOf(t.Context(), calls[1].ID)
	must(t, err)
	e, d, err := row.Read()
	must(t, err)
	equal(t, "the call under way, in the record of activity", e.Outcome, chat.CallDied)
	equal(t, "its arguments", d.Left, "The arguments are not kept: Conclave was ended while the call ran.")
}

// childRecord puts calls on record for ever, with the number of each on standard output once
// it is on the disk.
func childRecord(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	for i := 1; ; i++ {
		r := ended(i%60, "c")
		r.Status = chat.CallRunning
		if err := s.Calls.PutCall(ctx, &r); err != nil {
			return err
		}
		r.Status = chat.CallOK
		if err := s.Calls.PutCall(ctx, &r); err != nil {
			return err
		}
		if i%7 == 0 {
			if err := s.Sync(ctx); err != nil {
				return err
			}
			fmt.Println(i)
		}
	}
}

func TestAttackAKillWhileTheRecordIsWritten(t *testing.T) {
	dir := t.TempDir()
	kept := 0 // entries that were on the disk before a kill
	for round := range 6 {
		cmd, lines, _ := start(t, "record", dir)
		last := 0
		for lines.Scan() {
			_, err := fmt.Sscan(lines.Text(), &last)
			must(t, err)
			if last == 7*(1+round*5) {
				must(t, cmd.Process.Kill()) // in the middle of whatever it writes next
			}
		}
		_ = cmd.Wait()
		if last < 7*(1+round*5) {
			t.Fatalf("the child ended after %d", last)
		}
		s := storetest.OpenWith(t, store.Options{Dir: dir})
		report, err := s.Activity.VerifyActivity(t.Context())
		must(t, err)
		if !report.OK || report.Entries < kept+last {
			t.Errorf("after kill %d, of at least %d entries: %s", round+1, kept+last, report.Sentence())
		}
		kept = report.Entries
		r := ended(1, "c") // the chain goes on behind it
		must(t, s.Calls.PutCall(t.Context(), &r))
		kept++
		must(t, s.Close())
		if report := verified(t, dir); !report.OK || report.Entries != kept {
			t.Errorf("once it went on, with %d entries: %s", kept, report.Sentence())
		}
		t.Logf("stopped by: one transaction for an entry and its link; %s", report.Sentence())
	}
}

// childCouncil keeps the steps of one run after another, each with its texts, with the run
// and the number of what is kept on standard output.
func childCouncil(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	c := chat.Conversation{ID: "c"}
	if err := s.Chats.CreateConversation(ctx, &c); err != nil {
		return err
	}
	for n := 1; ; n++ {
		id := council.RunID(fmt.Sprintf("run-%04d", n))
		steps, texts, run, err := councilRun(id, "c", 3)
		if err != nil {
			return err
		}
		for _, step := range steps {
			if err := s.Councils.AppendSteps(ctx, headerOf(run), []council.Step{step}, textsOf(step, texts)); err != nil {
				return err
			}
			fmt.Println(id, step.Number)
		}
	}
}

func TestAKillLosesNoStepThatWasKeptAndLeavesNoneWithoutItsTexts(t *testing.T) {
	dir := t.TempDir()
	cmd, lines, _ := start(t, "council", dir)
	kept, last := map[council.RunID]int{}, 0
	for said := 0; lines.Scan(); said++ {
		id, number, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("the child said %q", lines.Text())
		}
		kept[council.RunID(id)], last = n, said
		if said == 100 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if last < 100 {
		t.Fatalf("the child ended after %d steps", last)
	}
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	headers, err := s.Councils.Runs(t.Context(), "c")
	if err != nil || len(headers) < len(kept) {
		t.Fatalf("of %d runs %d are there, %v", len(kept), len(headers), err)
	}
	for _, h := range headers {
		steps, err := s.Councils.Steps(t.Context(), h.Run)
		if err != nil || len(steps) < kept[h.Run] {
			t.Fatalf("of %d steps of %s %d are there, %v", kept[h.Run], h.Run, len(steps), err)
		}
		run, err := council.Replay(steps)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps {
			for hash := range textsOf(step, nil) {
				if _, err := s.Councils.Text(t.Context(), h.Run, hash); err != nil {
					t.Errorf("step %d of %s names a text that is not there: %v", step.Number, h.Run, err)
				}
			}
		}
		if err := run.Apply(council.Step{
			Kind: council.Resumes, Number: len(steps) + 1, At: run.Last.At,
		}); (err == nil) != (run.State != council.Over) {
			t.Errorf("%s is %s and goes on: %v", h.Run, run.State, err)
		}
	}
}

// childHold opens the store and keeps it until its input ends.
func childHold(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, store.Options{Dir: dir, Program: "the window"})
	if err != nil {
		return err
	}
	fmt.Println("open")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return s.Close()
}

func TestOfTwoProcessesTheSecondLearnsWhichHasTheStore(t *testing.T) {
	dir := t.TempDir()
	cmd, lines, in := start(t, "hold", dir)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child said %q", lines.Text())
	}
	_, err := store.Open(t.Context(), store.Options{Dir: dir})
	f := kind(t, err, fault.Locked)
	if who := fmt.Sprintf("the window, process %d", cmd.Process.Pid); !strings.Contains(f.Message, who) {
		t.Errorf("the error does not name %s: %s", who, f.Message)
	}
	owner, ok := store.OwnerOf(dir)
	if !ok || owner.PID != cmd.Process.Pid || owner.Program != "the window" {
		t.Errorf("owner: %+v, %v", owner, ok)
	}
	_, err = store.RestoreCopy(t.Context(), dir, filepath.Join(dir, "conclave.db"), time.Now(), store.RestoreOptions{})
	kind(t, err, fault.Locked)

	ctx, cancel := context.WithCancelCause(t.Context())
	why := fmt.Errorf("the person gave up")
	cancel(why)
	if _, err := store.Open(ctx, store.Options{Dir: dir, Wait: time.Minute}); err == nil ||
		!strings.Contains(err.Error(), why.Error()) {
		t.Errorf("opening with an ended context: %v", err)
	}

	if err := in.Close(); err != nil { // the child lets go, and the waiting one gets it
		t.Fatal(err)
	}
	s := storetest.OpenWith(t, store.Options{Dir: dir, Wait: patience})
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child: %v", err)
	}
	if _, err := store.Open(t.Context(), store.Options{Dir: dir}); !strings.HasPrefix(kind(t, err, fault.Locked).Message,
		"This Conclave") {
		t.Errorf("a second Open in one process: %v", err)
	}
	must(t, s.Close())
	if owner, ok := store.OwnerOf(dir); ok {
		t.Errorf("a closed store has the owner %+v", owner)
	}
}

// childLimit fills its disk, as far as it can tell: no file may grow past a
// limit that it then takes back.
func childLimit(ctx context.Context, dir string) error {
	signal.Ignore(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	return fullDisk(ctx, dir, "does not let a file in "+dir+" grow any larger", func() error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: was.Max})
	}, func() error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was)
	})
}

// fullDisk runs the store into a full disk and out again; said is what the person reads. It returns what went
// wrong.
func fullDisk(ctx context.Context, dir, said string, fill, free func() error) error {
	trouble := make(chan error, 16)
	s, err := store.Open(ctx, store.Options{Dir: dir, OnTrouble: func(err error) { trouble <- err }})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Chats.CreateConversation(ctx, &chat.Conversation{ID: "c"}); err != nil {
		return err
	}
	m := chat.Message{
		Conversation: "c", Role: chat.RoleAssistant, State: chat.Streaming, Parts: []chat.Part{{Kind: chat.PartText}},
	}
	if err := s.Chats.Append(ctx, &m); err != nil {
		return err
	}
	if err := fill(); err != nil {
		return err
	}
	m.Parts[0].Text = strings.Repeat("much ", 1<<20)
	s.Chats.Journal(m)
	call := chat.CallRecord{ToolName: "t", Conversation: "c", Status: chat.CallOK}
	if err := s.Calls.PutCall(ctx, &call); err != nil {
		return err
	}
	wait := func() (error, error) {
		select {
		case err := <-trouble:
			return err, nil
		case <-time.After(patience):
			return nil, fmt.Errorf("nobody was told")
		}
	}
	first, err := wait()
	if err != nil {
		return err
	}
	if fault.KindOf(first) != fault.Unavailable || !strings.Contains(first.Error(), said) {
		return fmt.Errorf("the first trouble is %w", first)
	}
	big := chat.Message{Conversation: "c", Parent: 1, Role: chat.RoleUser, Parts: m.Parts}
	if err := s.Chats.Append(ctx, &big); fault.KindOf(err) != fault.Unavailable {
		return fmt.Errorf("a message on a full disk: %w", err)
	}
	if err := s.Media.PutMedia(ctx, &chat.Media{Data: make([]byte, 8<<20)}); fault.KindOf(err) != fault.Unavailable {
		return fmt.Errorf("a file on a full disk: %w", err)
	}
	path, err := s.Chats.Path(ctx, "c")
	if err != nil || len(path) != 1 || chat.TextOf(path[0].Parts) != m.Parts[0].Text {
		return fmt.Errorf("the newest text cannot be read while the disk is full: %w", err)
	}
	if len(trouble) != 0 {
		return fmt.Errorf("trouble was told twice: %w", <-trouble)
	}
	if err := free(); err != nil {
		return err
	}
	if over, err := wait(); err != nil || over != nil {
		return fmt.Errorf("after there was room: %w, %w", over, err)
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		return fmt.Errorf("the store is not sound: %v, %w", problems, err)
	}
	if err := s.Close(); err != nil {
		return err
	}

	s, err = store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		return err
	}
	path, err = s.Chats.Path(ctx, "c")
	if err != nil || len(path) != 1 || chat.TextOf(path[0].Parts) != m.Parts[0].Text {
		return fmt.Errorf("the text was lost: %w", err)
	}
	if _, err := s.Calls.Call(ctx, call.ID); err != nil {
		return fmt.Errorf("the call was lost: %w", err)
	}
	return s.Close()
}

func TestNothingIsLostWhenFilesMayNotGrowForAWhile(t *testing.T) {
	cmd, lines, _ := start(t, "limit", t.TempDir())
	for lines.Scan() {
		t.Log(lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the child: %v", err)
	}
}
