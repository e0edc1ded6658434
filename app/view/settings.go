package view

import (
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/model/cost"
)

// HTTPStatus is the state of the port at which programs of this computer register tools.
type HTTPStatus struct {
	On      bool   `json:"on"`                           // the settings open it while Conclave runs
	Port    int    `json:"port"`                         // in the settings
	Address string `json:"address,omitempty"`            // where it is open now
	Trouble string `json:"trouble,omitempty" say:"true"` // why it is not open, or which program was refused last
	Token   bool   `json:"token"`                        // programs must send one
}

// NewHTTPStatus returns the state of a port: its settings, and the address and the trouble that it has.
func NewHTTPStatus(s settings.Settings, address string, trouble error) HTTPStatus {
	v := HTTPStatus{On: s.HTTPTools, Port: s.HTTPPort, Address: address, Token: s.HTTPToken}
	if trouble != nil {
		f := fault.Of(trouble)
		v.Trouble = strings.TrimSpace(f.Message + " " + f.Hint)
	}
	return v
}

// PriceTable tells what models cost, in US dollars for a million tokens.
type PriceTable struct {
	Date   string       `json:"date"`   // when the prices were read, “2026-11-20”
	Prices []cost.Price `json:"prices"` // those that Conclave comes with
	Own    []cost.Price `json:"own"`    // the person's own, which come first
}

// Price is one price of a table.
type Price struct {
	cost.Price
	By string `json:"by"` // the date of the table, or “own”
}

// NewPriceTable returns the view of a table.
func NewPriceTable(t cost.Table) PriceTable { return PriceTable{t.Date, List(t.Prices), List(t.Own)} }

// Rows returns all prices, in the order in which they apply.
func (t PriceTable) Rows() []Price {
	rows := []Price{}
	for _, p := range t.Own {
		rows = append(rows, Price{p, cost.Own})
	}
	for _, p := range t.Prices {
		rows = append(rows, Price{p, t.Date})
	}
	return rows
}
