package store

import (
	"context"
	"encoding/json"
)

// Outside holds what the person set for programs that use Conclave as their MCP server. It implements
// mcpserver.Store.
type Outside struct{ *file }

// bucketOutside holds one record: mcpserver.Record.
var bucketOutside = kind("outside")

// outsideKey is the one key of bucketOutside.
const outsideKey = "programs"

// Outside returns the record; nil where there is none.
func (s *Outside) Outside(ctx context.Context) (json.RawMessage, error) {
	return s.rawRecord(ctx, bucketOutside, outsideKey)
}

// PutOutside writes the record, which must be JSON (kind Invalid).
func (s *Outside) PutOutside(ctx context.Context, record json.RawMessage) error {
	return s.putRawRecord(ctx, bucketOutside, outsideKey, record)
}
