package service

import (
	"path/filepath"
	"reflect"
	"testing"

	"conclave/store"
	"conclave/store/layouttest"
)

func TestTheLayoutIsRaisedWithEveryChangeOfARecordThatPluginsShare(t *testing.T) {
	layouttest.Check(t, filepath.Join("testdata", "layout.txt"), store.Layout, map[string]reflect.Type{
		"plugin_records": reflect.TypeFor[record](),
	})
}
