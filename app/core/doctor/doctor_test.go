package doctor

import (
	"testing"

	"conclave/app/plugin/sandbox"
)

func TestDoctorFindsNoSandboxWhereThereIsNone(t *testing.T) {
	t.Parallel()
	if f := checkSandbox(sandbox.None()); f.OK || f.Found != "Runs as you, not isolated." || f.Fix == "" {
		t.Errorf("found %+v", f)
	}
}
