package council_test

import (
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
)

func TestARunSaysWhatItDoes(t *testing.T) {
	c := council.Default()
	c.Mode, c.Members = council.Vote, members("a", "b")
	d := begin(t, c)
	is := func(want string) {
		t.Helper()
		if got := d.run.Doing(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	is("The council answers, 0 of 2 done")
	d.do(council.Step{Kind: council.Starts, Task: "0/a/answer", Attempt: 1})
	d.do(council.Step{Kind: council.Ends, Task: "0/a/answer", Attempt: 1, End: &council.End{State: council.Done}})
	is("The council answers, 1 of 2 done")
	d.do(council.Step{Kind: council.Starts, Task: "0/b/answer", Attempt: 1})
	d.do(council.Step{Kind: council.Ends, Task: "0/b/answer", Attempt: 1, End: &council.End{State: council.Done}})
	is("The council votes, 0 of 2 done")
	d.work(nil)
	is("The council counts its ballots")
	d.do(council.Step{Kind: council.Opens})
	is("")
	d.do(council.Step{Kind: council.Hands})
	is("")
	d.do(council.Step{Kind: council.Concludes, Answer: &council.Answer{Reason: chat.EndDone}})
	is("")

	c.Mode, c.Members = council.Tools, members("a")
	d = begin(t, c)
	is("The council uses its tools")
	d.work(map[string]council.End{"0/a/p:a": {State: council.Failed}})
	is("The council is waiting for you")
}
