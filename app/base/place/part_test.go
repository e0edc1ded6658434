package place_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"conclave/app/base/place"
	"conclave/app/test/testkit"
)

func TestOnlyThePartsOfEndedProcessesAreSweptAway(t *testing.T) {
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	ended := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^$")
	testkit.Must(t, ended.Run())
	gone, here := strconv.Itoa(ended.Process.Pid), strconv.Itoa(os.Getpid())
	stays := map[string]bool{
		place.Part(in("mine")):                                             true,
		in("a." + gone + "-x1-1.conclave-part"):                            false,
		in("earlier." + gone + "-7.conclave-part"):                         false,
		in("number." + here + "-x1-1.conclave-part"):                       false, // of an earlier process with this number
		in("parent." + strconv.Itoa(os.Getppid()) + "-x1-1.conclave-part"): true,
		in("a person's.conclave-part"):                                     true,
		in("-1.conclave-part"):                                             true,
		in("a." + gone + "-x1-1"):                                          true,
	}
	for path := range stays {
		testkit.Must(t, os.WriteFile(path, nil, 0o600))
	}
	place.Sweep(folder)
	for path, want := range stays {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", filepath.Base(path), err == nil, want)
		}
	}
	place.Sweep(in("nowhere"))
}

func TestAPartHasANameThatFitsAndNoOtherHas(t *testing.T) {
	long := strings.Repeat("ü", 127)
	one, two := place.Part(long), place.Part(long)
	if one == two || len(one) > 255 || !place.IsPart(one) || place.IsLeft(one) {
		t.Errorf("got %q and %q", one, two)
	}
	if at := place.Part(filepath.Join("deep", "er", "a")); filepath.Dir(at) != filepath.Join("deep", "er") {
		t.Errorf("it lies in %s", at)
	}
}
