package council

import (
	"context"
	"slices"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

// Memory is a Log in memory: for runs of temporary chats, and for runs that could not be saved. It
// keeps all runs under way and the newest memoryRuns that are over. It is safe for concurrent use.
type Memory struct {
	mu    sync.Mutex
	runs  map[RunID]*memoryRun
	order []RunID
}

// memoryRuns bounds the finished runs in memory: in a temporary chat, people look back a few minutes.
const memoryRuns = 16

type memoryRun struct {
	header Header
	steps  []Step
	texts  Texts
}

// NewMemory returns an empty one.
func NewMemory() *Memory { return &Memory{runs: map[RunID]*memoryRun{}} }

// AppendSteps implements Log.
func (m *Memory) AppendSteps(_ context.Context, h Header, steps []Step, texts map[Hash][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, there := m.runs[h.Run]
	if !there {
		k = &memoryRun{}
	}
	if err := CheckFollow("council.memory", h.Run, len(k.steps), steps); err != nil {
		return err
	}
	if !there {
		m.runs[h.Run], m.order = k, append(m.order, h.Run)
	}
	k.header, k.steps = h, append(k.steps, steps...)
	k.texts.Copy(texts)
	m.bound()
	return nil
}

// bound drops the oldest finished runs over the bound.
func (m *Memory) bound() {
	over := 0
	for _, run := range slices.Backward(m.order) {
		if m.runs[run].header.State != Over {
			continue
		}
		if over++; over > memoryRuns {
			m.drop(run)
		}
	}
}

func (m *Memory) drop(run RunID) {
	delete(m.runs, run)
	m.order = slices.DeleteFunc(slices.Clone(m.order), func(id RunID) bool { return id == run })
}

// Forget drops a run.
func (m *Memory) Forget(run RunID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(run)
}

// Runs implements Log.
func (m *Memory) Runs(_ context.Context, id chat.ConversationID) ([]Header, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	headers := []Header{}
	for _, run := range m.order {
		if h := m.runs[run].header; id == "" || h.Conversation == id {
			headers = append(headers, h)
		}
	}
	return headers, nil
}

// Steps implements Log.
func (m *Memory) Steps(_ context.Context, id RunID) ([]Step, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.runs[id]
	if k == nil {
		return nil, NoRun("council.memory", id)
	}
	return slices.Clone(k.steps), nil
}

// Text implements Log.
func (m *Memory) Text(_ context.Context, id RunID, h Hash) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.runs[id]
	if k == nil {
		return nil, NoRun("council.memory", id)
	}
	text, there := k.texts[h]
	if !there {
		return nil, NoText("council.memory", h)
	}
	return text, nil
}

// CheckFollow returns the fault of a Log whose new steps do not follow the last stored one.
func CheckFollow(op string, id RunID, last int, steps []Step) error {
	for i, s := range steps {
		if s.Number != last+1+i {
			return fault.New(fault.Invalid, op, "A step of the council's run "+string(id)+" does not follow the one before it.",
				"Open the run again: it may be under way in another program.")
		}
	}
	return nil
}

// NoRun returns the fault of a Log without the run.
func NoRun(op string, id RunID) error {
	return fault.New(fault.NotFound, op, "There is no run "+string(id)+" of a council.",
		"It goes with its chat when that is deleted.")
}

// NoText returns the fault of a Log without the text.
func NoText(op string, h Hash) error {
	return fault.New(fault.NotFound, op, "The run has no text "+string(h)+".", "")
}
