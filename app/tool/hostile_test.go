package tool_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"runtime"
	"strings"
	"testing"
	"time"

	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// many joins n texts that format makes of their number.
func many(n int, separator string, format func(i int) string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = format(i)
	}
	return strings.Join(parts, separator)
}

// same joins n times text.
func same(n int, text string) string {
	return many(n, ",", func(int) string { return text })
}

// chain is n definitions, a0 to an, each of which form makes of its name and the
// next's; the last is last.
func chain(n int, last, form string) string {
	return `"$defs":{` + many(n, ",", func(i int) string {
		next := fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)
		return fmt.Sprintf(`"a%d":`, i) + strings.ReplaceAll(form, "NEXT", next)
	}) + fmt.Sprintf(`,"a%d":%s}`, n, last)
}

// bracketed is a list of n different items, lists of the same ones that are
// bracketed differently.
func bracketed(n int) string {
	random := rand.New(rand.NewSource(1))
	var tree func(leaves int) string
	tree = func(leaves int) string {
		if leaves == 1 {
			return "1"
		}
		left := 1 + random.Intn(leaves-1)
		return "[" + tree(left) + "," + tree(leaves-left) + "]"
	}
	return "[" + many(n, ",", func(int) string { return tree(20) }) + "]"
}

// What plugins say of their tools and what models write for them is an
// attacker's: whatever it is, a check ends soon and takes little.
func TestNoSchemaAndNoArgumentsTakeLong(t *testing.T) {
	const (
		deep     = 9990
		patterns = "[Its schema cannot be used: its patterns are too large.]"
	)
	tooLong := "[" + "Checking it by its schema takes too long, so it is not checked." + "]"
	nested := strings.Repeat("[", deep) + strings.Repeat("]", deep)
	ofA := func(schema string) string { return `{"properties":{"a":{"$ref":"#/$defs/a0"}},` + schema + `}` }
	colliding := bracketed(50_000)
	for name, c := range map[string]struct{ schema, arguments, want string }{
		"forms by the power of two": {ofA(chain(60, `{"type":"string"}`, `{"allOf":[NEXT,NEXT]}`)), `{"a":1}`, tooLong},
		"failing forms":             {ofA(chain(60, `{"type":"string"}`, `{"anyOf":[NEXT,NEXT]}`)), `{"a":1}`, tooLong},
		"forms of draft 7": {
			`{"$schema":"http://json-schema.org/draft-07/schema#",` +
				ofA(chain(60, `{"minimum":1}`, `{"oneOf":[NEXT,{"not":NEXT}]}`))[1:],
			`{"a":1}`, tooLong,
		},
		"forms of each part": {
			ofA(`"$defs":{"a0":{"anyOf":[{"items":{"$ref":"#/$defs/a0"},"minItems":1},{"items":{"$ref":"#/$defs/a0"},"minItems":1}]}}`),
			`{"a":` + strings.Repeat("[", 60) + strings.Repeat("]", 60) + `}`, tooLong,
		},
		"a long way to each item": {ofA(chain(4000, `{}`, `NEXT`)), `{"a":[` + same(20, `[]`) + `]}`, ""},
		"a long way at every depth": {
			ofA(chain(4000, `{"items":{"$ref":"#/$defs/a0"}}`, `NEXT`)), `{"a":` + nested + `}`, tooLong,
		},
		"a mistake at every depth": {
			ofA(`"$defs":{"a0":{"minItems":2,"items":{"$ref":"#/$defs/a0"}}}`), `{"a":` + nested + `}`, tooLong,
		},
		"arguments that are deep": {`{}`, `{"a":` + nested + `}`, ""},
		"a deep value of a wrong type": {
			`{"properties":{"a":{"type":"string"}}}`, `{"a":` + nested + `}`,
			"a: expected string, got " + strings.Repeat("[", 39) + "…",
		},
		"items that hash alike": {`{"properties":{"a":{"uniqueItems":true}}}`, `{"a":` + colliding + `}`, tooLong},
		"a choice of thousands": {
			`{"properties":{"a":{"items":{"enum":[` + many(9000, ",", func(i int) string { return fmt.Sprint(i) }) + `]}}}}`,
			`{"a":[` + same(1_000_000, "9e3") + `]}`, tooLong,
		},
		"thousands that are missing": {
			`{"properties":{"a":{"items":{"required":[` + many(9000, ",",
				func(i int) string { return fmt.Sprintf(`"p%d"`, i) }) + `]}}}}`,
			`{"a":[` + same(100_000, "{}") + `]}`, tooLong,
		},
		"patterns of names": {
			`{"patternProperties":{` + many(200, ",", func(i int) string { return fmt.Sprintf(`".*%d$":{}`, i) }) + `}}`,
			`{` + many(20_000, ",", func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + `}`, tooLong,
		},
		"a pattern of a text": {
			`{"properties":{"a":{"pattern":"^(a|b|ab|ba|aab|bba|abab|baba)*c$"}}}`,
			`{"a":"` + strings.Repeat("ab", 4<<20) + `"}`, tooLong,
		},
		"a pattern of many steps": {
			`{"properties":{"a":{"pattern":"` + strings.Repeat(".{0,1000}", 100) + `x"}}}`,
			`{"a":"` + strings.Repeat("ab", 4<<20) + `"}`, patterns,
		},
		"patterns of many steps": {`{"properties":{` + many(60, ",", func(i int) string {
			return fmt.Sprintf(`"p%d":{"pattern":"%s%d"}`, i, strings.Repeat(".{0,1000}", 100), i)
		}) + `}}`, `{}`, patterns},
		"a pattern that tries all": {
			`{"properties":{"a":{"pattern":"^(a+)+$"}}}`, `{"a":"` + strings.Repeat("a", 10_000) + `b"}`,
			`a: expected a text that matches ^(a+)+$, got "` + strings.Repeat("a", 38) + "…",
		},
		"megabytes of definitions": {
			`{"$defs":{` + many(200_000, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"type":"string"}`, i) }) + `}}`,
			`{}`, "[Its schema cannot be used: it has more than 5000 parts.]",
		},
		"as many as may be": {
			`{"$defs":{` + many(4990, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"type":"string"}`, i) }) + `}}`, `{}`,
			"",
		},
		"references to odd places": {
			`{"odd":{` + many(1000, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"type":"string"}`, i) }) +
				`},"allOf":[` + many(1000, ",", func(i int) string { return fmt.Sprintf(`{"$ref":"#/odd/d%d"}`, i) }) + `]}`,
			`{}`, "expected string, got {}",
		},
		"one place by many numbers": {
			`{"odd":[{"properties":{` + many(3000, ",", func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}],"allOf":[` +
				many(1500, ",", func(i int) string { return `{"$ref":"#/odd/` + strings.Repeat("0", i+1) + `"}` }) + `]}`,
			`{}`, "[Its schema cannot be used: it refers to #/odd/00, which is not there.]",
		},
		"one draft by many addresses": {
			`{"allOf":[` + many(2000, ",", func(i int) string {
				return fmt.Sprintf(`{"$ref":"a%d://json-schema.org/schema"}`, i)
			}) + `]}`,
			`{}`, "[Its schema cannot be used: it refers to a0://json-schema.org/schema, which Conclave does not open.]",
		},
		"a draft that is referred to often": {
			`{"allOf":[` + many(1000, ",", func(i int) string {
				return `{"$ref":"` + []string{"http", "https"}[i%2] + `://json-schema.org/draft/2020-12/schema#` + `"}`
			}) + `]}`,
			`{}`, "",
		},
		"a long name above many": {
			`{"properties":{"` + strings.Repeat("x", 1<<20) + `":{"properties":{` +
				many(4000, ",", func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) }) + `}}}}`,
			`{}`, "[Its schema cannot be used: it has names that are too long.]",
		},
		"a long address above many": {
			`{"$id":"https://x/` + strings.Repeat("x", 1<<20) + `/","$defs":{` +
				many(2000, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"$id":"x%d"}`, i, i) }) + `}}`,
			`{}`, "[Its schema cannot be used: its address https://x/" + strings.Repeat("x", 29) + "… is longer than 2000 characters.]",
		},
		"thousands that another needs": {
			`{"properties":{"a":{"items":{"dependentRequired":{"a":[` +
				many(9000, ",", func(i int) string { return fmt.Sprintf(`"p%d"`, i) }) + `]}}}}}`,
			`{"a":[` + same(100_000, `{"a":1}`) + `]}`, tooLong,
		},
		"a long name that another needs": {
			`{"allOf":[` + same(2000, `{"$ref":"#/$defs/x"}`) + `],"$defs":{"x":{"dependentRequired":{"a":["` +
				strings.Repeat("x", 1<<20) + `"]}}}}`,
			`{"a":1}`, `dependentRequired["a"]: missing properties ["` + strings.Repeat("x", 38) + "…]",
		},
		"a long pattern shown often": {
			`{"properties":{"a":{"allOf":[` + same(500, `{"$ref":"#/$defs/x"}`) + `]}},"$defs":{"x":{"pattern":"^[` +
				strings.Repeat("x", 1<<20) + `]$"}}}`,
			`{"a":"b"}`, "a: expected a text that matches ^[" + strings.Repeat("x", 1965) + "…",
		},
		"steps of hundreds of digits": {
			`{"properties":{"a":{"items":{"multipleOf":1e-400}}}}`, `{"a":[` + same(1_000_000, "1e400") + `]}`, tooLong,
		},
		"addresses": {
			`{"$defs":{` + many(3000, ",", func(i int) string {
				return fmt.Sprintf(`"d%d":{"$id":"x%d","$anchor":"y"}`, i, i)
			}) + `}}`,
			`{}`, "",
		},
		"names": {
			`{"$defs":{` + many(3000, ",", func(i int) string { return fmt.Sprintf(`"d%d":{"$dynamicAnchor":"x%d"}`, i, i) }) +
				`}}`,
			`{}`, "",
		},
		"a schema that is deep": {
			strings.Repeat(`{"not":`, deep) + `{}` + strings.Repeat(`}`, deep), `{}`,
			"[Its schema cannot be used: it is nested more than 100 deep.]",
		},
		"a large value shown often": {
			`{"properties":{"a":{"allOf":[` + many(2000, ",", func(i int) string {
				return fmt.Sprintf(`{"type":"string","minLength":%d}`, i)
			}) + `]}}}`,
			`{"a":{` + many(100_000, ",", func(i int) string { return fmt.Sprintf(`"n%d":1`, i) }) + `}}`,
			"a: expected string, got {…}",
		},
		"a list shown often": {
			`{"properties":{"a":{"allOf":[` + same(2000, `{"type":"string"}`) + `]}}}`,
			`{"a":[` + same(50, `"`+strings.Repeat("x", 100_000)+`"`) + `]}`,
			`a: expected string, got ["` + strings.Repeat("x", 37) + "…",
		},
		"a name that is long": {
			`{"properties":{"a":{"additionalProperties":{"type":"string"}}}}`, `{"a":{"` + strings.Repeat("x", 8<<20) + `":1}}`,
			"a." + strings.Repeat("x", 199) + "…: expected string, got 1",
		},
		"none of a million": {
			`{"properties":{"a":{"contains":{"type":"string"}}}}`, `{"a":[` + same(1_000_000, "1") + `]}`, tooLong,
		},
		"what nothing looked at": {
			`{"allOf":[` + many(1500, ",", func(i int) string { return fmt.Sprintf(`{"properties":{"p%d":true}}`, i) }) +
				`],"unevaluatedProperties":false}`,
			`{` + many(1500, ",", func(i int) string { return fmt.Sprintf(`"p%d":1`, i) }) + `}`, tooLong,
		},
		"references at run time": {
			`{"$dynamicAnchor":"x","allOf":[{"$defs":{"b":{"$dynamicAnchor":"y"}}}],"properties":{"a":{"$dynamicRef":"#x"}}}`,
			strings.Repeat(`{"a":`, deep) + `{}` + strings.Repeat(`}`, deep), tooLong,
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := testkit.ProcessorTime()
		warning, err := tool.Check(json.RawMessage(c.schema), json.RawMessage(c.arguments))
		took := testkit.ProcessorTime() - start
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
		got := ""
		if err != nil {
			got = err.Error()
		} else if warning != "" {
			got = "[" + warning + "]"
		}
		if got != c.want {
			t.Errorf("%s: got %.300q, want %q", name, got, c.want)
		}
		if took > 30*time.Second || allocated > 1<<10 || after.StackSys > 256<<20 {
			t.Errorf("%s took %s and %d MiB", name, took, allocated)
		}
		t.Logf("%-30s %8s %5d MiB", name, took.Round(time.Millisecond), allocated)
	}
}

func TestNoJSONBecomesFarLongerWhereAPersonReadsIt(t *testing.T) {
	nested := func(n int, open, inner, end string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for name, raw := range map[string]string{
		"objects in each other":  nested(9000, `{"a":`, "1", "}"),
		"lists in each other":    nested(9000, "[", "", "]"),
		"a long list far inside": nested(90, "[", strings.Repeat("1,", 9000)+"1", "]"),
		"brackets behind a text": `["\\",` + nested(9000, "[", "", "]") + "]",
	} {
		if got := tool.Indented([]byte(raw)); got != raw {
			t.Errorf("%s: %d bytes become %d", name, len(raw), len(got))
		}
	}
	for raw, want := range map[string]string{
		`{"a":[1,{"b":"[[[[\"[["}],"c":{}}`: "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"[[[[\\\"[[\"\n    }\n  ],\n  \"c\": {}\n}",
		"[":                                 "[",
	} {
		if got := tool.Indented([]byte(raw)); got != want {
			t.Errorf("%s is shown as %s", raw, got)
		}
	}
	// A schema as a tool of forty arguments has it.
	plain := `{"type":"object","properties":{` + strings.Repeat(`"x":{"type":"string","enum":["a","b"]},`, 40) + `"y":{}}}`
	if !strings.Contains(tool.Indented([]byte(plain)), "\n") {
		t.Error("a usual schema is not indented")
	}
}

func TestAttackWordsHideInAnnotationsAndInValuesOfASchema(t *testing.T) {
	const hides = "pay\\u202e \\u001b[31mnow"
	got := tool.Normal(tool.Tool{
		Name: "x", Annotations: json.RawMessage(`{"title":"` + hides + `","conclave/guide":"` + hides + strings.Repeat("g", 9000) + `"}`),
		Parameters: json.RawMessage(`{"type":"object","properties":{"q":{"enum":["` + hides + `"],"title":"` + hides + `"}}}`),
	})
	if _, n := tool.Strip(string(got.Annotations)); n > 0 || strings.Contains(string(got.Annotations), "u202e") {
		t.Errorf("annotations: %s", got.Annotations)
	}
	if guide := tool.GuideIn([]tool.Tool{got}); len(guide) > 4<<10 || !strings.HasPrefix(guide, "pay now") {
		t.Errorf("a guide of %d bytes: %.20q", len(guide), guide)
	}
	if !strings.Contains(string(got.Parameters), hides) || len(got.Marked) != 2 || len(got.Warnings) != 2 {
		t.Errorf("parameters %s, marked %q, warnings %q", got.Parameters, got.Marked, got.Warnings)
	}
	if again := tool.Normal(tool.Tool{
		Name: got.Name, Title: got.Title, Annotations: got.Annotations, Parameters: got.Parameters, Warnings: got.Warnings,
		Marked: got.Marked,
	}); len(again.Warnings) != 2 || len(again.Marked) != 2 || again.Digest != got.Digest {
		t.Errorf("once more: %+v", again)
	}
	t.Log("stopped by: annotations are cleaned, and hidden characters in values are marked before the approval")
}
