package httptools_test

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/plugin"
)

func TestNK28AMinimalRegistration(t *testing.T) {
	b := newBench(t)
	s := saying(t, "hello")
	answer := b.register("greet", s.URL, nil)
	want := `map[affected_roles:[Conclave Ada Ben] failed_roles:[] ok:true registered:greet]`
	if got := fmt.Sprint(answer); got != want {
		t.Errorf("it is answered %s, want %s", got, want)
	}
	row := b.listed("Conclave")["greet"]
	if row["source"] != "external" || row["description"] != "" {
		t.Errorf("it is listed as %v", row)
	}
	b.offers() // nobody approved it
	b.trust()
	id := "external-" + s.port() + ":greet"
	b.offers(id)
	found, _ := b.tools.Set().ByID(id)
	if found.Timeout != 30*time.Second || string(found.Parameters) != `{"properties":{},"type":"object"}` &&
		string(found.Parameters) != `{"type":"object","properties":{}}` {
		t.Errorf("it is %s with %s", found.Parameters, found.Timeout)
	}
}

func TestNK29WhatIsRefused(t *testing.T) {
	b := newBench(t)
	good := object{"name": "x", "callback_url": "http://127.0.0.1:1/x"}
	with := func(field string, value any) object {
		body := object{}
		for k, v := range good {
			body[k] = v
		}
		body[field] = value
		return body
	}
	without := func(field string) object {
		body := with(field, nil)
		delete(body, field)
		return body
	}
	for name, c := range map[string]struct {
		body  any
		field string
		kind  string
	}{
		"no name":                  {without("name"), "name", "missing"},
		"an empty name":            {with("name", ""), "name", "string_too_short"},
		"a name of 65":             {with("name", strings.Repeat("é", 65)), "name", "string_too_long"},
		"a number as name":         {with("name", 1), "name", "string_type"},
		"null as description":      {with("description", nil), "description", "string_type"},
		"null as parameters":       {with("parameters", nil), "parameters", "dict_type"},
		"a list as parameters":     {with("parameters", []int{}), "parameters", "dict_type"},
		"no address":               {without("callback_url"), "callback_url", "missing"},
		"an empty address":         {with("callback_url", ""), "callback_url", "string_too_short"},
		"a number as role":         {with("role", 1), "role", "string_type"},
		"null as source":           {with("source", nil), "source", "string_type"},
		"no time":                  {with("timeout_seconds", 0), "timeout_seconds", "greater_than"},
		"too much time":            {with("timeout_seconds", 301), "timeout_seconds", "less_than_equal"},
		"a word as time":           {with("timeout_seconds", "soon"), "timeout_seconds", "float_parsing"},
		"null as time":             {with("timeout_seconds", nil), "timeout_seconds", "float_type"},
		"infinity as time":         {with("timeout_seconds", "inf"), "timeout_seconds", "finite_number"},
		"nan as time":              {with("timeout_seconds", "nan"), "timeout_seconds", "finite_number"},
		"a port that is none":      {with("callback_url", "http://127.0.0.1:70000/"), "callback_url", "value_error"},
		"a port that is no number": {with("callback_url", "http://127.0.0.1:x/"), "callback_url", "value_error"},
		"a list":                   {[]int{1}, "", "model_attributes_type"},
		"no JSON":                  {`{"name":`, "", "json_invalid"},
	} {
		status, answer := b.post("/api/tools/register", c.body)
		rows, _ := answer["detail"].([]any)
		if status != 422 || len(rows) == 0 {
			t.Errorf("%s is answered %d %v", name, status, answer)
			continue
		}
		loc := []any{"body"}
		if c.field != "" {
			loc = append(loc, c.field)
		}
		first := rows[0].(object)
		if first["type"] != c.kind || !slices.Equal(first["loc"].([]any), loc) || first["msg"] == "" {
			t.Errorf("%s is answered %v, want %s of %v", name, first, c.kind, loc)
		}
	}
	for _, url := range []string{
		"http://localhost.:5/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://127.000.000.001/",
		"http://0.0.0.0:1", "http://[::]:1", "http://192.168.1.2/", "http://127.0.0.1.nip.io/",
		"http://localhost@evil.example/", "http://host.docker.internal/", "ftp://127.0.0.1/", "127.0.0.1:80/x", "http:///x",
		"http://169.254.169.254/latest/meta-data", "http://metadata.google.internal/", "http://[fe80::1%25lo]:1/",
	} {
		if status, answer := b.post("/api/tools/register", with("callback_url", url)); status != 422 {
			t.Errorf("%s is answered %d %v", url, status, answer)
		}
	}
	for _, url := range []string{
		"http://127.0.0.1:1/x", "http://127.9.9.9/x", "https://[::1]:8/x", "http://[::ffff:127.0.0.1]:9/x",
		"http://LOCALHOST:5", "http://[0:0:0:0:0:0:0:1]/", "http://user@127.0.0.1/",
	} {
		if status, answer := b.post("/api/tools/register", with("callback_url", url)); status != 200 {
			t.Errorf("%s is answered %d %v", url, status, answer)
		}
	}
	for _, value := range []any{"12.5", true, 300, 0.001} {
		if status, answer := b.post("/api/tools/register", with("timeout_seconds", value)); status != 200 {
			t.Errorf("a time of %v is answered %d %v", value, status, answer)
		}
	}
	if status, answer := b.post("/api/tools/register", with("role", "nobody")); status != 404 ||
		answer["detail"] != "unknown role: nobody" {
		t.Errorf("an unknown role is answered %d %v", status, answer)
	}
	if answer := b.register("all", "http://127.0.0.1:1/", object{
		"role": "", "more": "ignored", "parameters": object{},
	}); fmt.
		Sprint(answer["affected_roles"]) != "[Conclave Ada Ben]" {
		t.Errorf("an empty role is answered %v", answer)
	}
	if status, _ := b.do("POST", "/api/tools/register", `{"name":"x","callback_url":"http://127.0.0.1:1/"}`,
		func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }); status != 422 {
		t.Errorf("a body that is said to be no JSON is answered %d", status)
	}
	resp, err := http.Get(b.address + "/api/tools/register")
	must(t, err)
	must(t, resp.Body.Close())
	if resp.StatusCode != 405 {
		t.Errorf("another method is answered %d", resp.StatusCode)
	}
}

func TestNK33RegisteringAgainReplaces(t *testing.T) {
	b := newBench(t)
	one, two := saying(t, "one"), saying(t, "two")
	b.register("x", one.URL+"/a", its(object{"description": "First.", "timeout_seconds": 5}))
	b.trust()
	b.offers(one.id("x"))
	before := b.tools.Set().Generation()
	b.register("x", one.URL+"/a", its(object{"description": "First.", "timeout_seconds": 5})) // says nothing new
	if now := b.tools.Set().Generation(); now != before {
		t.Errorf("registering the same again made generation %d of %d", now, before)
	}
	b.says(one.id("x"), "one")

	// Another description waits for a person; meanwhile nobody calls it by the old one.
	b.register("x", one.URL+"/b", its(object{"description": "Second."}))
	b.offers()
	b.trust()
	found, _ := b.tools.Set().ByID(one.id("x"))
	if found.Description != "Second." || found.Timeout != 30*time.Second {
		t.Errorf("it is %+v", found)
	}
	// Another address is another plugin, which waits as well.
	b.register("x", two.URL, its(object{"description": "Second."}))
	b.offers()
	b.trust()
	b.offers(two.id("x"))
	b.says(two.id("x"), "two")
	if rows := b.listed("Conclave"); len(rows) != 1 || rows["x"]["callback_url"] != two.URL {
		t.Errorf("listed: %v", rows)
	}
	b.register("x", two.URL, object{"description": "Third.", "source": "another"})
	if rows := b.listed("Conclave"); len(rows) != 1 || rows["x"]["source"] != "another" {
		t.Errorf("listed: %v", rows)
	}
}

func TestNK34RolesAreMembersOfTheCouncil(t *testing.T) {
	b := newBench(t)
	all, hers := saying(t, "all"), saying(t, "Ada's")
	b.register("x", all.URL, its(nil))
	b.register("x", hers.URL, its(object{"role": "Ada"}))
	b.trust()
	b.offers(all.id("x")) // hers is not the main model's
	for role, want := range map[string]string{"Conclave": all.URL, "Ben": all.URL, "Ada": hers.URL} {
		if row := b.listed(role)["x"]; row["callback_url"] != want {
			t.Errorf("%s sees %v", role, row)
		}
	}
	for _, found := range b.tools.Set().Tools() {
		if mine := found.For("Ada"); mine != (found.Role != "Ben") || found.Role == "Ada" && found.For("Ben") {
			t.Errorf("%s is for %q", found.ID(), found.Role)
		}
	}
	// For one role alone.
	status, answer := b.post("/api/tools/unregister", object{"name": "x", "role": "Ada"})
	if fmt.Sprint(status, answer["removed"], answer["affected_roles"]) != "200 true [Ada]" {
		t.Errorf("it is answered %d %v", status, answer)
	}
	if rows := b.listed("Ada"); len(rows) != 0 {
		t.Errorf("Ada sees %v", rows)
	}
	if rows := b.listed("Ben"); len(rows) != 1 {
		t.Errorf("Ben sees %v", rows)
	}
	found, _ := b.tools.Set().ByID(all.id("x"))
	if found.For("Ada") || !found.For("Ben") || !found.For("Conclave") {
		t.Errorf("what is left is for %q, not for %q", found.Role, found.NotFor)
	}
	if _, answer := b.do("GET", "/api/tools?role=Ada", "", nil); fmt.Sprint(answer["tools_by_role"]) != "map[Ada:[]]" {
		t.Errorf("asked for one role: %v", answer)
	}
	if status, _ := b.do("GET", "/api/tools?role=nobody", "", nil); status != 404 {
		t.Errorf("an unknown role is answered %d", status)
	}
	// For every role again, which takes the place of all there were of the name.
	b.register("x", all.URL, its(nil))
	if rows := b.listed("Ada"); rows["x"]["callback_url"] != all.URL {
		t.Errorf("Ada sees %v", rows)
	}
	// A member that is gone takes what was hers along.
	b.register("y", hers.URL, its(object{"role": "Ada"}))
	b.roles = []string{"Ben"}
	must(t, b.pool.RolesChanged(t.Context()))
	b.roles = []string{"Ada", "Ben"}
	if rows := b.listed("Ada"); len(rows) != 1 {
		t.Errorf("a new Ada sees %v", rows)
	}
}

func TestNK35ClearRemovesASource(t *testing.T) {
	b := newBench(t)
	s := saying(t, "x")
	for _, body := range []object{{}, {"source": ""}, {"source": nil}} {
		if status, answer := b.post("/api/tools/clear", body); status != 422 {
			t.Errorf("%v is answered %d %v", body, status, answer)
		}
	}
	b.register("a", s.URL, its(nil))
	b.register("b", s.URL, its(object{"role": "Ada"}))
	b.register("c", s.URL, object{"source": "plugin:q"})
	b.trust()
	status, answer := b.post("/api/tools/clear", object{"source": "plugin:p"})
	if fmt.Sprint(status, answer["ok"], answer["removed"], answer["affected_roles"]) != "200 true 4 [Conclave Ada Ben]" {
		t.Errorf("it is answered %d %v", status, answer)
	}
	b.offers("q-" + s.port() + ":c")
	_, answer = b.post("/api/tools/clear", object{"source": "nobody"})
	if fmt.Sprint(answer["ok"], answer["removed"]) != "true 0" {
		t.Errorf("an unknown source is answered %v", answer)
	}
}

func TestNK36UnregisterOfNothing(t *testing.T) {
	b := newBench(t)
	status, answer := b.post("/api/tools/unregister", object{"name": "x"})
	want := `200 map[affected_roles:[] failed_roles:[] name:x ok:true removed:false]`
	if got := fmt.Sprint(status, answer); got != want {
		t.Errorf("it is answered %s, want %s", got, want)
	}
	if status, _ := b.post("/api/tools/unregister", object{"name": "x", "role": "nobody"}); status != 404 {
		t.Errorf("an unknown role is answered %d", status)
	}
	b.register("x", saying(t, "x").URL, its(nil))
	b.trust()
	if _, answer := b.post("/api/tools/unregister", object{"name": "x"}); answer["removed"] != true {
		t.Errorf("it is answered %v", answer)
	}
	b.offers()
}

func TestNK41TheEarlierOfTwoSourcesComesBack(t *testing.T) {
	b := newBench(t)
	one, two := saying(t, "one"), saying(t, "two")
	b.register("x", one.URL, object{"source": "plugin:one"})
	b.register("x", two.URL, object{"source": "plugin:two"})
	b.trust()
	b.offers("two-" + two.port() + ":x")
	b.post("/api/tools/clear", object{"source": "plugin:two"})
	b.trust()
	b.offers("one-" + one.port() + ":x")
	b.says("one-"+one.port()+":x", "one")
}

func TestNK40ToolsOfPluginsAreListedAsTheirWatchdogsLookForThem(t *testing.T) {
	b := newBench(t)
	b.others = append(b.others, otherTool)
	row := b.listed("Ada")["look"]
	at, _ := row["callback_url"].(string)
	if row["source"] != "plugin:probe" || row["is_remote"] != true || !strings.HasPrefix(at, b.address+"/") {
		t.Fatalf("it is listed as %v", row)
	}
	body := object{"name": "look", "arguments": object{"at": "sea"}, "call_id": "1", "raw_arguments": "{}"}
	status, answer := b.post(strings.TrimPrefix(at, b.address), body)
	if got := fmt.Sprint(status, answer); got != `200 map[is_error:false output:map[ran:probe:look with:map[at:sea]]]` {
		t.Errorf("a call is answered %s", got)
	}
	status, answer = b.post("/api/llm-tools/callback/probe/nothing", body)
	if status != 200 || answer["error"] != "TOOL_NOT_REGISTERED" || answer["is_error"] != true {
		t.Errorf("a call of no tool is answered %d %v", status, answer)
	}
}

func TestTheIDOfACardIsAsTheDocumentationSays(t *testing.T) {
	b := newBench(t)
	s := saying(t, "ok")
	for source, want := range map[string]string{
		"plugin:weather": `weather-PORT`, "external": `external-PORT`, "plugin:We-ather_2": `We-ather_2-PORT`,
		"weather": `weather-PORT-[0-9a-f]{8}`, "plugin:wetter dienst": `wetter_dienst-PORT-[0-9a-f]{8}`,
		"plugin:" + strings.Repeat("w", 33): strings.Repeat("w", 32) + `-PORT-[0-9a-f]{8}`,
	} {
		b.register(source, s.URL, object{"source": source})
		re := regexp.MustCompile("^" + strings.ReplaceAll(want, "PORT", s.port()) + "$")
		if !slices.ContainsFunc(b.host.List(), func(p plugin.Status) bool { return re.MatchString(p.ID) }) {
			t.Errorf("%s has no card %s", source, re)
		}
	}
}
