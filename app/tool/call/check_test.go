package call_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"conclave/app/tool"
)

func TestChecksByOneSchemaAtTheSameTime(t *testing.T) {
	schema := json.RawMessage(`{"properties":{"a":{"items":{"type":"integer","enum":[1,2,3]},"uniqueItems":true,"contains":{"pattern":"x"}}}}`)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 50 {
				_, err := tool.Check(schema, json.RawMessage(fmt.Sprintf(`{"a":[1,2,%d]}`, i)))
				if (err == nil) != (i == 3) {
					t.Errorf("%d: %v", i, err)
				}
			}
		})
	}
	group.Wait()
}
