package core

import (
	"strings"
	"testing"

	"conclave/app/model"
)

func TestWhatLeavesThisComputerHoldsNoKey(t *testing.T) {
	t.Setenv("CONCLAVE_PASSPHRASE", "for tests")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:") // no key goes into a real keychain
	c := opened(t)
	const secret = "correct-horse-battery-staple" // looks like no key
	connection := model.Connection{Name: "locked", Kind: "openai", URL: "http://127.0.0.1:1/v1"}
	must(t, c.Models.Add(t.Context(), connection, secret))
	mask, err := c.Mask(t.Context())
	must(t, err)
	got := mask("It said " + secret + " and sk-abcdefghijklmnop, twice: " + secret + ".")
	if strings.Contains(got, secret) || strings.Contains(got, "sk-abc") || !strings.Contains(got, "It said ") {
		t.Errorf("masked, it reads %q", got)
	}
}
