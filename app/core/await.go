package core

import (
	"context"
	"errors"
	"time"

	"conclave/app/base/fault"
	"conclave/store"
)

// WindowName is the name of the window's program as the owner of a store.
const WindowName = "the window"

// Choice is a person's choice while another program has the store.
type Choice int

// What can be chosen.
const (
	GiveUp  Choice = iota // do not open the window
	EndThem               // end the other program, as its person would
)

// OpenWhenFree waits for a command of the terminal that has the store, and opens the
// core as soon as it ends or gives way. If it has not ended after patience, OpenWhenFree calls ask
// with it and goes on waiting; ask's context ends with the wait, and its answer may
// end the wait. The kind is Locked when another window has the store, and Canceled
// when the person gave up.
func OpenWhenFree(ctx context.Context, o Options, patience time.Duration,
	ask func(context.Context, store.Owner) Choice,
) (*Core, error) {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	late := time.After(patience)
	var answer chan Choice // nil until somebody was asked
	wanted := false
	for {
		c, err := Open(ctx, o)
		if fault.KindOf(err) != fault.Locked {
			return c, err
		}
		owner, known := store.OwnerOf(o.Data)
		if known && owner.Program == WindowName {
			return nil, err
		}
		if !wanted {
			wanted = true
			askToGiveWay(ctx, o.Data)
		}
		select {
		case <-poll.C:
		case <-late:
			answer = make(chan Choice, 1)
			go func() { answer <- ask(asking, owner) }() // ends with asking
		case choice := <-answer:
			if choice == GiveUp {
				return nil, fault.Wrap(fault.Canceled, "core.wait",
					"The window was not opened: "+owner.Program+" has the chats open.", "", err)
			}
			if now, known := store.OwnerOf(o.Data); known && now.PID == owner.PID {
				if err := endProgram(now.PID); err != nil {
					return nil, fault.Wrap(fault.Unavailable, "core.wait", owner.Program+" could not be ended.",
						"End it in its terminal, then open the window again.", err)
				}
			}
			answer = nil
			late = time.After(endPatience)
		case <-ctx.Done():
			return nil, errors.Join(err, context.Cause(ctx))
		}
	}
}

// endPatience limits how long a program that was asked to end may take before the
// person is asked again: what Close of a core takes, and a little.
const endPatience = closeTime + 2*time.Second
