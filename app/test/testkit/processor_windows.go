package testkit

import "time"

var began = time.Now()

// ProcessorTime returns how much time has passed: Windows is not asked for more.
func ProcessorTime() time.Duration { return time.Since(began) }
