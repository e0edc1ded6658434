package permit_test

import (
	"path/filepath"
	"reflect"
	"testing"

	"conclave/app/permit"
	"conclave/store"
	"conclave/store/layouttest"
)

func TestTheLayoutIsRaisedWithEveryChangeOfAStoredRequest(t *testing.T) {
	layouttest.Check(t, filepath.Join("testdata", "layout.txt"), store.Layout, map[string]reflect.Type{
		"pending": permit.StoredRequest,
	})
}
