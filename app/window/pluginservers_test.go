package window

import (
	"errors"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/library"
)

func TestWhatWasMadeOfAConfigurationIsShownWithItsNotes(t *testing.T) {
	made := library.Imported{
		Added: []library.Added{{ID: "mail", Name: "Mail", Notes: []string{"Its secret KEY is in the keychain now."}}},
		Left:  []plugin.LeftOut{{Name: "far", Why: "It has no address."}},
	}
	added, err := addedServers(made, nil)
	must(t, err)
	if len(added.IDs) != 1 || len(added.Left) != 1 || added.Notes[0] != "Mail: Its secret KEY is in the keychain now." {
		t.Errorf("%+v", added)
	}
	_, err = addedServers(library.Imported{Left: made.Left}, fault.New(fault.Invalid, "x", "No plugin was made.", ""))
	if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.Hint, "far: It has no address.") {
		t.Errorf("%v", err)
	}
}
