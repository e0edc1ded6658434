package pdf

import (
	"math"
	"strings"
	"unicode"

	"conclave/app/base/limit"

	parser "github.com/ledongthuc/pdf"
)

// matrix is a transformation: x' = a x + c y + e, y' = b x + d y + f.
type matrix [6]float64

var unchanged = matrix{1, 0, 0, 1, 0, 0}

// then returns m followed by n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state holds what the operators of a page set.
type state struct {
	page                                 matrix // from the current user space to the page
	font                                 *font
	size, letter, word, stretch, leading float64
}

// reader follows the operators of one page, or of a form on it.
type reader struct {
	w         *writer
	resources parser.Value
	fonts     map[string]*font // by what the file says of them
	named     map[string]*font // by their names on this page
	depth     int

	state
	saved      []state
	text, line matrix // where the next character and the current line begin
}

func newReader(w *writer, p page) *reader {
	return &reader{
		w: w, resources: p.resources, fonts: w.known(), named: map[string]*font{},
		state: state{page: unchanged, stretch: 1}, text: unchanged, line: unchanged,
	}
}

// run reads the operators of a stream.
func (r *reader) run(contents parser.Value) {
	if contents.IsNull() {
		return
	}
	parser.Interpret(contents, func(stack *parser.Stack, op string) {
		args := make([]parser.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		r.do(op, arguments(args))
	})
}

// arguments of an operator; those that lack are null.
type arguments []parser.Value

func (a arguments) at(i int) parser.Value {
	if i < len(a) {
		return a[i]
	}
	return parser.Value{}
}

func (a arguments) number(i int) float64 { return a.at(i).Float64() }

func (a arguments) matrix() (m matrix) {
	for i := range m {
		m[i] = a.number(i)
	}
	return m
}

// do does what one operator says, as far as it is about text.
func (r *reader) do(op string, a arguments) {
	switch op {
	case "q":
		if len(r.saved) < 256 {
			r.saved = append(r.saved, r.state)
		}
	case "Q":
		if n := len(r.saved); n > 0 {
			r.state, r.saved = r.saved[n-1], r.saved[:n-1]
		}
	case "cm":
		r.page = a.matrix().then(r.page)
	case "BT":
		r.text, r.line = unchanged, unchanged
	case "Tf":
		r.font, r.size = r.fontOf(a.at(0).Name()), a.number(1)
	case "Tc":
		r.letter = a.number(0)
	case "Tw":
		r.word = a.number(0)
	case "Tz":
		r.stretch = a.number(0) / 100
	case "TL":
		r.leading = a.number(0)
	case "TD":
		r.leading = -a.number(1)
		r.move(a.number(0), a.number(1))
	case "Td":
		r.move(a.number(0), a.number(1))
	case "Tm":
		r.line = a.matrix()
		r.text = r.line
	case "T*":
		r.move(0, -r.leading)
	case "'":
		r.move(0, -r.leading)
		r.show(a.at(0).RawString())
	case "\"":
		r.word, r.letter = a.number(0), a.number(1)
		r.move(0, -r.leading)
		r.show(a.at(2).RawString())
	case "Tj":
		r.show(a.at(0).RawString())
	case "TJ":
		for i := range a.at(0).Len() {
			if one := a.at(0).Index(i); one.Kind() == parser.String {
				r.show(one.RawString())
			} else {
				r.advance(-one.Float64() / 1000 * r.size * r.stretch)
			}
		}
	case "Do":
		r.form(r.resources.Key("XObject").Key(a.at(0).Name()))
	}
}

// move goes to the beginning of a line.
func (r *reader) move(x, y float64) {
	r.line = matrix{1, 0, 0, 1, x, y}.then(r.line)
	r.text = r.line
}

// advance goes along the line.
func (r *reader) advance(x float64) { r.text = matrix{1, 0, 0, 1, x, 0}.then(r.text) }

// fontOf returns a font, read once for all pages.
func (r *reader) fontOf(name string) *font {
	if f := r.named[name]; f != nil {
		return f
	}
	dict := r.resources.Key("Font").Key(name)
	key := dict.String()
	if r.fonts[key] == nil {
		r.fonts[key] = newFont(dict)
	}
	r.named[name] = r.fonts[key]
	return r.named[name]
}

// show writes characters.
func (r *reader) show(raw string) {
	if r.font == nil {
		r.font = newFont(parser.Value{})
	}
	r.font.codes(raw, func(text string, width float64, space bool) {
		from := r.text.then(r.page)
		step := width*r.size + r.letter
		if space {
			step += r.word
		}
		r.advance(step * r.stretch)
		to := r.text.then(r.page)
		height := math.Hypot(from[2], from[3]) * math.Abs(r.size)
		r.w.write(text, point{from[4], from[5]}, point{to[4], to[5]}, point{from[0], from[1]}, height)
	})
}

// form reads a form, a piece of page that pages show.
func (r *reader) form(x parser.Value) {
	if x.Key("Subtype").Name() != "Form" || r.depth >= maxNesting {
		return
	}
	inner := &reader{
		w: r.w, resources: x.Key("Resources"), fonts: r.fonts, named: map[string]*font{},
		depth: r.depth + 1, state: r.state, text: unchanged, line: unchanged,
	}
	if inner.resources.IsNull() {
		inner.resources = r.resources
	}
	if m := x.Key("Matrix"); m.Len() == 6 {
		var own matrix
		for i := range own {
			own[i] = m.Index(i).Float64()
		}
		inner.page = own.then(inner.page)
	}
	inner.run(x)
}

type point struct{ x, y float64 }

// writer puts characters that lie somewhere on a page into lines of words.
type writer struct {
	out     strings.Builder
	fonts   map[string]*font
	letters bool  // the page has something to read
	end     point // of the last character
	begun   bool  // there is one on this page
	gap     bool  // it is a space, or the end of a line
}

// known are the fonts of the file that were read.
func (w *writer) known() map[string]*font {
	if w.fonts == nil {
		w.fonts = map[string]*font{}
	}
	return w.fonts
}

// endPage begins the next page.
func (w *writer) endPage() { w.letters, w.begun, w.gap = false, false, false }

// Of the height of characters: how far a line is from the next, a word from the
// next, a column of a table from the next.
const (
	lineGap   = 0.5
	wordGap   = 0.15
	columnGap = 2.0
)

// write writes a character that goes from a point to another, where along is the
// direction of its line.
func (w *writer) write(text string, from, to, along point, height float64) {
	space := strings.TrimSpace(text) == ""
	if w.begun && height > 0 {
		dx, dy := (from.x-w.end.x)/height, (from.y-w.end.y)/height
		length := math.Hypot(along.x, along.y)
		ahead := (dx*along.x + dy*along.y) / length
		aside := math.Abs(dx*along.y-dy*along.x) / length
		switch {
		case aside > lineGap || ahead < -1:
			w.out.WriteByte('\n')
			w.gap = true
		case ahead > columnGap:
			w.out.WriteByte('\t')
			w.gap = true
		case ahead > wordGap && !w.gap && !space:
			w.out.WriteByte(' ')
			w.gap = true
		}
	}
	w.begun, w.end = true, to
	if space {
		if !w.gap {
			w.out.WriteByte(' ')
		}
		w.gap = true
		return
	}
	w.gap = false
	text = strings.Map(visible, text)
	for _, c := range text {
		w.letters = w.letters || unicode.IsPrint(c) && c != unicode.ReplacementChar
	}
	w.out.WriteString(text)
	if w.out.Len() > limit.DocumentText+1 { // it begins with the end of a line, which is cut off
		panic(full{})
	}
}

// visible drops control characters, which codes without a meaning become.
func visible(c rune) rune {
	if unicode.IsControl(c) {
		return -1
	}
	return c
}
