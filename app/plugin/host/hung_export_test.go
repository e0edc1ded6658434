package host

import "context"

// RetryHung is what Watch does beside following the folder.
func (h *Host) RetryHung(ctx context.Context) { h.retryHung(ctx) }
