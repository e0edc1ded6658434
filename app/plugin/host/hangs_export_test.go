package host

import "context"

// RetryHung does what Watch does beside following the folder.
func RetryHung(ctx context.Context, h *Host) { h.retryHungLoads(ctx) }
