package deliberation

import (
	"context"
	"strings"
	"time"

	"conclave/app/bus"
	"conclave/app/call"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/fault"
)

// saveAgain is how often a run that could not be kept is tried again.
const saveAgain = 5 * time.Second

// unkept returns the sentence of a run that cannot be kept.
func unkept(err error) string {
	f := fault.Of(err)
	return strings.TrimSpace("What the council does is not kept. " + f.Message + " " + f.Hint)
}

// troubled tells that the run cannot be kept, or can again.
func (l *loop) troubled(run council.Run, err error) {
	why := ""
	if err == nil {
		l.r.o.Slog.Info("a council's run is kept again", "run", l.id)
	} else {
		l.r.o.Slog.Error("a council's run cannot be kept", "run", l.id, "err", err)
		why = unkept(err)
	}
	l.published(Event{Run: run, MS: run.After(l.r.o.Now()).Milliseconds(), Unkept: &why})
}

// keep holds a run that is over, and could not be kept, in memory: it is shown and exported
// from there, and tried again. The recorder is closed.
func (l *loop) keep() {
	if len(l.rec.unsaved) == 0 {
		return
	}
	err := l.save()
	if err == nil {
		l.troubled(l.run, nil)
		return
	}
	before, _ := l.s.log.Steps(context.Background(), l.id) // none, where nothing of it was written
	l.kept = len(before)
	if l.r.temporary.AppendSteps(context.Background(), l.header(), append(before, l.rec.unsaved...),
		l.texts.copied()) != nil {
		return // it is of a temporary chat, whose log takes all
	}
	l.r.mu.Lock()
	l.r.unkept[l.id] = unkept(err)
	l.r.mu.Unlock()
	l.r.loops.Go(l.saveLater) // ends when it is saved, or with the runner
}

// save keeps what could not be kept before.
func (l *loop) save() error {
	if len(l.rec.unsaved) == 0 {
		return nil
	}
	return l.rec.save(l.run)
}

// saveLater tries to keep the run until it is, or the program closes.
func (l *loop) saveLater() {
	again := time.NewTicker(l.r.o.SaveAgain)
	defer again.Stop()
	for {
		closes := false
		select {
		case <-again.C:
		case <-l.r.ctx.Done():
			closes = true
		}
		err := l.saveHeld()
		if err == nil || fault.KindOf(err) == fault.NotFound { // its chat was deleted
			l.r.o.Bus.Changed(bus.Council, string(l.id))
			l.r.o.Bus.Changed(bus.Councils, string(l.run.Conversation))
			return
		}
		if closes {
			l.r.o.Slog.Error("a council's run was not kept", "run", l.id, "err", err)
			return
		}
	}
}

// saveHeld keeps what is held in memory: what could not be kept, and the thumbs since. It is
// held no longer once it is kept.
func (l *loop) saveHeld() error {
	l.r.rates.Lock()
	defer l.r.rates.Unlock()
	steps, err := l.r.temporary.Steps(context.Background(), l.id)
	if err != nil {
		return err
	}
	if l.rec.unsaved = steps[l.kept:]; len(l.rec.unsaved) > 0 {
		if l.run, err = council.Replay(steps); err != nil {
			return err
		}
	}
	err = l.save()
	if len(l.rec.unsaved) == 0 {
		l.kept = len(steps)
	}
	if err == nil || fault.KindOf(err) == fault.NotFound {
		l.r.mu.Lock()
		delete(l.r.unkept, l.id)
		l.r.mu.Unlock()
		l.r.temporary.Forget(l.id)
	}
	return err
}

// spend adds what the members used to what a temporary chat took: the log of its runs keeps
// no chats. The answer's is added with its message.
func (l *loop) spend() {
	used := l.run.Spent("")
	if l.s.req.Log == nil || used == (chat.Usage{}) {
		return
	}
	save, cancel := call.SaveContext(context.Background()) // the turn may have ended
	defer cancel()
	err := l.s.req.Log.UpdateConversation(save, l.run.Conversation, func(c *chat.Conversation) { c.Spend(used) })
	if err != nil {
		l.r.o.Slog.Error("what a council used could not be added to its chat", "run", l.id, "err", err)
	}
}
