package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
)

// sourceMap leads from a place in built JavaScript back to the author's text
// (Source Map Revision 3, with one source).
type sourceMap struct {
	lines [][]segment // by built line, each sorted by column
}

// segment says that built text from column on came from a place, all from 0.
type segment struct{ column, line, origin int }

// parseSourceMap reads a map with one source.
func parseSourceMap(text []byte) (*sourceMap, error) {
	var raw struct {
		Mappings string `json:"mappings"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("read the source map: %w", err)
	}
	m := &sourceMap{}
	var line, origin int // carried from line to line, unlike the column
	for _, group := range strings.Split(raw.Mappings, ";") {
		var segments []segment
		column := 0
		for _, field := range strings.Split(group, ",") {
			if field == "" {
				continue
			}
			numbers, err := decodeVLQ(field)
			if err != nil {
				return nil, err
			}
			column += numbers[0]
			if len(numbers) >= 4 {
				line += numbers[2]
				origin += numbers[3]
				segments = append(segments, segment{column, line, origin})
			}
		}
		m.lines = append(m.lines, segments)
	}
	return m, nil
}

// at returns the author's line and column of a built place, all from 1. What
// the map does not know stays as it is.
func (m *sourceMap) at(line, column int) (int, int) {
	if m == nil || line < 1 || line > len(m.lines) {
		return line, column
	}
	segments := m.lines[line-1]
	i := sort.Search(len(segments), func(i int) bool { return segments[i].column > column-1 })
	if i == 0 {
		return line, column
	}
	s := segments[i-1]
	return s.line + 1, s.origin + 1
}

const vlqDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// decodeVLQ reads the numbers of one segment: base64 digits of five bits, the
// least first, the sign in the lowest bit.
func decodeVLQ(field string) ([]int, error) {
	var numbers []int
	value, shift := 0, 0
	for i := range len(field) {
		digit := strings.IndexByte(vlqDigits, field[i])
		if digit < 0 || shift > 30 {
			return nil, errors.New("the source map is damaged")
		}
		value |= (digit & 31) << shift
		shift += 5
		if digit&32 != 0 {
			continue
		}
		if value&1 != 0 {
			numbers = append(numbers, -(value >> 1))
		} else {
			numbers = append(numbers, value>>1)
		}
		value, shift = 0, 0
	}
	if len(numbers) == 0 || shift != 0 {
		return nil, errors.New("the source map is damaged")
	}
	return numbers, nil
}
