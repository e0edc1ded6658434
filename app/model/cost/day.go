package cost

import (
	"fmt"
	"math"

	"conclave/app/base/fault"
)

// Cap bounds what each plugin may have models cost in a day, before a person is asked.
type Cap struct {
	Dollars float64 // of models whose price is known
	Tokens  int64   // of models whose price is not; models of this computer count for neither
}

// Day counts what a plugin had models cost on one day.
type Day struct {
	Date    string  `json:"date"` // of the place, "2026-11-22"
	Dollars float64 `json:"dollars,omitempty"`
	Tokens  int64   `json:"tokens,omitempty"` // of models whose price is not known
	More    int     `json:"more,omitempty"`   // how often the person allowed as much again
}

// Check returns a fault of kind invalid for a cap that bounds nothing or allows nothing.
func (c Cap) Check() error {
	if math.IsNaN(c.Dollars) || c.Dollars < 0.01 || c.Dollars > maxPrice {
		return fault.New(fault.Invalid, "cost", fmt.Sprintf("A plugin cannot be let spend %g dollars a day.", c.Dollars),
			"It is from 0.01 to 100000 dollars. Without the permission generation, a plugin spends nothing.")
	}
	if c.Tokens < 1000 || c.Tokens > 1_000_000_000 {
		return fault.New(fault.Invalid, "cost", fmt.Sprintf("A plugin cannot be let use %d tokens a day.", c.Tokens),
			"It is from 1000 to 1000000000. Without the permission generation, a plugin uses none.")
	}
	return nil
}

// Left returns how much of a cap a day leaves.
func (d Day) Left(c Cap) Cap {
	times := 1 + d.More
	return Cap{max(0, c.Dollars*float64(times)-d.Dollars), max(0, c.Tokens*int64(times)-d.Tokens)}
}

// Sentence returns how much of a cap was used, without its full stop.
func (d Day) Sentence(c Cap) string {
	if left := d.Left(c); left.Tokens == 0 || d.Dollars == 0 && d.Tokens > 0 {
		return fmt.Sprintf("it used %d tokens of models without a known price today, and you let a plugin use %d a day",
			d.Tokens, c.Tokens)
	}
	return fmt.Sprintf("it spent %s on your models today, and you let a plugin spend %s a day", Words(d.Dollars, true),
		Words(c.Dollars, true))
}
