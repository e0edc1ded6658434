package confine

import (
	"fmt"
	"path/filepath"
	"slices"

	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/walls"
)

// Behind returns the program and the arguments by which a program is started behind the
// walls that this system has to be told of first: sandbox-exec applies the profile to
// itself and becomes the program. A process that cannot get its walls is not started.
func Behind(program string, argv []string, spec sandbox.Spec) (string, []string, error) {
	spec.Execute = append(slices.Clone(spec.Execute), program)
	profile, err := walls.Seatbelt(spec, filepath.EvalSymlinks)
	if err != nil {
		return "", nil, fmt.Errorf("describe the walls of the process: %w", err)
	}
	return walls.SandboxExec, append([]string{walls.SandboxExec, "-p", profile, program}, argv[1:]...), nil
}
