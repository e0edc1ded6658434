package tool

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"regexp/syntax"

	"conclave/app/base/limit"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
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

// check gives value, which is so deep, to the schema.
func (c *compiled) check(value any, depth int) (warning string, err error) {
	c.checking.Lock()
	defer c.checking.Unlock()
	defer func() {
		if r := recover(); r != nil {
			warning, err = unusable(recovered(r)), nil
		}
	}()
	c.left = int(limit.CheckSteps) / (2 + depth) // mistakes in what is deep take more memory
	if wrong, ok := errors.AsType[*jsonschema.ValidationError](c.schema.Validate(value)); ok {
		return "", argumentError(c.explain(wrong, value))
	}
	return "", nil
}

// part is one schema within a compiled one.
type part struct {
	of             *compiled
	schema         *jsonschema.Schema
	object         map[string]any  // as it is written
	enum, constant map[string]bool // what these keywords let through, nil for all
	unique         bool
	names          *jsonschema.Schema // what each name must fit
}

// newPart is called by the library for each schema that it compiles. It takes over
// what has no bound in the library: we compare values, and count the steps in place
// of a format, which nobody asserts.
func (c *compiled) newPart(context *jsonschema.CompilerContext, object map[string]any) (jsonschema.SchemaExt, error) {
	s := context.Enqueue(nil) // the one being compiled
	p := &part{of: c, schema: s, object: object, unique: s.UniqueItems, names: s.PropertyNames}
	c.parts[s.Location] = p
	weight := 1
	for _, v := range object {
		weight += length(v)
	}
	s.Format = &jsonschema.Format{Name: "steps", Validate: func(v any) error { c.spend(weight + length(v)); return nil }}
	if s.Enum != nil {
		p.enum = c.exactTexts(s.Enum.Values...)
	}
	if s.Const != nil {
		p.constant = c.exactTexts(*s.Const)
	}
	s.Enum, s.Const, s.UniqueItems = nil, nil, false
	s.PropertyNames = nil // whose mistakes the library keeps at a path that it writes over
	for keyword, bound := range map[string]*int{
		"minLength": s.MinLength, "minItems": s.MinItems, "minProperties": s.MinProperties, "minContains": s.MinContains,
		"maxLength": s.MaxLength, "maxItems": s.MaxItems, "maxProperties": s.MaxProperties, "maxContains": s.MaxContains,
	} {
		n, _ := object[keyword].(json.Number)
		if large, _ := n.Float64(); bound != nil && large >= math.MaxInt64 {
			*bound = math.MaxInt // the library takes its last 64 bits
		}
	}
	for pattern := range s.PatternProperties {
		if pattern.(*readPattern).Regexp == nil {
			s.PatternProperties[pattern] = &jsonschema.Schema{Bool: new(true)} // it may have meant any of them
		}
	}
	for _, keyword := range []string{"definitions", "$defs"} { // those that nothing refers to shall be right too
		if named, ok := object[keyword].(map[string]any); ok && (keyword == "definitions" || s.DraftVersion >= 2019) {
			for name := range named {
				context.Enqueue([]string{keyword, name})
			}
		}
	}
	return p, nil
}

// Validate compares v with what p lets through. The library calls it, and adds up
// what is wrong.
func (p *part) Validate(context *jsonschema.ValidatorContext, v any) {
	if p.enum != nil && !p.enum[p.of.exactText(v)] {
		context.AddError(&kind.Enum{})
	}
	if p.constant != nil && !p.constant[p.of.exactText(v)] {
		context.AddError(&kind.Const{})
	}
	if list, ok := v.([]any); ok && p.unique && len(p.of.exactTexts(list...)) < len(list) {
		context.AddError(&kind.UniqueItems{})
	}
	if values, ok := v.(map[string]any); ok && p.names != nil {
		for name := range values {
			if p.names.Validate(name) != nil {
				context.AddError(&kind.PropertyNames{Property: name})
			}
		}
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

func (c *compiled) newPattern(text string) (jsonschema.Regexp, error) {
	if p := c.patterns[text]; p != nil {
		return p, nil
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
	return p, nil
}

func (p *readPattern) String() string { return p.text }

// MatchString reports whether text matches, or may match.
func (p *readPattern) MatchString(text string) bool {
	if p.Regexp == nil {
		return true
	}
	p.of.spend(10 + len(text)*p.size/100)
	return p.Regexp.MatchString(text)
}
