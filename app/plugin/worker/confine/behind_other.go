//go:build unix && !darwin

package confine

import "conclave/app/plugin/sandbox"

// Behind returns what it is given: here a process puts up its walls itself.
func Behind(program string, argv []string, _ sandbox.Spec) (string, []string, error) {
	return program, argv, nil
}
