package terminal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/council"
)

func TestAReplayTakesAsLongAsTheRunWasWorkedOn(t *testing.T) {
	set := council.Default()
	set.Members = []council.Member{{ID: "ada", Name: "Ada"}}
	var run council.Run
	var steps []council.Step
	at := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	do := func(later time.Duration, s council.Step) {
		t.Helper()
		at = at.Add(later)
		s.At = at
		s.Number = run.Last.Number + 1
		must(t, run.Apply(s))
		steps = append(steps, s)
	}
	do(0, council.Step{Kind: council.Begins, Begin: &council.Begin{Run: "run", Council: set}})
	do(time.Second, council.Step{Kind: council.Starts, Task: "0/ada/answer", Attempt: 1})
	do(72*time.Hour, council.Step{Kind: council.Resumes})
	do(time.Second, council.Step{Kind: council.Starts, Task: "0/ada/answer", Attempt: 2})
	do(2*time.Second, council.Step{
		Kind: council.Ends, Task: "0/ada/answer", Attempt: 2, End: &council.End{
			State: council.Failed, Failure: &chat.Failure{Message: "It broke."},
		},
	})
	do(time.Second, council.Step{Kind: council.Concludes, Answer: &council.Answer{}})
	do(24*time.Hour, council.Step{Kind: council.Rates, Member: "ada", Point: 1})
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		c := newTerminal(&Session{Out: &out}, nil)
		began := time.Now()
		must(t, runCommands{promptCommands{c}}.replay(t.Context(), steps, nil, 1))
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %s", took)
		}
		if !strings.Contains(out.String(), "   4.0 s  Ada      failed: It broke.\n") {
			t.Errorf("it told\n%s", out.String())
		}
	})
}

// A review goes on counting where its member's answer ended.
func TestAPointOfAReviewIsRatedByItsNumber(t *testing.T) {
	set := council.Default()
	set.Mode, set.Members = council.Review, []council.Member{{ID: "ada", Name: "Ada"}, {ID: "bo", Name: "Bo"}}
	var run council.Run
	do := func(s council.Step) {
		t.Helper()
		s.Number = run.Last.Number + 1
		must(t, run.Apply(s))
	}
	said := func(claims ...string) string {
		text := "So.\n\n```council\n{\"points\": ["
		for i, claim := range claims {
			text += strings.Repeat(", ", min(i, 1)) + `{"claim": "` + claim + `"}`
		}
		return text + "]}\n```"
	}
	texts := map[string]string{
		"0/ada/answer": said("One.", "Two."), "0/bo/answer": said("Other."), "1/ada/review": said("Three."),
		"1/bo/review": said(),
	}
	do(council.Step{Kind: council.Begins, Begin: &council.Begin{Run: "run", Council: set, Places: true}})
	for next := run.Next(); len(next.Start) > 0; next = run.Next() {
		for _, id := range next.Start {
			do(council.Step{Kind: council.Starts, Task: id, Attempt: 1})
			do(council.Step{
				Kind: council.Ends, Task: id, Attempt: 1, End: &council.End{
					State: council.Done,
					Text:  council.Hash(id),
				},
			})
		}
	}
	for name, there := range map[string]bool{
		"a1": true, "a2": true, "a3": true, "b1": true,
		"a4": false, "a0": false, "b2": false, "c1": false, "a": false, "": false,
	} {
		member, point, err := pointOf(run, name, func(h council.Hash) string { return texts[string(h)] })
		if (err == nil) != there || there && (member.ID[:1] != name[:1] || fmt.Sprint(point) != name[1:]) {
			t.Errorf("%q is point %d of %s, %v", name, point, member.ID, err)
		}
	}
}

func TestACouncilsFileIsOfABoundedSize(t *testing.T) {
	dir := t.TempDir()
	s := &Session{Dir: dir}
	for _, bound := range []int64{limit.CouncilFile, limit.RunFile} {
		for more, refused := range map[int64]bool{0: false, 1: true} {
			file, err := os.Create(filepath.Join(dir, "file"))
			must(t, err)
			must(t, file.Truncate(bound+more), file.Close())
			_, err = readCouncilFile(s, "file", bound)
			if f := fault.Of(err); refused && (f.Kind != fault.Invalid ||
				f.Hint != "Check that it is the right file.") {
				t.Errorf("%d, %d bytes over: %v", bound, more, err)
			} else if !refused && err != nil {
				t.Errorf("%d, just as large as may be: %v", bound, err)
			}
		}
	}
}
