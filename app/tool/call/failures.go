package call

import (
	"fmt"
	"sync"

	"conclave/app/chat"
)

// Consecutive identical failures before the model is warned, and before the turn stops
// (contracts/llm-functions, section 8.8).
const (
	warnAfter = 3
	stopAfter = 5
)

// Failures counts the calls of one turn that fail repeatedly in the same way. The zero
// value is ready. It is safe for concurrent use.
type Failures struct {
	mu      sync.Mutex // guards running
	running map[string]failure
}

// failure holds how a call failed, and how many times in a row.
type failure struct {
	text  string
	times int
}

// Stuck reports whether a call failed the same way too often.
func (f *Failures) Stuck() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.running {
		if one.times >= stopAfter {
			return true
		}
	}
	return false
}

// count counts a failed call. From the third in a row on, the result warns the model. A successful call
// resets the count.
func (f *Failures) count(c *Call) {
	// Equal for the same tool with the same arguments.
	key := c.Record.ToolName + "\x00" + string(c.arguments) + "\x00" + c.Record.RawArguments
	f.mu.Lock()
	defer f.mu.Unlock()
	switch c.Result.Status {
	case chat.CallOK:
		delete(f.running, key)
		return
	case chat.CallPaused, chat.CallCancelled, chat.CallLimit:
		return // not the call's doing
	}
	if f.running == nil {
		f.running = map[string]failure{}
	}
	one := f.running[key]
	if said := c.Result.Text(); one.text != said {
		one = failure{text: said}
	}
	one.times++
	f.running[key] = one
	if one.times >= warnAfter {
		c.Result.Content = append(c.Result.Content, chat.TextPart(fmt.Sprintf(
			"This call failed the same way %d times running. Do not repeat it: try another approach, or answer without it.",
			one.times)))
	}
}
