package core

import (
	"strings"
	"testing"

	"conclave/app/plugin/sandbox"
)

func TestDoctorFindsNoSandboxWhereNobodyTriedTheWalls(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"darwin", "windows", "freebsd"} {
		f := sandboxFinding(sandbox.Unproven(goos))
		if f.OK || !strings.Contains(f.Found, "not isolated") {
			t.Errorf("%s: found %+v", goos, f)
		}
		if written := goos != "freebsd"; strings.Contains(f.Fix, "make attack") != written {
			t.Errorf("%s: the fix is %q", goos, f.Fix)
		}
	}
}
