package render

import "time"

var began = time.Now()

// processorTime is the time that has passed: Windows is not asked for more.
func processorTime() time.Duration { return time.Since(began) }
