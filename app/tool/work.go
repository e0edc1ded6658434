package tool

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// maxPatterns limits how many instructions all patterns of one schema may have. One
// that describes an address of mail has some hundreds.
const maxPatterns = 10_000

// unit is spent at once, about a microsecond, in steps of limit.CheckSteps.
const unit = 50

var (
	errWork     = errors.New("Checking it by its schema takes too long, so it is not checked.")
	errPatterns = errors.New("its patterns are too large")
)

// spend takes units from the steps of the check under way.
func (c *compiled) spend(units int) {
	if c.left -= unit * units; c.left < 0 {
		panic(errWork)
	}
}

// exactText is a text that equal JSON values have in common, and only they.
func (c *compiled) exactText(value any) string {
	b, _ := appendJSON(nil, value, func(b []byte, n string) ([]byte, error) { return append(b, digits(n)...), nil })
	c.spend(1 + len(b)/20)
	return string(b)
}

func (c *compiled) exactTexts(values ...any) map[string]bool {
	texts := map[string]bool{}
	for _, v := range values {
		texts[c.exactText(v)] = true
	}
	return texts
}

// length returns by how much the time to look at value once grows.
func length(value any) int {
	switch v := value.(type) {
	case string:
		return len(v) / 1000
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// readPattern is a pattern as Go reads it. One that Go cannot read matches every
// text.
type readPattern struct {
	*regexp.Regexp
	of   *compiled
	text string
	size int // instructions, by which its time grows
}

func (c *compiled) pattern(text string) *readPattern {
	if p := c.patterns[text]; p != nil {
		return p
	}
	p := &readPattern{of: c, text: text}
	c.patterns[text] = p
	if parsed, err := syntax.Parse(text, syntax.Perl); err == nil {
		if program, err := syntax.Compile(parsed.Simplify()); err == nil {
			p.size = len(program.Inst)
		}
		if c.instructions += p.size; c.instructions > maxPatterns {
			panic(errPatterns)
		}
		p.Regexp, _ = regexp.Compile(text)
	}
	return p
}

// MatchString reports whether text matches, or may match.
func (p *readPattern) MatchString(text string) bool {
	if p.Regexp == nil {
		return true
	}
	p.of.spend(10 + len(text)*p.size/100)
	return p.Regexp.MatchString(text)
}
