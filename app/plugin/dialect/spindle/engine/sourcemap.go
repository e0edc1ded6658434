package engine

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"path"
	"sort"
	"strings"
)

// sourceMap leads from a place in built JavaScript back to the author's text
// (Source Map Revision 3). It is read when it is first asked: most are never.
type sourceMap struct {
	raw     []byte      // nil once it was read
	lines   [][]segment // by built line, each sorted by column
	sources []string
	texts   []string // of the sources, as far as the map holds them
}

// segment says that built text from column on came from a place, all from 0.
type segment struct{ column, source, line, origin int32 }

func newSourceMap(text []byte) *sourceMap { return &sourceMap{raw: text} }

// read reads the map. One that is damaged knows nothing from there on.
func (m *sourceMap) read() {
	if m.raw == nil {
		return
	}
	text := m.raw
	m.raw = nil
	var raw struct {
		Root     string    `json:"sourceRoot"`
		Sources  []string  `json:"sources"`
		Texts    []*string `json:"sourcesContent"`
		Mappings string    `json:"mappings"`
	}
	if json.Unmarshal(text, &raw) != nil {
		return
	}
	for _, source := range raw.Sources {
		if raw.Root != "" {
			source = strings.TrimSuffix(raw.Root, "/") + "/" + source
		}
		m.sources = append(m.sources, source)
	}
	for _, text := range raw.Texts {
		if text == nil {
			text = new(string)
		}
		m.texts = append(m.texts, *text)
	}
	var source, line, origin int // carried from line to line, unlike the column
	for group := range strings.SplitSeq(raw.Mappings, ";") {
		var segments []segment
		column := 0
		for field := range strings.SplitSeq(group, ",") {
			if field == "" {
				continue
			}
			numbers, err := decodeVLQ(field)
			if err != nil {
				return
			}
			column += numbers[0]
			if len(numbers) >= 4 {
				source += numbers[1]
				line += numbers[2]
				origin += numbers[3]
				// places of a file of at most 8 MB
				segments = append(segments, segment{int32(column), int32(source), int32(line), int32(origin)})
			}
		}
		m.lines = append(m.lines, segments)
	}
}

// at returns the source, and the author's line and column from 1, of a built
// place. What the map does not know is not ok.
func (m *sourceMap) at(line, column int) (source, authorLine, authorColumn int, ok bool) {
	if m == nil {
		return 0, line, column, false
	}
	m.read()
	if line < 1 || line > len(m.lines) {
		return 0, line, column, false
	}
	segments := m.lines[line-1]
	i := sort.Search(len(segments), func(i int) bool { return int(segments[i].column) > column-1 })
	if i == 0 {
		return 0, line, column, false
	}
	s := segments[i-1]
	return int(s.source), int(s.line) + 1, int(s.origin) + 1, true
}

// mapComment begins the comment that names a file's source map.
const mapComment = "//# sourceMappingURL="

// shippedMap returns the source map that came with a built file: in its last
// comment, or in the file next to it that the comment names. It is nil when there is none.
func shippedMap(name, text string, src source) *sourceMap {
	at := strings.LastIndex(text, mapComment)
	if at < 0 {
		return nil
	}
	address, rest, _ := strings.Cut(text[at+len(mapComment):], "\n")
	if strings.TrimSpace(rest) != "" {
		return nil // not the last line
	}
	address = strings.TrimSpace(address)
	if data, ok := strings.CutPrefix(address, "data:"); ok {
		_, encoded, ok := strings.Cut(data, "base64,")
		if !ok {
			return nil
		}
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil
		}
		return newSourceMap(raw)
	}
	file, ok := inside(path.Join(path.Dir(name), address))
	if !ok || strings.Contains(address, ":") || src == nil {
		return nil
	}
	raw, err := src.Read(file)
	if err != nil {
		return nil
	}
	return newSourceMap(raw)
}

// sourceName makes of a source of a shipped map a path a person recognises:
// relative to the plugin's folder where it lies there, without scheme otherwise.
func sourceName(file, source string) string {
	if _, rest, ok := strings.Cut(source, "://"); ok {
		return strings.TrimPrefix(path.Clean("/"+rest), "/")
	}
	if strings.HasPrefix(source, "/") {
		return path.Base(source) // a folder of the author's machine
	}
	name := path.Join(path.Dir(file), source)
	for strings.HasPrefix(name, "../") {
		name = name[len("../"):]
	}
	return name
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
