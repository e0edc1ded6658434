package pdf

import (
	"strings"
	"unicode/utf16"

	parser "github.com/ledongthuc/pdf"
)

// maxCodes bounds the table of one font: what two bytes can tell apart.
const maxCodes = 1 << 16

// font describes what the codes of a font mean and how wide they are.
type font struct {
	bytes  int               // of one code
	text   map[string]string // by code
	widths map[int]float64   // in units of the font's size
	other  float64           // the width of a code without one
}

func newFont(dict parser.Value) *font {
	f := &font{bytes: 1, text: map[string]string{}, widths: map[int]float64{}, other: 0.5}
	if dict.Key("Subtype").Name() == "Type0" {
		f.bytes, f.other = 2, 1
		attempt(func() { f.wide(dict.Key("DescendantFonts").Index(0)) })
	} else {
		attempt(func() { f.narrow(dict) })
	}
	// What a file says its codes mean counts more than what an encoding does.
	attempt(func() { f.unicode(dict) })
	return f
}

// narrow reads a font of up to 256 codes.
func (f *font) narrow(dict parser.Value) {
	scale := 0.001
	if dict.Key("Subtype").Name() == "Type3" {
		scale = dict.Key("FontMatrix").Index(0).Float64()
	}
	first := int(dict.Key("FirstChar").Int64())
	widths := dict.Key("Widths")
	for i := range min(widths.Len(), 256) {
		f.widths[first+i] = widths.Index(i).Float64() * scale
	}
	encoding := (&parser.Font{V: dict}).Encoder()
	for c := range 256 {
		code := string([]byte{byte(c)})
		f.text[code] = encoding.Decode(code)
	}
}

// wide reads the widths of a font whose codes have two bytes.
func (f *font) wide(dict parser.Value) {
	if w := dict.Key("DW"); !w.IsNull() {
		f.other = w.Float64() / 1000
	}
	w := dict.Key("W") // first [width…], or first last width
	for i := 0; i+1 < w.Len(); {
		first := int(w.Index(i).Int64())
		if each := w.Index(i + 1); each.Kind() == parser.Array {
			for n := range min(each.Len(), maxCodes) {
				f.widths[first+n] = each.Index(n).Float64() / 1000
			}
			i += 2
			continue
		}
		for c := first; c <= min(int(w.Index(i+1).Int64()), maxCodes); c++ {
			f.widths[c] = w.Index(i+2).Float64() / 1000
		}
		i += 3
	}
}

// unicode reads the map from codes to text that a file brings along.
func (f *font) unicode(dict parser.Value) {
	stream := dict.Key("ToUnicode")
	if stream.Kind() != parser.Stream {
		return
	}
	parser.Interpret(stream, func(stack *parser.Stack, op string) {
		switch op {
		case "findresource":
			stack.Push(dict) // the map puts its name into some dictionary, and nobody reads it
		case "endbfchar":
			for stack.Len() >= 2 {
				to, from := stack.Pop(), stack.Pop()
				if from.Kind() != parser.String {
					return
				}
				f.means(from.RawString(), to.RawString(), 0)
			}
		case "endbfrange":
			for stack.Len() >= 3 {
				to, last, first := stack.Pop(), stack.Pop().RawString(), stack.Pop().RawString()
				f.meanRange(first, last, to)
			}
		case "begincodespacerange", "beginbfchar", "beginbfrange":
			for stack.Len() > 0 {
				stack.Pop()
			}
		}
	})
}

func (f *font) meanRange(first, last string, to parser.Value) {
	if len(first) == 0 || len(first) != len(last) {
		return
	}
	from := number(first)
	for n := range min(number(last)-from+1, maxCodes) {
		one, add := to, n
		if to.Kind() == parser.Array {
			one, add = to.Index(n), 0
		}
		code := []byte(first)
		for at, c := len(code)-1, from+n; at >= 0; at, c = at-1, c>>8 {
			code[at] = byte(c)
		}
		f.means(string(code), one.RawString(), add)
	}
}

// means notes that a code means some UTF-16, add characters further.
func (f *font) means(code, text string, add int) {
	if len(code) != f.bytes || len(text) < 2 || len(f.text) > maxCodes {
		return
	}
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = uint16(text[2*i])<<8 | uint16(text[2*i+1])
	}
	runes := utf16.Decode(units)
	runes[len(runes)-1] += rune(add)
	f.text[code] = strings.ReplaceAll(string(runes), "\x00", "")
}

func number(code string) int {
	n := 0
	for i := range min(len(code), 4) {
		n = n<<8 | int(code[i])
	}
	return n
}

// codes calls each with the text and width of the codes in raw.
func (f *font) codes(raw string, each func(text string, width float64, space bool)) {
	for ; len(raw) >= f.bytes; raw = raw[f.bytes:] {
		code := raw[:f.bytes]
		text, known := f.text[code]
		if !known {
			text = "\uFFFD"
		}
		width, known := f.widths[number(code)]
		if !known {
			width = f.other
		}
		each(text, width, code == " ")
	}
}
