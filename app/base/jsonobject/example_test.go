package jsonobject_test

import (
	"encoding/json"
	"fmt"

	"conclave/app/base/jsonobject"
)

func ExampleFields() {
	for name, value := range jsonobject.Fields(json.RawMessage(`{"b": 1, "a": [true], "b": null}`)) {
		fmt.Println(name, string(value))
	}
	// Output:
	// b 1
	// a [true]
	// b null
}
