package egress

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestALedgerThatIsFullForgetsACallThatIsOverAndNoneThatRuns(t *testing.T) {
	var running []string
	p := &Proxy{o: Options{Working: func(string) []string { return running }}}
	send := func(calls ...string) { p.ledger.add("p", "example.org", calls, 10, p.o.Working) }
	once := []Sending{{Host: "example.org", Bytes: 10}}
	taken := func(call string, want []Sending) {
		t.Helper()
		if got := p.Take(call); !slices.Equal(got, want) {
			t.Errorf("of %s: %+v, want %+v", call, got, want)
		}
	}
	for n := range maxCalls - 2 {
		running = append(running, fmt.Sprint("runs ", n))
		send(running[n])
	}
	send("over")
	send("over too")
	running = append(running, "one more")
	send("one more")
	taken("over", nil) // of which the last was sent first
	send("over too")   // which is still there
	running = append(running, "another", "too many")
	send("another")
	taken("over too", nil)
	send("too many")
	taken("too many", nil)
	for _, call := range running[:len(running)-1] {
		taken(call, once)
	}
	if beside := p.TakeBeside()["p"]; !slices.Equal(beside, once) {
		t.Errorf("what there was no room for is beside calls as %+v", beside)
	}
}

func TestWhatIsSentAfterACallWasTakenIsNotKeptForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		working := []string{"late"}
		p := &Proxy{o: Options{Working: func(string) []string { return working }}}
		send := func(calls ...string) { p.ledger.add("p", "example.org", calls, 10, p.o.Working) }
		send("late")
		p.Take("late")
		send("late") // its time was over, and its process went on
		working = []string{"slow"}
		send("slow")
		time.Sleep(2 * takenTime) // of the bubble: no time passes
		send("new")
		if len(p.ledger.calls) != 2 || p.Take("late") != nil || p.Take("slow") == nil || p.Take("new") == nil {
			t.Errorf("it keeps %+v", p.ledger.calls)
		}
	})
}
