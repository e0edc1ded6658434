package terminal

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/tool"
)

// councilAsSet is the value of --council without a preset: the council that is set.
const councilAsSet = "as-set"

// howOf returns how the council deliberates before this answer: not at all without --council.
func (t *promptRun) howOf(ctx context.Context, text string) (deliberation.How, error) {
	how := t.how
	t.how = deliberation.How{}
	_, terminal := t.asker.(*person)
	how.Project, how.Asks = t.c.project(), terminal
	switch {
	case t.f.council == "":
		how.Skip = true
		return how, nil
	case how.Resume != "" || how.Again != "" || how.Council != nil:
		return how, nil // the council is that of the run, or is named
	}
	var set council.Council
	var err error
	if t.f.council == councilAsSet {
		set, _, err = t.app.Councils.Council(ctx, t.chat.ID, t.c.project())
	} else {
		set, err = preset(ctx, t.app, t.f.council)
		set = set.SpeakingThrough(t.model.Info().Name())
	}
	if err != nil {
		return how, err
	}
	if len(set.Members) == 0 {
		return how, fault.New(fault.Invalid, "cli.council", "The council has no members.",
			"Set one with conclave council set FILE, or choose a preset: conclave council presets.")
	}
	set.Enabled = true
	how.Council = &set
	how.Only, err = set.Addressed(text)
	return how, err
}

// deliberating prints a council run while the answer waits for it, and asks the person how to
// continue when a member failed.
type deliberating struct {
	t        *promptRun
	p        *printer
	timeline *timeline

	mu     sync.Mutex // guards cancel
	cancel context.CancelFunc
	asked  sync.WaitGroup
}

// watch returns the receiver of the events of a turn's council run.
func (t *promptRun) watch(p *printer) *deliberating {
	d := &deliberating{t: t, p: p}
	d.timeline = newTimeline(t.c, nil)
	d.timeline.print = p.aside
	return d
}

// event prints an event of the run. It may be called by any goroutine.
func (d *deliberating) event(ctx context.Context, e deliberation.Event) {
	d.p.mu.Lock()
	if d.p.err == nil {
		if d.timeline.reporter.Text == nil {
			d.timeline.reporter.Text = d.t.app.Councils.Texts(ctx, e.Run.Run).Words
		}
		if e.Run.State == council.Over {
			d.p.answered()
		}
		d.timeline.event(e)
		d.p.err = d.timeline.err
		if e.Run.State == council.Answering {
			d.p.release()
		}
	}
	d.p.mu.Unlock()
	if e.Step == nil {
		return
	}
	d.ask(ctx, e.Run)
}

// ask asks the person for as long as the run waits for them.
func (d *deliberating) ask(ctx context.Context, r council.Run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.State != council.Asking {
		if d.cancel != nil {
			d.cancel()
			d.cancel = nil
		}
		return
	}
	if d.cancel != nil || !r.Asks {
		return
	}
	ctx, d.cancel = context.WithCancel(ctx)
	d.asked.Go(func() { // ends with the answer, or when the run no longer waits
		if act, ok := d.choice(ctx, r); ok {
			d.act(ctx, r.Run, act)
		}
	})
}

// act acts on the run. An act that is too late does nothing.
func (d *deliberating) act(ctx context.Context, run council.RunID, act council.Act) {
	err := d.t.app.Councils.Act(ctx, run, act, "", nil, act.Why())
	if err != nil && ctx.Err() == nil && fault.KindOf(err) != fault.Conflict {
		d.t.c.printError(err)
	}
}

// choice asks what to do about failed tasks. The end of input means to go on.
func (d *deliberating) choice(ctx context.Context, r council.Run) (act council.Act, ok bool) {
	c := d.t.c
	if err := c.person.desk.take(ctx); err != nil {
		return "", false
	}
	defer c.person.desk.give(c.Err)
	fmt.Fprintln(c.Err, "\n! Some of the council's work failed.")
	for _, task := range r.Tasks {
		if task.State == council.Failed {
			why := ""
			if f := task.End.Failure; f != nil {
				why = f.Message
			}
			what := "The summary of the chat"
			if m, err := memberOf(r.Council, task.Member); err == nil {
				what = m.Name
			}
			if task.Tool != "" {
				what += ", " + r.ToolTitle(task.Tool)
			}
			fmt.Fprintf(c.Err, "  failed   %s: %s\n", tool.OneLine(what), tool.OneLine(why))
		}
	}
	if err := c.person.arm(ctx); err != nil {
		return council.GoOn, ctx.Err() == nil
	}
	for {
		fmt.Fprint(c.Err, "  [r] try again  [g] go on without it  [s] stop: ")
		line, err := c.person.line(ctx)
		if err != nil {
			fmt.Fprintln(c.Err)
			return council.GoOn, ctx.Err() == nil
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "r", "retry":
			return council.Retry, true
		case "g", "go on":
			return council.GoOn, true
		case "s", "stop":
			return council.Stop, true
		}
	}
}

// end stops asking and waits for that.
func (d *deliberating) end() {
	d.mu.Lock()
	if d.cancel != nil {
		d.cancel()
		d.cancel = nil
	}
	d.mu.Unlock()
	d.asked.Wait()
}
