package window_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/window"
)

func TestMC128ThePageOffersToolsAndMakesTokens(t *testing.T) {
	t.Setenv("CONCLAVE_PASSPHRASE", "for tests")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:")
	w := open(t)
	list, err := w.Programs.List()
	must(t, err)
	if len(list.Programs) != 0 || list.Open || list.Port != 48912 {
		t.Errorf("got %+v", list)
	}
	if slices.ContainsFunc(list.Tools, func(tool window.OfferableTool) bool { return tool.Offered }) {
		t.Errorf("tools are offered: %+v", list.Tools)
	}
	token, err := w.Programs.AddToken("Zed")
	must(t, err)
	if list, err = w.Programs.List(); err != nil || len(list.Programs) != 1 || !list.Programs[0].Token {
		t.Errorf("got %+v, %v", list.Programs, err)
	}
	if !strings.HasPrefix(token, "cnc_") {
		t.Errorf("got %q", token)
	}
	must(t, w.Programs.Remove("Zed"))
	if list, err = w.Programs.List(); err != nil || len(list.Programs) != 0 {
		t.Errorf("got %+v, %v", list.Programs, err)
	}
	if err := w.Programs.SetPort(true, 80); err == nil {
		t.Error("port 80 was taken")
	}
}
