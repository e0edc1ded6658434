package core

import (
	"math"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/cost"
)

func TestWhatARequestCostIsFoundByWhereItWentTo(t *testing.T) {
	c := opened(t)
	for _, connection := range []model.Connection{
		{Name: "openai", Kind: "openai"},
		{Name: "work", Kind: "openai", URL: "https://models.example.com/v1"},
		{Name: "box", Kind: "ollama"},
		{Name: "far", Kind: "ollama", URL: "http://192.168.7.7:11434"},
	} {
		must(t, c.Models.Add(t.Context(), connection, ""))
	}
	u := chat.Usage{Input: 1000, Output: 100}
	price := func(connection, m string) chat.Usage {
		return c.Models.Price(model.Info{Connection: connection, ID: m}, u)
	}
	// The vendor's prices are for the vendor's own address alone.
	for _, local := range []string{"demo", "box", "mine"} { // mine is a server on this computer
		if got := price(local, "gpt-5"); got.Priced != cost.Local || got.Cost != 0 || !got.Known() {
			t.Errorf("a model of this computer costs %+v", got)
		}
	}
	for _, unknown := range []string{"work", "far", "removed"} {
		if got := price(unknown, "gpt-5"); got != u {
			t.Errorf("a price of %s is made up: %+v", unknown, got)
		}
	}
	if got := price("openai", "gpt-5"); got.Priced != cost.Default().Date || got.Cost <= 0 {
		t.Errorf("a model of the table costs %+v", got)
	}
	own := []cost.Price{{Model: "box/*", Input: 1}, {Model: "models.example.com/gpt*", Output: 10}}
	must(t, c.Models.SetPrices(t.Context(), own))
	if got := price("box", "llama"); got.Priced != cost.Own || math.Abs(got.Cost-0.001) > 1e-12 {
		t.Errorf("the person's own row for a local model makes it %+v", got)
	}
	if got := price("work", "gpt-5"); got.Priced != cost.Own || math.Abs(got.Cost-0.001) > 1e-12 {
		t.Errorf("the person's own row for a server makes it %+v", got)
	}
	if err := c.Models.SetPrices(t.Context(), []cost.Price{{Model: "gpt", Input: 1}}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a row that names no model: %v", err)
	}
}
