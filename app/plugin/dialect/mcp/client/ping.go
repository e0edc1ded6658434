package client

import (
	"context"
	"time"
)

// maxMissed bounds the pings in a row that may stay without an answer.
const maxMissed = 2

// again is a connection that can be made again below a session.
type again interface {
	// again ends what is left of the connection and begins a new one.
	again(ctx context.Context) error
}

// pinger looks after the connection of a session.
type pinger struct{ *Session }

// ping looks whether a legacy server on the network is still there when nothing came from it for a while,
// and connects again when it is not.
func (s pinger) ping() {
	missed := 0
	for {
		silent := time.Since(time.Unix(0, s.heard.Load()))
		if silent < s.o.Limits.Idle {
			missed = 0
			if pause(s.ctx, s.o.Limits.Idle-silent) != nil {
				return
			}
			continue
		}
		ctx, stop := context.WithTimeout(s.ctx, s.o.Limits.Connect)
		_, err := s.request(ctx, sending{method: "ping"})
		stop()
		if s.ctx.Err() != nil {
			return
		}
		if err == nil || rpcError(err) != nil { // any answer is one
			missed = 0
		} else if missed++; missed >= maxMissed {
			missed = 0
			s.reach(err)
		}
		if pause(s.ctx, s.o.Limits.Idle/10) != nil {
			return
		}
	}
}

// reach connects again, for the reason why.
func (s pinger) reach(why error) {
	s.logf("info", "it does not answer; the connection is made again: %v", why)
	c, ok := s.conn.(again)
	if !ok {
		return
	}
	if err := c.again(s.ctx); err != nil {
		s.logf("info", "it could not be reached again: %v", err)
	}
}
