package confine

import (
	"fmt"
	"os"
	"strconv"
)

// SpecVariable names the environment variable that holds the handle of the pipe
// with the spec: Windows has no descriptor 3.
const SpecVariable = "CONCLAVE_SPEC_HANDLE"

func specFile() (*os.File, error) {
	handle, err := strconv.ParseUint(os.Getenv(SpecVariable), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("no handle in %s: %w", SpecVariable, err)
	}
	return os.NewFile(uintptr(handle), "spec"), nil
}
