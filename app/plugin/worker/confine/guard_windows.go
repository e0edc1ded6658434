package confine

import "io"

// Guard does nothing: a job object ends with Conclave and takes along what plugins
// started.
func Guard(io.Reader) {}
