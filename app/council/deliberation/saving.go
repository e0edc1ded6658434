package deliberation

import (
	"context"
	"slices"
	"strings"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/tool/call"
)

// saveAgain is the interval of attempts to save a run that could not be saved.
const saveAgain = 5 * time.Second

// saveFailedMessage returns the message shown when a run could not be saved.
func saveFailedMessage(err error) string {
	f := fault.Of(err)
	return strings.TrimSpace("Conclave cannot save this council run. " + f.Message + " " + f.Hint)
}

// reportSaveState logs and publishes whether saving works.
func (l *loop) reportSaveState(run council.Run, err error) {
	why := ""
	if err == nil {
		l.r.o.Slog.Info("a council's run can be saved again", "run", l.id)
	} else {
		l.r.o.Slog.Error("a council's run cannot be saved", "run", l.id, "err", err)
		why = saveFailedMessage(err)
	}
	l.published(record{Event: Event{Run: run, MS: run.After(l.r.o.Now()).Milliseconds(), SaveError: &why}})
}

// holdUnsaved keeps a finished run that could not be saved in memory, for showing and exporting, and
// schedules further attempts. The recorder is closed.
func (l *loop) holdUnsaved() {
	if len(l.rec.unsaved) == 0 {
		return
	}
	h := council.HeaderOf(l.run, l.result)
	err := l.rec.save(h)
	if err == nil {
		l.reportSaveState(l.run, nil)
		return
	}
	saved, _ := l.s.log.Steps(context.Background(), l.id) // none where nothing was written
	if l.r.temporary.AppendSteps(context.Background(), h, slices.Concat(saved, l.rec.unsaved),
		l.texts.copied()) != nil {
		return // a temporary chat, whose log accepts everything
	}
	l.r.mu.Lock()
	l.r.unsaved[l.id] = saveFailedMessage(err)
	l.r.mu.Unlock()
	l.r.loops.Go(func() { l.saveLater(len(saved)) }) // ends when it is saved, or with the runner
}

// saveLater tries to save the steps in memory after so many, until that works, or the program closes.
func (l *loop) saveLater(saved int) {
	again := time.NewTicker(l.r.o.SaveAgain)
	defer again.Stop()
	for {
		closes := false
		select {
		case <-again.C:
		case <-l.r.ctx.Done():
			closes = true
		}
		err := l.saveHeldRun(saved)
		if err == nil || fault.KindOf(err) == fault.NotFound { // its chat was deleted
			l.r.o.Bus.Changed(bus.Council, string(l.id))
			l.r.o.Bus.Changed(bus.Councils, string(l.run.Conversation))
			return
		}
		if closes {
			l.r.o.Slog.Error("a council's run was not saved", "run", l.id, "err", err)
			return
		}
	}
}

// saveHeldRun saves the steps in memory: those that could not be saved, and ratings since then. Once
// they are saved, it drops them from memory.
func (l *loop) saveHeldRun(saved int) error {
	l.r.rates.Lock()
	defer l.r.rates.Unlock()
	steps, err := l.r.temporary.Steps(context.Background(), l.id)
	if err != nil {
		return err
	}
	run, err := council.Replay(steps)
	if err != nil {
		return err
	}
	err = l.s.log.AppendSteps(context.Background(), council.HeaderOf(run, l.result), steps[saved:], l.texts.copied())
	if err == nil || fault.KindOf(err) == fault.NotFound {
		l.r.mu.Lock()
		delete(l.r.unsaved, l.id)
		l.r.mu.Unlock()
		l.r.temporary.Forget(l.id)
	}
	return err
}

// spend adds the members' usage to a temporary chat, since the log of its runs has no chats. The
// answer's usage is added with its message.
func (l *loop) spend() {
	used := l.run.Spent("")
	if l.s.req.Log == nil || used == (chat.Usage{}) {
		return
	}
	save, cancel := call.SaveContext(context.Background()) // the turn may have ended
	defer cancel()
	err := l.s.req.Log.UpdateConversation(save, l.run.Conversation, func(c *chat.Conversation) { c.Spend(used) })
	if err != nil {
		l.r.o.Slog.Error("the usage of a council could not be added to its chat", "run", l.id, "err", err)
	}
}
