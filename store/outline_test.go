package store

import (
	"testing"
	"time"

	"conclave/app/chat"
)

// FuzzAnOutlineRowIsReadOrRefused reads rows from a file that may be damaged:
// whatever is read back is what would be written.
func FuzzAnOutlineRowIsReadOrRefused(f *testing.F) {
	item := chat.OutlineItem{
		Parent: 3, Role: chat.RoleUser, State: chat.Complete, Turn: "t", Size: 300, Created: time.Unix(1, 0),
	}
	f.Add(outlineRow(item))
	f.Add(outlineRow(chat.OutlineItem{Role: "other", State: "odd", Hidden: true}))
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, row []byte) {
		e, err := parseRow(7, row)
		if err != nil {
			return
		}
		again, err := parseRow(7, outlineRow(e))
		if err != nil || again != e {
			t.Errorf("%+v became %+v, %v", e, again, err)
		}
	})
}
