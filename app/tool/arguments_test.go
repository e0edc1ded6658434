package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// checked returns what Check says: the problems, or the warning in brackets.
func checked(t *testing.T, schema, arguments string) string {
	t.Helper()
	warning, err := tool.Check(json.RawMessage(schema), json.RawMessage(arguments))
	if warning != "" {
		if err != nil {
			t.Errorf("%s: a schema that cannot be used refused: %v", schema, err)
		}
		return "[" + warning + "]"
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestEachProblemSaysWhereWhatWasWantedAndWhatCame(t *testing.T) {
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"several types":  {`{"properties":{"a":{"type":["string","null"]}}}`, `{"a":1}`, `a: expected string or null, got 1`},
		"a whole number": {`{"properties":{"a":{"type":"integer"}}}`, `{"a":1.5}`, `a: expected integer, got 1.5`},
		"1.0 is whole":   {`{"properties":{"a":{"type":"integer"}}}`, `{"a":1.0}`, ``},
		"a large number": {`{"properties":{"a":{"type":"integer","minimum":1}}}`, `{"a":1e350}`, ``},
		"least":          {`{"properties":{"a":{"minimum":1}}}`, `{"a":0}`, `a: expected at least 1, got 0`},
		"most":           {`{"properties":{"a":{"maximum":0.1}}}`, `{"a":0.2}`, `a: expected at most 0.1, got 0.2`},
		"more than":      {`{"properties":{"a":{"exclusiveMinimum":1}}}`, `{"a":1}`, `a: expected more than 1, got 1`},
		"cents":          {`{"properties":{"a":{"multipleOf":0.01}}}`, `{"a":19.99}`, ``},
		"no cents": {
			`{"properties":{"a":{"multipleOf":0.01}}}`, `{"a":19.995}`, `a: expected a multiple of 0.01, got 19.995`,
		},
		"dozens":           {`{"properties":{"a":{"multipleOf":12}}}`, `{"a":13}`, `a: expected a multiple of 12, got 13`},
		"an empty text":    {`{"properties":{"a":{"minLength":1}}}`, `{"a":""}`, `a: expected at least 1 character, got 0`},
		"runes, not bytes": {`{"properties":{"a":{"maxLength":2}}}`, `{"a":"äö"}`, ``},
		"a pattern": {
			`{"properties":{"a":{"pattern":"^x"}}}`, `{"a":"y"}`, `a: expected a text that matches ^x, got "y"`,
		},
		"a short list": {`{"properties":{"a":{"minItems":2}}}`, `{"a":[1]}`, `a: expected at least 2 items, got 1`},
		"one item": {
			`{"properties":{"a":{"prefixItems":[{"type":"string"}],"items":{"type":"boolean"}}}}`, `{"a":[1,2]}`,
			"a.0: expected string, got 1\na.1: expected boolean, got 2",
		},
		"equal items":     {`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":[1,1.0]}`, `a: two of its items are equal`},
		"a constant":      {`{"properties":{"a":{"const":null}}}`, `{"a":0}`, `a: expected null, got 0`},
		"an equal number": {`{"properties":{"a":{"enum":[1,2]}}}`, `{"a":2.0}`, ``},
		"neither form": {
			`{"properties":{"a":{"oneOf":[{"type":"object","required":["b"]},{"type":"string"}]}}}`, `{"a":{}}`,
			"a.b: is missing\na: fits none of its 2 forms, got {}",
		},
		"by reference": {
			`{"properties":{"a":{"$ref":"#/$defs/x~1y"}},"$defs":{"x/y":{"properties":{"b":{"type":"null"}}}}}`, `{"a":{"b":1}}`,
			`a.b: expected null, got 1`,
		},
		"all of": {
			`{"allOf":[{"required":["a"]},{"properties":{"b":{"type":"null"}}}]}`, `{"b":1}`,
			"a: is missing\nb: expected null, got 1",
		},
		"a map": {`{"additionalProperties":{"type":"integer"}}`, `{"x":1,"y":"1"}`, `y: expected integer, got "1"`},
		"a pattern's names": {
			`{"patternProperties":{"^x":{"type":"integer"}},"additionalProperties":false}`, `{"x1":"a","y":1}`,
			"x1: expected integer, got \"a\"\ny: there is no such parameter",
		},
		"never": {`{"properties":{"a":false}}`, `{"a":1}`, `a: nothing is allowed here, got 1`},
		"not":   {`{"properties":{"a":{"not":{"type":"string"}}}}`, `{"a":"b"}`, `a: is of the kind that it must not be`},
		"both forms": {
			`{"properties":{"a":{"oneOf":[{"minimum":1},{"maximum":3}]}}}`, `{"a":2}`,
			`a: fits more than one of its forms, and must fit one`,
		},
		"no such item": {
			`{"properties":{"a":{"contains":{"type":"null"}}}}`, `{"a":[1]}`,
			`a: none of its items is of the kind that must be there`,
		},
		"with another": {`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `dependentRequired["a"]: missing properties ["b"]`},
		"with one that is called as a keyword": {
			`{"dependentRequired":{"title":["b"]}}`, `{"title":1}`, `dependentRequired["title"]: missing properties ["b"]`,
		},
		"a tree": {
			`{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"$ref":"#/$defs/t"}}}}}`,
			`{"next":{"next":{"next":1}}}`, `next.next.next: expected object, got 1`,
		},
	} {
		if got := checked(t, c.schema, c.arguments); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestOlderDraftsMeanWhatTheyMeant(t *testing.T) {
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"4: a flag excludes a bound": {
			`{"$schema":"http://json-schema.org/draft-04/schema#","id":"http://x/y","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`,
			`{"a":1}`, `a: expected more than 1, got 1`,
		},
		"4: a flag that is false": {
			`{"$schema":"http://json-schema.org/draft-04/schema","properties":{"a":{"minimum":1,"exclusiveMinimum":false}}}`,
			`{"a":1}`, ``,
		},
		"6: a constant": {
			`{"$schema":"http://json-schema.org/draft-06/schema#","properties":{"a":{"const":1}}}`, `{"a":2}`,
			`a: expected 1, got 2`,
		},
		"7: a list of items": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"type":"string"}],"additionalItems":false}}}`,
			`{"a":[1,2]}`, "a.0: expected string, got 1\na.1: nothing is allowed here, got 2",
		},
		"7: beside a reference": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/x","type":"string"}},"definitions":{"x":{"type":"integer"}}}`,
			`{"a":1}`, ``,
		},
		"7: dependencies": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":["b"]}}`, `{"a":1}`,
			`dependentRequired["a"]: missing properties ["b"]`,
		},
		"2019-09: a list of items": {
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"a":{"items":[{"type":"string"}],"additionalItems":{"type":"null"}}}}`,
			`{"a":["",2]}`, `a.1: expected null, got 2`,
		},
		"2019-09: itself": {
			`{"$schema":"https://json-schema.org/draft/2019-09/schema","properties":{"a":{"$recursiveRef":"#"},"b":{"type":"null"}}}`,
			`{"a":{"b":1}}`, `a.b: expected null, got 1`,
		},
		"2020-12: beside a reference": {
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://x/y","properties":{"a":{"$ref":"https://x/y#/$defs/x","minimum":2}},"$defs":{"x":{"type":"integer"}}}`,
			`{"a":1}`, `a: expected at least 2, got 1`,
		},
	} {
		if got := checked(t, c.schema, c.arguments); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestASchemaThatCannotBeUsedSaysWhy(t *testing.T) {
	for name, c := range map[string]struct{ schema, want string }{
		"an address": {
			`{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`,
			`it refers to http://127.0.0.1:1/x.json, which Conclave does not open`,
		},
		"a file": {
			`{"items":{"$ref":"file:///etc/passwd"}}`, `it refers to file:///etc/passwd, which Conclave does not open`,
		},
		"a type": {`{"properties":{"a":{"type":["string","strnig"]}}}`, `there is no type "strnig"`},
		"a draft": {
			`{"$schema":"http://127.0.0.1:1/draft"}`,
			`it is written in the draft "http://127.0.0.1:1/draft", which Conclave does not know`,
		},
		"no schema": {`{"properties":{"a":"string"}}`, `"string" is no schema`},
		"a round of two": {
			`{"anyOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"not":{"$ref":"#"}}}}`, `it refers to itself without end`,
		},
		"an unused round":   {`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, `it refers to itself without end`},
		"multiples of none": {`{"multipleOf":0}`, `"multipleOf" is 0, and nothing is a multiple of that`},
		"too deep": {
			strings.Repeat(`{"not":`, 101) + `{}` + strings.Repeat(`}`, 101), `it is nested more than 100 deep`,
		},
	} {
		if got := checked(t, c.schema, `{}`); got != "[Its schema cannot be used: "+c.want+".]" {
			t.Errorf("%s: got %q", name, got)
		}
	}
}

func TestAPatternThatGoCannotReadRefusesNothing(t *testing.T) {
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"a text": {`{"properties":{"a":{"pattern":"(?=x)"}}}`, `{"a":"b"}`, ``},
		"names":  {`{"patternProperties":{"(?=x)":{"type":"null"}},"additionalProperties":false}`, `{"a":"b"}`, ``},
		"others still hold": {
			`{"properties":{"a":{"pattern":"(?=x)","maxLength":1}}}`, `{"a":"bb"}`, `a: expected at most 1 character, got 2`,
		},
	} {
		if got := checked(t, c.schema, c.arguments); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestManyProblemsEndInANumber(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, `"p`+string(rune('a'+i%26))+string(rune('a'+i/26))+`"`)
	}
	lines := strings.Split(checked(t, `{"required":[`+strings.Join(names, ",")+`]}`, `{}`), "\n")
	if len(lines) != 21 || lines[20] != "and 10 more" {
		t.Errorf("got %d lines, the last %q", len(lines), lines[len(lines)-1])
	}
}

func TestAUserIdThatAModelAddsToAClosedSchemaIsNoMistake(t *testing.T) {
	closed := []byte(`{"type":"object","properties":{"a":{"type":"number"}},"required":["a"],"additionalProperties":false}`)
	declared := []byte(`{"type":"object","properties":{"userId":{"type":"string"}},"required":["userId"],"additionalProperties":false}`)
	user := []string{"userId", "__userId", "__user_id"}
	for name, c := range map[string]struct {
		ignored   []string
		arguments string
		schema    []byte
		ok        bool
	}{
		"added":                      {user, `{"a":1,"userId":"x","__userId":"y","__user_id":2}`, closed, true},
		"declared":                   {user, `{"userId":"x"}`, declared, true},
		"something else":             {user, `{"a":1,"user":"x"}`, closed, false},
		"still wrong":                {user, `{"a":"one","userId":"x"}`, closed, false},
		"nested":                     {user, `{"a":{"userId":"x"}}`, closed, false},
		"of another kind of plugins": {nil, `{"a":1,"userId":"x"}`, closed, false},
	} {
		if _, err := (tool.Tool{
			Convention: tool.Convention{Ignored: c.ignored}, Parameters: c.schema,
		}).CheckArguments([]byte(c.arguments)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Schemas that a plugin made so that looking at a small value takes for ever.
func TestCheckingArgumentsEndsWhateverTheSchemaAsksFor(t *testing.T) {
	repeat := func(n int, each func(int) string) string {
		var all []string
		for i := range n {
			all = append(all, each(i))
		}
		return strings.Join(all, ",")
	}
	// each of 60 schemas refers to the next one twice
	twice := func(form string) string {
		return `{"properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{` + repeat(60, func(i int) string {
			return fmt.Sprintf(`"d%d":`, i) + strings.ReplaceAll(form, "NEXT", fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i+1))
		}) + `,"d60":{"type":"string"}}}`
	}
	items := repeat(6000, func(i int) string { return fmt.Sprintf("[%d]", i) })
	values := `{"x":[` + repeat(200, func(int) string { return "[" + items + "]" }) + `]}`
	for name, c := range map[string]struct{ schema, value string }{
		"any of two":   {twice(`{"anyOf":[NEXT,NEXT]}`), `{"x":1}`},
		"all of two":   {twice(`{"allOf":[NEXT,NEXT]}`), `{"x":1}`},
		"one of two":   {twice(`{"oneOf":[NEXT,NEXT]}`), `{"x":1}`},
		"a condition":  {twice(`{"if":NEXT,"then":NEXT,"else":NEXT}`), `{"x":1}`},
		"a dependency": {twice(`{"dependentSchemas":{"a":NEXT},"allOf":[NEXT]}`), `{"x":{"a":1}}`},
		"a list in a list": {
			twice(`{"anyOf":[{"items":NEXT},{"items":NEXT}]}`),
			`{"x":` + strings.Repeat("[", 60) + "1" + strings.Repeat("]", 60) + "}",
		},
		"itself, twice": {
			`{"properties":{"x":{"$ref":"#"}},"patternProperties":{"x":{"$ref":"#"}}}`,
			strings.Repeat(`{"x":`, 60) + "1" + strings.Repeat("}", 60),
		},
		"a long enumeration": {`{"properties":{"x":{"items":{"items":{"enum":[` + items + `]}}}}}`, values},
		"a slow pattern": {
			`{"properties":{"x":{"pattern":"` + "(a?){1,1000}" + `b"}}}`, `{"x":"` + strings.Repeat("a", 1<<20) + `"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			began := testkit.ProcessorTime()
			warning, err := tool.Check(json.RawMessage(c.schema), json.RawMessage(c.value))
			if warning != "Checking it by its schema takes too long, so it is not checked." || err != nil {
				t.Errorf("got %q, %v", warning, err)
			}
			if took := testkit.ProcessorTime() - began; took > 20*time.Second { // a twentieth of a second by itself
				t.Errorf("it took %v", took)
			}
		})
	}
	t.Run("patterns that are too large to read", func(t *testing.T) {
		schema := `{"patternProperties":{` + repeat(500, func(i int) string {
			return fmt.Sprintf(`"%s%d":{}`, strings.Repeat("(a?){1,1000}", 5), i)
		}) + `}}`
		if warning, err := tool.Check(json.RawMessage(schema),
			json.RawMessage(`{}`)); !strings.Contains(warning, "its patterns are too large") || err != nil {
			t.Errorf("got %q, %v", warning, err)
		}
	})
	t.Run("a large value that fits is checked", func(t *testing.T) {
		schema := `{"properties":{"x":{"items":{"properties":{"name":{"type":"string","pattern":"^[a-z]+$"},"kind":{"enum":["a","b","c"]},"n":{"minimum":0}},"required":["name"]}}}}`
		value := func(last string) string {
			return `{"x":[` + repeat(10_000, func(int) string { return `{"name":"abc","kind":"b","n":1}` }) + `,` + last + `]}`
		}
		if warning, err := tool.Check(json.RawMessage(schema), json.RawMessage(value(`{"name":"abc"}`))); warning != "" ||
			err != nil {
			t.Errorf("got %q, %v", warning, err)
		}
		if _, err := tool.Check(json.RawMessage(schema), json.RawMessage(value(`{"name":"ABC"}`))); err == nil {
			t.Error("what does not fit was not found")
		}
	})
}

func TestSchemasMayUseAllThatTheirDraftsHave(t *testing.T) {
	const draft2019, draft2020 = `"$schema":"https://json-schema.org/draft/2019-09/schema"`,
		`"$schema":"https://json-schema.org/draft/2020-12/schema"`
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"a name": {
			`{"properties":{"a":{"$ref":"#whole"}},"$defs":{"x":{"$anchor":"whole","type":"integer"}}}`, `{"a":"1"}`,
			`a: expected integer, got "1"`,
		},
		"4: a name": {
			`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"$ref":"#whole"}},"definitions":{"x":{"id":"#whole","type":"integer"}}}`,
			`{"a":"1"}`, `a: expected integer, got "1"`,
		},
		"7: a name": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#whole"}},"definitions":{"x":{"$id":"#whole","type":"integer"}}}`,
			`{"a":"1"}`, `a: expected integer, got "1"`,
		},
		"an address of its own": {
			`{"$id":"https://x/y","properties":{"a":{"$ref":"whole.json"}},"$defs":{"x":{"$id":"whole.json","type":"integer"}}}`,
			`{"a":"1"}`, `a: expected integer, got "1"`,
		},
		"an address and a name": {
			`{"properties":{"a":{"$ref":"whole.json#b"}},"$defs":{"x":{"$id":"whole.json","$defs":{"y":{"$anchor":"b","type":"integer"}}}}}`,
			`{"a":"1"}`, `a: expected integer, got "1"`,
		},
		"a place of its own": {
			`{"properties":{"a":{"$ref":"#/components/schemas/title"}},"components":{"schemas":{"title":{"type":"integer"}}}}`,
			`{"a":"1"}`, `a: expected integer, got "1"`,
		},
		"both kinds of definitions": {
			`{"properties":{"a":{"$ref":"#/definitions/x"},"b":{"$ref":"#/$defs/x"}},"definitions":{"x":{"type":"integer"}},"$defs":{"x":{"type":"null"}}}`,
			`{"a":"1","b":1}`, "a: expected integer, got \"1\"\nb: expected null, got 1",
		},
		"a name that is looked up": {
			`{` + draft2020 +
				`,"$id":"numbers","$ref":"list","$defs":{"n":{"$dynamicAnchor":"item","type":"number"},"list":{"$id":"list","properties":{"a":{"items":{"$dynamicRef":"#item"}}},"$defs":{"any":{"$dynamicAnchor":"item"}}}}}`,
			`{"a":[1,"2"]}`, `a.1: expected number, got "2"`,
		},
		"a name that is looked up for names": {
			`{` + draft2020 +
				`,"$id":"short","$ref":"map","$defs":{"n":{"$dynamicAnchor":"name","maxLength":2},"map":{"$id":"map","propertyNames":{"$dynamicRef":"#name"},"$defs":{"any":{"$dynamicAnchor":"name"}}}}}`,
			`{"ab":1,"abc":1}`, `abc: no parameter may have this name`,
		},
		"itself from outside": {
			`{` + draft2019 +
				`,"$id":"strict","$recursiveAnchor":true,"$ref":"tree","unevaluatedProperties":false,"$defs":{"tree":{"$id":"tree","$recursiveAnchor":true,"properties":{"a":{"items":{"$recursiveRef":"#"}}}}}}`,
			`{"a":[{"b":1}]}`, `a.0.b: there is no such parameter`,
		},
		"the drafts' own schemas": {
			`{"properties":{"a":{"$ref":"http://json-schema.org/draft-07/schema#"}}}`, `{"a":{"minLength":-1}}`,
			`a.minLength: expected at least 0, got -1`,
		},
		"what nothing looked at": {
			`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`,
			`b: there is no such parameter`,
		},
		"what a mistake hides": {
			`{"allOf":[{"properties":{"a":{"type":"null"},"b":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`,
			`a: expected null, got 1`,
		},
		"cents of a sum": {
			`{"properties":{"a":{"not":{"multipleOf":0.01}}}}`, `{"a":19.99}`, `a: is of the kind that it must not be`,
		},
		"a step past doubles": {
			`{"properties":{"a":{"maximum":9007199254740992}}}`, `{"a":9007199254740993}`,
			`a: expected at most 9007199254740992, got 9007199254740993`,
		},
		"a bound past integers": {`{"properties":{"a":{"maxLength":18446744073709551615}}}`, `{"a":"b"}`, ``},
		"a format is a remark": {
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"email"}}}`, `{"a":"b"}`, ``,
		},
		"as for a deep one": {
			`{"properties":{"a":{"anyOf":[{"type":"null"},{"type":"object","required":["b"]}]}}}`, `{"a":{}}`,
			"a.b: is missing\na: fits none of its 2 forms, got {}",
		},
		"no such name": {`{"propertyNames":{"pattern":"^a"}}`, `{"b":1}`, `b: no parameter may have this name`},
		"no such name of a part": {
			`{"additionalProperties":{"propertyNames":{"pattern":"^x"}}}`, `{"a":{"y":1},"b":{"x":1},"c":{"x":1},"d":{"x":1}}`,
			`a.y: no parameter may have this name`,
		},
	} {
		if got := checked(t, c.schema, c.arguments); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatGeneratorsWriteBesideTheDraftsIsNoReason(t *testing.T) {
	for name, odd := range map[string]string{
		"nothing":               `"enum":null,"minimum":null,"pattern":null,"items":null,"required":null,"description":null`,
		"examples":              `"title":5,"examples":"x","readOnly":"no","$comment":[],"format":1`,
		"twice":                 `"required":["n","n"],"enum":[{"n":"x"},{"n":"x"}]`,
		"empty lists":           `"required":[],"allOf":[],"anyOf":[]`,
		"another draft's items": `"items":[{"type":"string"}]`,
	} {
		for _, draft := range []string{"", `"$schema":"http://json-schema.org/draft-07/schema#",`} {
			schema := `{` + draft + `"properties":{"a":{"properties":{"n":{"type":"integer"}},` + odd + `}}}`
			if got := checked(t, schema, `{"a":{"n":"x"}}`); got != `a.n: expected integer, got "x"` {
				t.Errorf("%s: %s: got %q", name, schema, got)
			}
		}
	}
}

func TestALineIsBounded(t *testing.T) {
	var countries []string
	for i := range 3000 {
		countries = append(countries, fmt.Sprintf(`"country %d"`, i))
	}
	got := checked(t, `{"properties":{"a":{"enum":[`+strings.Join(countries, ",")+`]}}}`, `{"a":1}`)
	if !strings.HasPrefix(got, `a: expected one of "country 0", `) || !strings.HasSuffix(got, `"country 99", …, got 1`) {
		t.Errorf("got %s", got)
	}
	got = checked(t, `{"properties":{"a":{"pattern":"`+strings.Repeat("x", 3000)+`"}}}`, `{"a":"y"}`)
	if !strings.HasPrefix(got, `a: expected a text that matches xxx`) || utf8.RuneCountInString(got) != 2000 ||
		!strings.HasSuffix(got, "x…") {
		t.Errorf("got %d characters: %.100s", utf8.RuneCountInString(got), got)
	}
}

// What is half of a character to the gate, Python takes in a path for a byte of another one.
func TestAttackHalvesOfCharactersMakeATextThatOnlyAPluginReads(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	for text, want := range map[string]string{
		`Caf\udcc3\udca9`: `a text holds \udcc3, which is half of a character`, `\ud83d`: `\ud83d`, `\uDE00\ud83d`: `\uDE00`,
		`\ud83d\n\ude00`: `\ud83d`, `\ud83d\ud83d\ude00`: `\ud83d`, "Caf\xe9": "bytes that are no UTF-8",
		"\xed\xb3\x83": "bytes that are no UTF-8",
		`Café`:         "", `Caf\u00e9`: "", `\ud83d\ude00`: "", `\\udcc3`: "", `\\\ud83d\ude00\\`: "", `\ufffd`: "", `\"\\`: "",
	} {
		for _, arguments := range []string{`{"path":"` + text + `"}`, `{"in":[{"` + text + `":1}]}`} {
			for _, of := range []tool.Tool{{Parameters: object}, {Convention: tool.Convention{Loose: true}}} {
				_, err := of.CheckArguments(json.RawMessage(arguments))
				if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", arguments, err, want)
				}
			}
		}
	}
}
