// Package cost says what requests to models cost: a dated table of prices, the rows a
// person put before it, and the words for a sum of money.
//
// What a request cost is worked out when it ends and kept with it (chat.Usage.Cost and
// Priced), so that it stays what it was when prices change.
package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
	"conclave/app/chat"
)

// Price is the price of the tokens of one model, or of several with similar names.
type Price struct {
	// Model is "place/model": the connection's name, the vendor ("openai") or the server's
	// host, and the model's id. A * stands for anything, slashes too,
	// and a date at the end of an id need not be written.
	Model  string  `json:"model"`
	Input  float64 `json:"input"`            // US dollars for a million tokens
	Output float64 `json:"output"`           // likewise; tokens of reasoning are among them
	Cached float64 `json:"cached,omitempty"` // likewise, of a prompt cache; 0 is as Input
	Source string  `json:"source,omitempty"` // where it was read
}

// Table is a list of prices. The first row that fits a model holds.
type Table struct {
	Date   string  // when Prices were read, "2026-11-20"
	Prices []Price // the built-in rows, the more particular first
	Own    []Price // those of the person, before them
}

// The values of chat.Usage.Priced that are not the date of a table.
const (
	Local = "local" // a model of this computer: it costs nothing
	Own   = "own"   // the person's own row
)

// With returns the table with the person's own rows before the others.
func (t Table) With(own []Price) Table {
	t.Own = own
	return t
}

// Find returns the row for a model that goes by any of the names, and by what it is
// priced: the table's date, or Own.
func (t Table) Find(names ...string) (p Price, by string, ok bool) {
	names = undated(names)
	for _, rows := range []struct {
		of []Price
		by string
	}{{t.Own, Own}, {t.Prices, t.Date}} {
		for _, p := range rows.of {
			row := strings.ToLower(p.Model)
			if slices.ContainsFunc(names, func(name string) bool { return fits(row, name) }) {
				return p, rows.by, true
			}
		}
	}
	return Price{}, "", false
}

// Fill returns u with what it cost, where a row is there for the model. What the provider
// itself said stands.
func (t Table) Fill(u chat.Usage, names ...string) chat.Usage {
	if u.Cost > 0 || u.Priced != "" {
		return u
	}
	if p, by, ok := t.Find(names...); ok {
		u.Cost, u.Priced = p.Of(u), by
	}
	return u
}

// Of returns what the tokens of u cost, in US dollars.
func (p Price) Of(u chat.Usage) float64 {
	cached := min(u.Cached, u.Input)
	return (float64(u.Input-cached)*p.Input + float64(cached)*cmp.Or(p.Cached, p.Input) + float64(u.Output)*p.Output) / 1e6
}

// version is the date at the end of a model's id.
var version = pattern.Lazy(`-20\d\d-?\d\d-?\d\d$`)

// undated returns names in small letters, each followed by the one without its date if it has one.
func undated(names []string) []string {
	var all []string
	for _, name := range names {
		name = strings.ToLower(name)
		all = append(all, name)
		if bare := version().ReplaceAllString(name, ""); bare != name {
			all = append(all, bare)
		}
	}
	return all
}

// fits reports whether a row's model, in which * stands for anything, means a name.
func fits(row, name string) bool {
	start, rest, open := strings.Cut(row, "*")
	if !open || !strings.HasPrefix(name, start) {
		return row == name
	}
	for name = name[len(start):]; ; {
		part, more, open := strings.Cut(rest, "*")
		if !open {
			return strings.HasSuffix(name, part)
		}
		_, after, found := strings.Cut(name, part)
		if !found {
			return false
		}
		name, rest = after, more
	}
}

// maxPrice is more than any model costs for a million tokens: a slip of the keyboard.
const maxPrice = 100_000

// Check returns a fault of kind invalid that says what a row lacks, or nil.
func (p Price) Check() error {
	place, model, ok := strings.Cut(p.Model, "/")
	if !ok || place == "" || model == "" || len(p.Model) > 200 {
		return fault.New(fault.Invalid, "cost", "“"+p.Model+"” does not name a model.",
			"Write it as CONNECTION/MODEL; * stands for anything.")
	}
	for _, v := range []float64{p.Input, p.Output, p.Cached} {
		if math.IsNaN(v) || v < 0 || v > maxPrice {
			return fault.New(fault.Invalid, "cost", fmt.Sprintf("A million tokens of %s cannot cost %g dollars.", p.Model, v),
				"A price is from 0 to 100000 dollars.")
		}
	}
	return nil
}

// Words returns a sum as people read it.
func Words(dollars float64, known bool) string {
	switch {
	case !known && dollars >= 0.001:
		return "at least " + Words(dollars, true)
	case !known:
		return "cost unknown"
	case dollars == 0:
		return "no cost"
	case dollars < 0.001:
		return "under $0.001"
	case dollars < 0.1:
		return strings.TrimSuffix(fmt.Sprintf("$%.3f", dollars), "0")
	}
	return fmt.Sprintf("$%.2f", dollars)
}
