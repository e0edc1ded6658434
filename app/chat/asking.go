package chat

import (
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/fault"
)

// Asking holds how the model of a chat is asked. What is not set is left to the provider, and a model is
// sent only what it takes.
type Asking struct {
	// Reasoning sets how much the model thinks before it answers: off, low, medium, high.
	Reasoning   string   `json:"reasoning,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"` // 0 to 2; low is sober, high is free
	MaxTokens   int64    `json:"max_tokens,omitempty"`  // the longest answer; 0 is the provider's bound
}

// Efforts are the values of Asking.Reasoning, "" among them.
var Efforts = []string{"", "off", "low", "medium", "high"}

// The bounds of Asking.
const (
	maxTemperature = 2
	maxAnswer      = 1_000_000
)

// Check returns a fault of kind invalid for what no model takes, or nil.
func (a Asking) Check() error {
	switch t := a.Temperature; {
	case !slices.Contains(Efforts, a.Reasoning):
		return fault.New(fault.Invalid, "chat.asking", "There is no reasoning effort “"+a.Reasoning+"”.",
			"It is one of:"+strings.Join(Efforts, " ")+".")
	case t != nil && !(*t >= 0 && *t <= maxTemperature):
		return fault.New(fault.Invalid, "chat.asking", fmt.Sprintf("The temperature cannot be %g.", *t),
			fmt.Sprintf("It is from 0 to %d.", maxTemperature))
	case a.MaxTokens < 0 || a.MaxTokens > maxAnswer:
		return fault.New(fault.Invalid, "chat.asking",
			fmt.Sprintf("An answer cannot be bounded to %d tokens.", a.MaxTokens),
			fmt.Sprintf("Write a number up to %d, or none.", maxAnswer))
	}
	return nil
}
