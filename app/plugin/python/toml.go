package python

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/BurntSushi/toml"
)

// TOML reads a TOML text into what JSON can carry to a Python: dates and times are text,
// numbers int64 or Float.
func TOML(text string) (map[string]any, error) {
	table := map[string]any{}
	if _, err := toml.Decode(text, &table); err != nil {
		return nil, err
	}
	return plain(table).(map[string]any), nil
}

// Float keeps the point of a whole number in JSON, by which Python knows it from an
// integer.
type Float float64

// MarshalJSON implements json.Marshaler.
func (f Float) MarshalJSON() ([]byte, error) {
	text := strconv.AppendFloat(nil, float64(f), 'g', -1, 64)
	if !bytes.ContainsAny(text, ".e") {
		text = append(text, ".0"...)
	}
	return text, nil
}

// plain returns a TOML value as JSON can carry it.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			v[key] = plain(item)
		}
	case []map[string]any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plain(item)
		}
		return list
	case []any:
		for i, item := range v {
			v[i] = plain(item)
		}
	case time.Time:
		return dated(v)
	case float64:
		if v-v != 0 { // inf and nan have no JSON
			return fmt.Sprint(v)
		}
		return Float(v)
	}
	return value
}

// dated writes a TOML date or time as it would be written in TOML.
func dated(t time.Time) string {
	switch t.Location().String() {
	case "datetime-local":
		return t.Format("2006-01-02T15:04:05.999999")
	case "date-local":
		return t.Format("2006-01-02")
	case "time-local":
		return t.Format("15:04:05.999999")
	}
	return t.Format(time.RFC3339Nano)
}
