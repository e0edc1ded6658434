package council

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
)

// keysOf returns the JSON names of a struct's fields. known is a pointer to the struct.
func keysOf(known any) []string {
	t := reflect.TypeOf(known).Elem()
	var names []string
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// has reports whether a JSON object has a key.
func has(data []byte, name string) bool {
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return false
	}
	_, there := all[name]
	return there
}

func itoa(n int) string { return strconv.Itoa(n) }
