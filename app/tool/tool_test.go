package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/tool"
)

type echo struct{ plugin string }

func (e echo) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	return tool.Result{
		Status: chat.CallOK, Content: []chat.Part{{Kind: chat.PartText, Text: e.plugin + ":" + c.Tool.Name}},
	}, nil
}

func named(names ...string) []tool.Tool {
	tools := make([]tool.Tool, len(names))
	for i, n := range names {
		tools[i] = tool.Tool{Name: n}
	}
	return tools
}

func TestSP37WireNamesAreLegalUniqueAndLeadBack(t *testing.T) {
	r := tool.NewRegistry()
	long := strings.Repeat("x", 64)
	over := strings.Repeat("y", 65)
	r.Publish("a", named("word_count", "same", "a.b", "a_b", "b__same", long, over, "naïve", "x y"), echo{"a"})
	r.Publish("b", named("same", "a.b", "__", "-"), echo{"b"})
	r.Publish(strings.Repeat("p", 70), named("same", over), echo{"p"})
	set := r.Set()
	pattern := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]bool{}
	for _, tl := range set.Tools() {
		if !pattern.MatchString(tl.WireName) {
			t.Errorf("%s: the wire name %q is not legal", tl.ID(), tl.WireName)
		}
		if seen[tl.WireName] {
			t.Errorf("%s: the wire name %q is taken twice", tl.ID(), tl.WireName)
		}
		seen[tl.WireName] = true
		back, ok := set.ByWire(tl.WireName)
		if !ok || back.ID() != tl.ID() {
			t.Errorf("%q leads to %q, want %q", tl.WireName, back.ID(), tl.ID())
		}
		invoker, ok := set.Invoker(tl.ID())
		if !ok {
			t.Fatalf("%s has no invoker", tl.ID())
		}
		got, _ := invoker.Call(t.Context(), tool.Call{Tool: back})
		if want := invoker.(echo).plugin + ":" + tl.Name; chat.TextOf(got.Content) != want {
			t.Errorf("%q ran %q, want %q", tl.WireName, chat.TextOf(got.Content), want)
		}
	}
	for id, want := range map[string]string{
		"a:word_count": "word_count", "a:same": "a__same", "a:b__same": "a__b__same", "b:same": "b__same",
		"a:a_b": "a_b", "a:" + long: long,
		"b:-": "-",
	} {
		if tl, _ := set.ByID(id); tl.WireName != want {
			t.Errorf("%s is called %q, want %q", id, tl.WireName, want)
		}
	}
}

func TestWireNamesAndOrderDoNotDependOnWhoCameFirst(t *testing.T) {
	list := func(plugins ...string) []string {
		r := tool.NewRegistry()
		for _, p := range plugins {
			r.Publish(p, named("same", "only_"+p, "b", "a"), echo{p})
		}
		var out []string
		for _, tl := range r.Set().Tools() {
			out = append(out, tl.ID()+"="+tl.WireName)
		}
		return out
	}
	got, want := list("c", "a", "b"), list("a", "b", "c")
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if want[0] != "a:same=a__same" || want[1] != "a:only_a=only_a" || want[2] != "a:b=a__b" {
		t.Errorf("a plugin's own order is not kept: %v", want)
	}
}

func TestASetStaysAsItWasWhenTheRegistryMovesOn(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("p", named("one", "two"), echo{"old"})
	first := r.Set()
	r.Publish("p", named("two"), echo{"new"})
	second := r.Set()
	if first.Generation() != 1 || second.Generation() != 2 || first.Len() != 2 || second.Len() != 1 {
		t.Fatalf("generations %d, %d with %d, %d tools", first.Generation(), second.Generation(), first.Len(), second.Len())
	}
	for set, want := range map[*tool.Set]string{first: "old:two", second: "new:two"} {
		invoker, _ := set.Invoker("p:two")
		two, _ := set.ByID("p:two")
		if got, _ := invoker.Call(t.Context(), tool.Call{Tool: two}); chat.TextOf(got.Content) != want {
			t.Errorf("generation %d ran %q, want %q", set.Generation(), chat.TextOf(got.Content), want)
		}
	}
	sub := first.Filter(func(t tool.Tool) bool { return t.Name == "one" })
	if _, there := sub.ByWire("two"); there || sub.Generation() != 1 || sub.Len() != 1 {
		t.Errorf("the subset has generation %d and %d tools", sub.Generation(), sub.Len())
	}
	sub.Tools()[0].Name = "changed"
	if got := sub.Tools()[0].Name; got != "one" {
		t.Errorf("a reader changed the set: %q", got)
	}
	r.Unpublish("p")
	third := r.Set()
	r.Unpublish("p")
	if again := r.Set(); again != third || third.Generation() != 3 {
		t.Errorf("generations %d and %d, with nothing left to remove", third.Generation(), again.Generation())
	}
	if _, ok := first.Invoker("p:one"); !ok {
		t.Error("the old set lost its invoker")
	}
}

func TestARepeatedNameCountsOnceWithItsLastDefinition(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("p",
		[]tool.Tool{{Name: "a", Description: "old"}, {Name: "b"}, {Name: ""}, {Name: "a", Description: "new"}}, echo{"p"})
	tools := r.Set().Tools()
	if len(tools) != 2 || tools[0].Description != "new" || tools[1].Name != "b" {
		t.Errorf("got %+v", tools)
	}
	if tools[0].Title != "a" || string(tools[0].Parameters) != `{"type":"object","properties":{}}` ||
		tools[0].Visibility != tool.Direct || tools[0].Plugin != "p" {
		t.Errorf("not filled in: %+v", tools[0])
	}
}

func TestOfferedHoldsAllButHiddenTools(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("p",
		[]tool.Tool{{Name: "a"}, {Name: "b", Visibility: tool.Hidden}, {Name: "c", Visibility: tool.Deferred}}, echo{"p"})
	if offered := r.Set().ForModel().Tools(); len(offered) != 2 || offered[0].Name != "a" || offered[1].Name != "c" {
		t.Errorf("offered %+v", offered)
	}
}

// The examples of RFC 8785, sections 3.2.2 to 3.2.4, and appendix B.
func TestCanonicalFollowsRFC8785(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"3.2.2": {
			`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
			`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
		},
		"3.2.3 order by UTF-16": {
			`{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}`,
			"{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u0080\":\"Control\",\"ö\":\"Latin Small Letter O With " +
				"Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\ufb33\":\"Hebrew Letter Dalet With Dagesh\"}",
		},
		"nested and blank":   {" { \"b\" : [ ] , \"a\" : { } } ", `{"a":{},"b":[]}`},
		"last name counts":   {`{"a":1,"a":2}`, `{"a":2}`},
		"control escapes":    {`"\b\t\n\f\r\u001f\u007f"`, "\"\\b\\t\\n\\f\\r\\u001f\u007f\""},
		"slash and html":     {`"<\/&>"`, `"</&>"`},
		"line separators":    {`"\u2028"`, "\"\u2028\""},
		"zero":               {`-0`, `0`},
		"smallest":           {`5e-324`, `5e-324`},
		"largest":            {`1.7976931348623157e308`, `1.7976931348623157e+308`},
		"2^53":               {`9007199254740992`, `9007199254740992`},
		"2^68":               {`295147905179352830000`, `295147905179352830000`},
		"1e21":               {`1e21`, `1e+21`},
		"just below 1e21":    {`999999999999999900000`, `999999999999999900000`},
		"1e23":               {`1e23`, `1e+23`},
		"9.999999999e22":     {`9.999999999999997e22`, `9.999999999999997e+22`},
		"1e-6":               {`0.000001`, `0.000001`},
		"1e-7":               {`0.0000001`, `1e-7`},
		"negative":           {`-333333333.3333333`, `-333333333.3333333`},
		"round half to even": {`1424953923781206.25`, `1424953923781206.2`},
	} {
		got, err := tool.Canonical([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("%s:\n got %s %v\nwant %s", name, got, err, c.want)
		}
	}
	for _, bad := range []string{``, `{`, `1 2`, `1e999`, `nan`} {
		if got, err := tool.Canonical([]byte(bad)); err == nil {
			t.Errorf("%q became %s", bad, got)
		}
	}
}

func TestValuesAreTheSameToEachDigitOfTheirNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`[1]`, `[1.0]`, true},
		{`[1000]`, `[1e3]`, true},
		{`[0]`, `[-0.0]`, true},
		{`[0.001]`, `[1E-3]`, true},
		{`[12345678901234567]`, `[12345678901234568]`, false},
		{`[1]`, `[1.00000000000000000001]`, false},
		{`[1e999]`, `[1e999]`, true},
		{`[1e999]`, `[1e998]`, false},
		{`[1e99999999999999999999]`, `[0]`, false},
		{`[-1]`, `[1]`, false},
		{`{"b":1,"a":2}`, `{"a":2.0,"b":1}`, true},
	} {
		if got := tool.SameJSON([]byte(c.a), []byte(c.b)); got != c.same {
			t.Errorf("%s and %s are the same: %v", c.a, c.b, got)
		}
	}
}

func FuzzCanonicalIsStable(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e10,"\u20ac"]}`, `-0.0`, `"\ud83d\ude00"`, `{"":{"":[]}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		once, err := tool.Canonical([]byte(in))
		if err != nil {
			return
		}
		twice, err := tool.Canonical(once)
		if err != nil || string(twice) != string(once) {
			t.Errorf("%q: %q became %q, %v", in, once, twice, err)
		}
	})
}

func TestTheDigestIsOfTheDefinitionAlone(t *testing.T) {
	base := tool.Tool{
		Plugin: "p", Name: "n", Title: "T", Description: "d",
		Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`),
	}
	digest := tool.Normal(base).Digest
	if len(digest) != 64 {
		t.Fatalf("digest %q", digest)
	}
	same := map[string]func(*tool.Tool){
		"plugin, line, warnings": func(t *tool.Tool) {
			t.Plugin, t.Line, t.Warnings, t.Dialect = "q", 7, []string{"odd"}, "mcp"
		},
		"order and blanks": func(t *tool.Tool) {
			t.Parameters = json.RawMessage(`{ "properties": {"a": {"type":"integer"}}, "type":"object" }`)
		},
		"hidden characters": func(t *tool.Tool) { t.Description = "d\u200b" },
	}
	for name, change := range same {
		other := base
		change(&other)
		if got := tool.Normal(other).Digest; got != digest {
			t.Errorf("%s changed the digest", name)
		}
	}
	different := map[string]func(*tool.Tool){
		"name":        func(t *tool.Tool) { t.Name = "m" },
		"title":       func(t *tool.Tool) { t.Title = "U" },
		"description": func(t *tool.Tool) { t.Description = "e" },
		"parameters":  func(t *tool.Tool) { t.Parameters = json.RawMessage(`{"type":"object"}`) },
		"annotations": func(t *tool.Tool) { t.Annotations = json.RawMessage(`{"readOnlyHint":true}`) },
		"no schema":   func(t *tool.Tool) { t.Parameters = json.RawMessage(`{"type":`) },
	}
	for name, change := range different {
		other := base
		change(&other)
		if got := tool.Normal(other).Digest; got == digest {
			t.Errorf("%s did not change the digest", name)
		}
	}
	if again := tool.Normal(tool.Normal(base)); again.Digest != digest || len(again.Warnings) != 0 {
		t.Errorf("Normal of a normal tool differs: %+v", again)
	}
}

func TestHiddenTextIsRemovedFromWhatAModelReads(t *testing.T) {
	tags := ""
	for _, r := range "rm -rf" {
		tags += string(r + 0xe0000)
	}
	for name, c := range map[string]struct {
		in, want string
		removed  int
	}{
		"plain":               {"Counts words.\n\tQuickly.", "Counts words.\n\tQuickly.", 0},
		"other scripts":       {"Zählt Wörter · 数える · שלום", "Zählt Wörter · 数える · שלום", 0},
		"tags":                {"Counts" + tags + " words", "Counts words", 6},
		"bidi":                {"a\u202eb\u2066c\u2069\u200f", "abc", 4},
		"zero width":          {"a\u200bb\ufeffc\u2060d\u00ade", "abcde", 4},
		"colour":              {"\x1b[31mred\x1b[0m", "red", 9},
		"link":                {"\x1b]8;;http://x\x1b\\text\x1b]8;;\x07", "text", 21},
		"eight-bit CSI":       {"a\u009b2Jb", "ab", 3},
		"controls":            {"a\x00b\x08c\x7f", "abc", 3},
		"unended sequence":    {"a\x1b]0;title\nb", "a\nb", 9},
		"lone escape":         {"a\x1b", "a", 1},
		"line ends":           {"a\r\nb\rc", "a\nb\nc", 1},
		"emoji family":        {"👨‍👩‍👧 ❤️ 1️⃣", "👨‍👩‍👧 ❤️ 1️⃣", 0},
		"joiner in a word":    {"pass\u200dword", "password", 1},
		"Persian non-joiner":  {"می\u200cخواهم", "می\u200cخواهم", 0},
		"variation selectors": {"a\ufe0f\U000e0110b", "ab", 2},
		"filler":              {"a\u3164b\u115f", "ab", 2},
		"not UTF-8":           {"a\xffb", "a\ufffdb", 0},
	} {
		got, removed := tool.Strip(c.in)
		if got != c.want || removed != c.removed {
			t.Errorf("%s: got %q, %d, want %q, %d", name, got, removed, c.want, c.removed)
		}
		if clean, _ := tool.Clean(c.in); clean != c.want {
			t.Errorf("%s: Clean gave %q, want %q", name, clean, c.want)
		}
	}
	if got, n := tool.Clean("a" + strings.Repeat(" ", 300) + "b" + strings.Repeat("\n", 50) +
		"c\n\n\nd"); got != "a b\n\nc\n\n\nd" || n != 299+48 {
		t.Errorf("padding: got %q, %d", got, n)
	}
	for name, pad := range map[string]string{
		"no-break spaces": "\u00a0", "em spaces": "\u2003", "figure spaces": "\u2007", "Ogham": "\u1680", "wide": "\u3000",
		"Braille": "\u2800", "tabs": "\t", "mixed": " \u2003\t\u00a0", "lines with blanks": "\n ", "wide lines": "\u3000\n\t",
	} {
		got, n := tool.Clean("First." + strings.Repeat(pad, 3000) + "Then.")
		if len(got) > 40 || n < 2990 || !strings.HasPrefix(got, "First.") || !strings.HasSuffix(got, "Then.") {
			t.Errorf("%s: got %q, %d", name, got, n)
		}
	}
	const code = "Runs:\n\n\tif x {\n\t\t\treturn\u00a01\n\t}\n\n|　a　|　b　|"
	if got, n := tool.Clean(code); got != code || n != 0 {
		t.Errorf("code: got %q, %d", got, n)
	}
	for _, r := range "\U00013430\U0001343f\U0001d159\u2064\U000e0041\ufff9\u180e\u061c" {
		if got, n := tool.Strip("a" + string(r) + "b"); got != "ab" || n != 1 {
			t.Errorf("%U: got %q, %d", r, got, n)
		}
	}
	for _, r := range "\u0600\u06dd\u0e33\u0300\u20dd€ﬀ☃" {
		if got, n := tool.Strip("a" + string(r) + "b"); n != 0 {
			t.Errorf("%U is taken out: %q", r, got)
		}
	}
}

func TestASchemasTextsAreCleanedAndNothingElse(t *testing.T) {
	raw := `{"type": "object", "properties":{"b":{"description":"one\u200b two","default":"x\u200b","enum":["\u200b"]},"a":{"title":"t\u202e"},"description":{"type":"string","description":"d"}}}`
	want := `{"type": "object", "properties":{"b":{"description":"one two","default":"x\u200b","enum":["\u200b"]},"a":{"title":"t"},"description":{"type":"string","description":"d"}}}`
	got := tool.Normal(tool.Tool{Name: "n", Parameters: json.RawMessage(raw)})
	if string(got.Parameters) != want {
		t.Errorf("got  %s\nwant %s", got.Parameters, want)
	}
	if got.Hidden != 2 || len(got.Warnings) != 2 || got.Warnings[0] != "2 hidden characters were removed from its texts." {
		t.Errorf("hidden %d, warnings %q", got.Hidden, got.Warnings)
	}
	if again := tool.Normal(got); again.Hidden != 2 || len(again.Warnings) != 2 {
		t.Errorf("twice: hidden %d, warnings %q", again.Hidden, again.Warnings)
	}
	broken := `{"description":"a\u200b`
	if got := tool.Normal(tool.Tool{Name: "n", Parameters: json.RawMessage(broken)}); string(got.Parameters) != broken {
		t.Errorf("broken schema became %s", got.Parameters)
	}
}

func TestLF22AllProblemsOfTheArgumentsAreReportedTogether(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer","maximum":100},"unit":{"enum":["c","f"]},"deep":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]},"opt":{"anyOf":[{"type":"integer"},{"type":"null"}]},"list":{"type":"array","items":{"type":"boolean"},"minItems":1}},"required":["text","count"],"additionalProperties":false}`)
	_, err := tool.Check(schema,
		json.RawMessage(`{"count":"abc","unit":"k","deep":{},"opt":"x","list":[1],"colour":"red"}`))
	problems, ok := errors.AsType[*tool.ArgumentError](err)
	if !ok {
		t.Fatalf("got %v", err)
	}
	want := []string{
		`colour: there is no such parameter`,
		`count: expected integer, got "abc"`,
		`deep.x: is missing`,
		`list.0: expected boolean, got 1`,
		`opt: expected integer or null, got "x"`,
		`text: is missing`,
		`unit: expected one of "c", "f", got "k"`,
	}
	if !slices.Equal(problems.Problems, want) {
		t.Errorf("got\n%s\nwant\n%s", err, strings.Join(want, "\n"))
	}
	if _, err := tool.Check(schema, json.RawMessage(`{"text":"a","count":250}`)); err == nil ||
		!strings.Contains(err.Error(), "count: ") || !strings.Contains(err.Error(), "100") {
		t.Errorf("a bound does not hold: %v", err)
	}
	if warning, err := tool.Check(schema, json.RawMessage(`{"text":"a","count":1,"opt":null}`)); warning != "" ||
		err != nil {
		t.Errorf("good arguments: %q, %v", warning, err)
	}
}

func TestLF23ArgumentsThatAreNoObjectAreRefused(t *testing.T) {
	for in, want := range map[string]string{
		`[1]`:              `expected a JSON object, got [1]`,
		`"x"`:              `expected a JSON object, got "x"`,
		"{\n \"a\": tru}":  `not JSON: invalid character '}' in literal true (expecting 'e') (line 2, column 10)`,
		`{"a":`:            `not JSON: it ends too early (line 1, column 6)`,
		`{} {}`:            `there is text after the JSON value`,
		`{"a":1e99999999}`: `the number 1e99999999 is out of range`,
	} {
		_, err := tool.Check(json.RawMessage(`{}`), json.RawMessage(in))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", in, err, want)
		}
	}
}

func TestArgumentsAreCheckedByTheWorkersThatConvertThem(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	loose := tool.Convention{Loose: true}
	for _, c := range []struct {
		tool    tool.Tool
		refused bool
	}{
		{tool.Tool{Convention: loose}, false},
		{tool.Tool{Convention: loose, Strict: true}, true},
		{tool.Tool{}, true},
	} {
		c.tool.Parameters = schema
		_, err := c.tool.CheckArguments(json.RawMessage(`{"n":"5"}`))
		if (err != nil) != c.refused {
			t.Errorf("%+v: got %v", c.tool, err)
		}
	}
	if _, err := (tool.Tool{Convention: loose}).CheckArguments(json.RawMessage(`[]`)); err == nil {
		t.Error("an array went to a worker")
	}
}

func TestOddSchemasAcceptAnythingWithAWarning(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		warns  bool
	}{
		"empty":           {`{}`, false},
		"true":            {`true`, false},
		"no JSON":         {`{"type":`, true},
		"wrong type name": {`{"type":"strnig"}`, true},
		"a list":          {`[]`, true},
		"file":            {`{"$ref":"file:///etc/passwd"}`, true},
		"network":         {`{"properties":{"a":{"$ref":"http://127.0.0.1:1/x.json"}}}`, true},
		"own draft":       {`{"$schema":"http://127.0.0.1:1/draft"}`, true},
		"known draft":     {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object"}`, false},
		"dangling":        {`{"$ref":"#/$defs/none"}`, true},
		"itself":          {`{"$ref":"#"}`, true},
		"look-ahead":      {`{"properties":{"a":{"pattern":"(?=x)"}}}`, false},
		"huge bound":      {`{"maximum":1e999999999}`, true},
	} {
		warning, err := tool.Check(json.RawMessage(c.schema), json.RawMessage(`{"a":"b"}`))
		if err != nil || (warning != "") != c.warns {
			t.Errorf("%s: warning %q, %v", name, warning, err)
		}
	}
}

func FuzzCheckNeverPanics(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"integer"}}}`, `{"a":1}`)
	f.Add(`{"$ref":"#"}`, `{}`)
	f.Add(`{"patternProperties":{"(":{}}}`, `{"(":1}`)
	f.Add(`{"$dynamicAnchor":"x","allOf":[{"$dynamicRef":"#x"}],"propertyNames":{"enum":["a",1e3]},"unevaluatedProperties":false}`, `{"a":{"b":[1,1.0]}}`)
	f.Add(`{"$schema":"http://json-schema.org/draft-04/schema#","id":"#y","dependencies":{"a":{"$ref":"#y"}},"items":[{"not":{"uniqueItems":true}}],"additionalItems":false}`, `{"a":[[1,1],2]}`)
	f.Add(`{"$id":"a","anyOf":[{"$ref":"b#c"},{"type":["null","string"]}],"$defs":{"x":{"$id":"b","$anchor":"c","if":{"minProperties":2},"else":{"contains":false}}}}`, `{}`)
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		_, err := tool.Check(json.RawMessage(schema), json.RawMessage(arguments))
		if problems, ok := errors.AsType[*tool.ArgumentError](err); err != nil && (!ok || len(problems.Problems) == 0) {
			t.Errorf("got %v", err)
		}
	})
}

func TestSearchPutsTheBestToolFirst(t *testing.T) {
	r := tool.NewRegistry()
	r.Publish("text", []tool.Tool{
		{Name: "word_count", Description: "Counts the words of a text."},
		{Name: "shout", Description: "Makes a text loud. Does not count words.", Visibility: tool.Deferred},
		{
			Name: "convertUnits", Description: "Converts metres to feet.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"length":{"type":"number"}}}`),
		},
	}, echo{"text"})
	r.Publish("dice", []tool.Tool{{Name: "roll", Title: "Roll dice", Description: "Rolls dice."}}, echo{"dice"})
	for query, want := range map[string][]string{
		"count words":   {"text:word_count", "text:shout"},
		"units":         {"text:convertUnits"},
		"length":        {"text:convertUnits"},
		"dice":          {"dice:roll"},
		"text:shout":    {"text:shout", "text:word_count", "text:convertUnits"},
		"unicorn":       nil,
		"  ":            nil,
		"convert metre": {"text:convertUnits"},
	} {
		var got []string
		for _, tl := range r.Set().Search(query) {
			got = append(got, tl.ID())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", query, got, want)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	schema := json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer","minimum":1}},"required":["text"]}`)
	for b.Loop() {
		if _, err := tool.Check(schema, json.RawMessage(`{"text":"a b c","count":3}`)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPublish100Tools(b *testing.B) {
	r := tool.NewRegistry()
	tools := make([]tool.Tool, 100)
	for i := range tools {
		tools[i] = tool.Tool{
			Name: fmt.Sprintf("tool_%d", i), Description: "Counts the words of a text.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"the text"}},"required":["text"]}`),
		}
	}
	for b.Loop() {
		r.Publish("p", tools, echo{"p"})
	}
}

func TestSP37AQualifiedNameKeepsTheToolsOwnAtItsEnd(t *testing.T) {
	r := tool.NewRegistry()
	long := strings.Repeat("p", 70)
	full, over := strings.Repeat("x", 60), strings.Repeat("y", 64)
	tools := named("roll_check", "a__b", "a.b", "a_b", "mcp:1:x", full, over, over+"z")
	for i := range tools {
		tools[i].Qualified = true
	}
	r.Publish("dice", tools, echo{"dice"})
	r.Publish(long, tools, echo{long})
	r.Publish("plain", named("roll_check"), echo{"plain"})
	set := r.Set()
	pattern := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	seen := map[string]string{}
	for _, tl := range set.Tools() {
		back, ok := set.ByWire(tl.WireName)
		if !pattern.MatchString(tl.WireName) || seen[tl.WireName] != "" || !ok || back.ID() != tl.ID() {
			t.Errorf("%s is called %q, as %q is; it leads to %q", tl.ID(), tl.WireName, seen[tl.WireName], back.ID())
		}
		seen[tl.WireName] = tl.ID()
	}
	for id, want := range map[string]string{
		"dice:roll_check": "dice__roll_check", "plain:roll_check": "roll_check", "dice:a__b": "dice__a__b",
		"dice:a.b": "dice__a_b", "dice:a_b": "dice2__a_b",
		"dice:mcp:1:x": "dice__mcp_1_x", "dice:" + full: "di__" + full,
		long + ":roll_check": strings.Repeat("p", 52) + "__roll_check",
	} {
		if tl, _ := set.ByID(id); tl.WireName != want {
			t.Errorf("%s is called %q, want %q", id, tl.WireName, want)
		}
	}
	if tl, _ := set.ByID("dice:" + over); !strings.HasPrefix(tl.WireName, "di__yyyy") || len(tl.WireName) != 64 {
		t.Errorf("a name of 64 characters is called %q", tl.WireName)
	}
}
