package core

import "errors"

// endProgram cannot be done here: Windows has no request to end for a program of
// a terminal that is not one's own.
func endProgram(int) error { return errors.ErrUnsupported }
