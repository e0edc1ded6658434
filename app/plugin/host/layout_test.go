package host

import (
	"path/filepath"
	"reflect"
	"testing"

	"conclave/store"
	"conclave/store/layouttest"
)

func TestTheLayoutIsRaisedWithEveryChangeOfWhatIsStoredOfAPlugin(t *testing.T) {
	layouttest.Check(t, filepath.Join("testdata", "layout.txt"), store.Layout, map[string]reflect.Type{
		"plugin_state": reflect.TypeFor[savedState](),
		"plugin_cache": reflect.TypeFor[record](),
	})
}
