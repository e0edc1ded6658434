package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxPoll bounds the pause between two looks at a task.
const maxPoll = time.Minute

// maxPollFailures bounds the looks at a task that fail one after the other.
const maxPollFailures = 5

// wireTask is a task as servers write it, in both revisions that have tasks.
type wireTask struct {
	ID       string          `json:"taskId"`
	Status   string          `json:"status"`
	Message  string          `json:"statusMessage"`
	TTL      *float64        `json:"ttlMs"`
	Poll     *float64        `json:"pollIntervalMs"`
	OldTTL   *float64        `json:"ttl"`
	OldPoll  *float64        `json:"pollInterval"`
	Result   json.RawMessage `json:"result"`
	Error    *jsonrpc.Error  `json:"error"`
	Requests json.RawMessage `json:"inputRequests"`
}

func (w *wireTask) task() Task {
	t := Task{ID: w.ID, Status: w.Status, Message: w.Message}
	milliseconds := func(values ...*float64) time.Duration {
		for _, v := range values {
			if v != nil && *v > 0 && *v < 1e12 {
				return time.Duration(*v) * time.Millisecond
			}
		}
		return 0
	}
	t.TTL, t.Poll = milliseconds(w.TTL, w.OldTTL), milliseconds(w.Poll, w.OldPoll)
	return t
}

// readTask returns the task that the answer to a call began, where it began one.
func readTask(raw json.RawMessage, speaks *Info) (Task, bool) {
	var r struct {
		Type string    `json:"resultType"`
		Task *wireTask `json:"task"`
		wireTask
	}
	if json.Unmarshal(raw, &r) != nil {
		return Task{}, false
	}
	switch {
	case speaks.has(taskExtension) && r.Type == "task" && r.ID != "":
		return r.wireTask.task(), true
	case speaks.has(legacyTasks) && r.Task != nil && r.Task.ID != "":
		return r.Task.task(), true
	}
	return Task{}, false
}

// tasks waits for calls that run on as tasks.
type tasks struct{ *Session }

// await polls a task until it is over, and returns its result. When nobody waits any longer, the server
// gets a cancellation.
func (s tasks) await(t *toolCall, task Task) (json.RawMessage, error) {
	t.clock.hold() // each look has a limit; the task has its own
	defer t.clock.release()
	t.clock.unlimited()
	began := time.Now()
	report := func(now Task) {
		if t.Running != nil {
			t.Running(now)
		}
	}
	report(task)
	failures := 0
	for {
		if err := pause(t.ctx, pollPause(task.Poll, s.o.Limits.Poll)); err != nil {
			s.cancelTask(t, task.ID)
			return nil, err
		}
		w, err := s.look(t, task.ID)
		switch {
		case err == nil:
			failures = 0
		case t.ctx.Err() != nil:
			s.cancelTask(t, task.ID)
			return nil, context.Cause(t.ctx)
		case rpcError(err) != nil && task.TTL > 0 && time.Since(began) > task.TTL:
			return nil, fmt.Errorf("the task %s is lost: the server kept it for %s", task.ID, task.TTL)
		case rpcError(err) != nil || failures == maxPollFailures || s.Err() != nil:
			return nil, err
		default:
			failures++
			continue
		}
		now := w.task()
		now.ID = task.ID // a look may leave out what does not change
		now.Poll, now.TTL = cmp.Or(now.Poll, task.Poll), cmp.Or(now.TTL, task.TTL)
		if now.Status != task.Status || now.Message != task.Message {
			report(now)
		}
		task = now
		raw, over, err := s.settleTask(t, w)
		if over || err != nil {
			return raw, err
		}
	}
}

// pollPause returns the pause before the next look: what the server asks for within bounds, and some more so
// that many clients do not come at once.
func pollPause(asked, least time.Duration) time.Duration {
	p := max(min(asked, maxPoll), least)
	return p + rand.N(p/10)
}

// pause waits. The error is the cause of ctx's end.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// look asks for the state of a task.
func (s tasks) look(t *toolCall, id string) (*wireTask, error) {
	raw, err := s.bounded(t.ctx, "tasks/get", map[string]any{"taskId": id})
	if err != nil {
		return nil, err
	}
	var w wireTask
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, fmt.Errorf("the state of the task cannot be read: %w", err)
	}
	return &w, nil
}

// settleTask returns the result of a task that is over. One that waits for input gets it.
func (s tasks) settleTask(t *toolCall, w *wireTask) (raw json.RawMessage, over bool, err error) {
	modern := s.speaks().Era == Modern
	switch w.Status {
	case "completed", "failed", "cancelled":
		if !modern {
			break
		}
		if w.Error != nil {
			return nil, true, w.Error
		}
		if w.Result == nil {
			return nil, true, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the task ended: " + w.Status}
		}
		return w.Result, true, nil
	case "input_required":
		if modern {
			answers, err := answerer(s).answerAll(t.ctx, w.Requests, t)
			if err != nil {
				return nil, true, err
			}
			_, err = s.bounded(t.ctx, "tasks/update", map[string]any{"taskId": w.ID, "inputResponses": answers})
			return nil, err != nil, err
		}
	default:
		return nil, false, nil
	}
	// A legacy server sends its questions while it is asked for the result, which it gives at the end.
	raw, err = s.request(t.ctx, sending{method: "tasks/result", params: map[string]any{"taskId": w.ID}, tool: t})
	return raw, true, err
}

// cancelTask lets the server know that nobody waits for a task any longer, in the background.
func (s tasks) cancelTask(t *toolCall, id string) {
	s.work.start(func() { // ends with the answer, at the latest after notifyTime
		ctx, stop := context.WithTimeout(s.ctx, notifyTime)
		defer stop()
		if _, err := s.request(ctx, sending{method: "tasks/cancel", params: map[string]any{"taskId": id}}); err != nil {
			s.logf("debug", "the task of %s was not cancelled: %v", t.Tool, err)
		}
	})
}
