package activity

import (
	"context"
	"io"
)

// Log reads the record of activity; package store is the real one. Errors are *fault.Error.
type Log interface {
	// Activity returns entries, the newest first unless the filter says otherwise.
	Activity(ctx context.Context, f Filter) ([]Row, error)
	// ActivityOf returns the entry of one call, by the number of its record. The kind is
	// NotFound when there is none.
	ActivityOf(ctx context.Context, call uint64) (Row, error)
	// VerifyActivity checks the whole chain.
	VerifyActivity(ctx context.Context) (Report, error)
}

// page is the number of entries that are read at once, so that a long export holds up no writer.
const page = 500

// Export writes the entries that f selects as JSON Lines, the oldest first: of each its
// digest, the entry as it was written, and its detail.
func Export(ctx context.Context, log Log, f Filter, w io.Writer) (n int, err error) {
	f.Oldest, f.Limit = true, page
	for {
		rows, err := log.Activity(ctx, f)
		if err != nil {
			return n, err
		}
		for _, row := range rows {
			e, _, err := row.Read()
			if err != nil {
				return n, err
			}
			line, err := Encode(row)
			if err != nil {
				return n, err
			}
			if _, err := w.Write(append(line, '\n')); err != nil {
				return n, err
			}
			f.After = e.N
			n++
		}
		if len(rows) < page {
			return n, nil
		}
	}
}
