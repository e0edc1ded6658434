package council_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
	"unicode/utf16"

	"conclave/app/chat"
	"conclave/app/council"
)

// page holds what a page made of the views that it pulled.
type page struct {
	view  council.RunView
	lanes []council.LaneView
}

// take merges a view as a page does.
func (p *page) take(v council.RunView) {
	if v.Reset {
		p.lanes = nil
	}
	p.view = v
	for _, lane := range v.Lanes {
		found := false
		for i, old := range p.lanes {
			if old.Member != lane.Member {
				continue
			}
			found = true
			for n := range lane.Tasks {
				task := &lane.Tasks[n]
				if task.State == council.Working && n < len(old.Tasks) && task.Offset > 0 {
					before := utf16.Encode([]rune(old.Tasks[n].Text))
					task.Text = string(utf16.Decode(before[:task.Offset])) + task.Text
					task.Offset = 0
				}
			}
			p.lanes[i] = lane
		}
		if !found {
			p.lanes = append(p.lanes, lane)
		}
	}
}

// holds returns what the page shows, without the times of what still goes on.
func (p *page) holds(t *testing.T) string {
	t.Helper()
	v := p.view
	v.Lanes, v.Reset = nil, false
	lanes := []council.LaneView{}
	for _, l := range p.lanes {
		l.Spent.MS = 0
		tasks := append([]council.TaskView{}, l.Tasks...)
		for i := range tasks {
			tasks[i].Spent.MS = 0
		}
		l.Tasks = tasks
		lanes = append(lanes, l)
	}
	raw, err := json.Marshal(map[string]any{"run": v, "lanes": lanes})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestAPageThatPulledAnyhowHoldsTheWholeRun has pages pull at random moments while all
// kinds of things happen to runs: each then holds what a pull from 0 gives.
func TestAPageThatPulledAnyhowHoldsTheWholeRun(t *testing.T) {
	for seed := range uint64(120) {
		chance := rand.New(rand.NewPCG(seed, 7))
		c := council.Default()
		c.Mode = council.Modes[chance.IntN(len(council.Modes))]
		c.Members = members([]string{"a", "b", "c", "d", "e"}[:1+chance.IntN(5)]...)
		d := &chaos{
			driver: begin(t, c, func(b *council.Begin) { b.Seed = seed }), seed: seed, chance: chance, voted: map[string]int{},
		}
		w := council.NewWatch(council.WatchOptions{})
		w.Step(d.run)
		pages := make([]page, 3)
		for n := 0; d.run.State != council.Over; n++ {
			if n > 500 {
				t.Fatalf("run %d does not end", seed)
			}
			for _, task := range d.run.Tasks {
				if task.State == council.Working && chance.IntN(2) == 0 {
					w.Live(task.ID, council.Live{Phase: council.Writing, Text: fmt.Sprint("ä🌍", n)}, int64(n))
				}
				if task.State == council.Working && chance.IntN(5) == 0 {
					w.Live(task.ID, council.Live{Phase: council.Using, Call: &chat.CallRecord{ID: uint64(1 + chance.IntN(2))}}, 1)
				}
			}
			before := d.run.Last.Number
			d.random()
			if d.run.Last.Number != before {
				w.Step(d.run)
			}
			for i := range pages {
				if chance.IntN(i+2) > 0 {
					continue
				}
				pages[i].take(w.View(pages[i].view.Revision, d.at))
				var whole page
				whole.take(w.View(0, d.at))
				if have, want := pages[i].holds(t), whole.holds(t); have != want {
					t.Fatalf("run %d, a page holds\n%s\nand not\n%s", seed, have, want)
				}
			}
		}
	}
}

func TestAStoredRunShowsTheCallsOfItsRecords(t *testing.T) {
	c := council.Default()
	c.Members = members("a")
	d := begin(t, c, func(b *council.Begin) { b.Titles = map[string]string{"look:look": "Look\u202e around\n"} })
	d.do(council.Step{Kind: council.Starts, Task: "0/a/answer", Attempt: 1})
	d.do(council.Step{Kind: council.Ends, Task: "0/a/answer", Attempt: 1, End: &council.End{
		State: council.Done, Bytes: 4, Calls: []uint64{7, 8}, Usage: chat.Usage{Input: 5, Output: 2, Cost: 0.01},
		Requests: []council.Request{{Model: "m/x"}},
	}})
	w := council.NewWatch(council.WatchOptions{Call: func(id uint64) (chat.CallRecord, bool) {
		return chat.CallRecord{
			ID: id, ToolID: "look:look", Status: chat.CallOK, Started: d.at,
			Ended: d.at.Add(20 * time.Millisecond),
		}, id == 7
	}})
	w.Step(d.run)
	v := w.View(0, d.at)
	task := v.Lanes[0].Tasks[0]
	want := council.CalledView{ID: "7", Tool: "look:look", Title: "Look around", State: "done", StartMS: 2, EndMS: 22}
	if len(task.Calls) != 1 || task.Calls[0] != want || task.Sent != 1 || task.State != council.Done {
		t.Errorf("the task is %+v", task)
	}
	if s := v.Lanes[0].Spent; s.Input != 5 || s.Cost != 0.01 || !s.Known || v.Spent.Output != 2 {
		t.Errorf("it spent %+v, the run %+v", s, v.Spent)
	}
	if v.Members != 1 || v.Lanes[0].Letter != "a" || v.Lanes[1].Tasks[0].ID != council.ChairTask {
		t.Errorf("the view is %+v", v)
	}
}

// The time in which the program was closed is no time of the run.
func TestWhatARunWasCutOffIsNotCounted(t *testing.T) {
	c := council.Default()
	c.Members = members("a")
	d := begin(t, c)
	d.do(council.Step{Kind: council.Starts, Task: "0/a/answer", Attempt: 1})
	d.at = d.at.Add(time.Hour)
	d.do(council.Step{Kind: council.Resumes, Turn: "again"})
	d.do(council.Step{Kind: council.Starts, Task: "0/a/answer", Attempt: 2})
	d.do(council.Step{Kind: council.Ends, Task: "0/a/answer", Attempt: 2, End: &council.End{State: council.Done}})
	d.do(council.Step{Kind: council.Hands})
	d.do(council.Step{Kind: council.Concludes, Answer: &council.Answer{Reason: chat.EndDone}})
	w := council.NewWatch(council.WatchOptions{})
	w.Step(d.run)
	v := w.View(0, d.at)
	if task := v.Lanes[0].Tasks[0]; v.MS != 5 || task.StartMS != 2 || task.EndMS != 3 {
		t.Errorf("the run took %d ms, its task was from %d to %d", v.MS, task.StartMS, task.EndMS)
	}
}
