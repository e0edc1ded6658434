package host

import "context"

// RetryHung does what Watch does beside following the folder.
func (h *Host) RetryHung(ctx context.Context) { h.retryHungLoads(ctx) }
