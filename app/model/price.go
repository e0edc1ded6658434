package model

import (
	"encoding/json"
	"strconv"
)

// Price holds the cost of a model as its server lists it, in US dollars for a million tokens.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// ReadPrice reads the price of a listed model, and returns nil where there is none that can be known.
//
//	{"prompt":"0.000003","completion":"0.000015"}   OpenRouter: dollars for one token, as text
//	{"input":0.6,"output":1.7}                       Together: dollars for a million tokens
func ReadPrice(raw json.RawMessage) *Price {
	members := Object(raw)
	number := func(name string) (float64, bool) {
		text := plain(members[name])
		value, err := strconv.ParseFloat(text, 64)
		return value, err == nil && value >= 0 // a router whose price depends on what it chooses says -1
	}
	for _, names := range []struct {
		input, output string
		times         float64
	}{{"prompt", "completion", 1e6}, {"input", "output", 1}} {
		input, ok := number(names.input)
		output, known := number(names.output)
		if ok && known {
			return &Price{Input: input * names.times, Output: output * names.times}
		}
	}
	return nil
}
