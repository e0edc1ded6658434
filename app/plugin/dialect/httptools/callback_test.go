package httptools_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"conclave/app/chat"
)

func TestNK30ACallReachesTheCallback(t *testing.T) {
	b := newBench(t)
	s := saying(t, "It rains in Oslo.")
	b.register("weather", s.URL+"/call?a=1", its(object{
		"description": "Tells the weather.",
		"parameters": object{
			"type": "object", "properties": object{"city": object{"type": "string"}}, "required": []string{"city"},
		},
	}))
	row := b.listed("Conclave")["weather"]
	if row["is_remote"] != true || row["callback_url"] != s.URL+"/call?a=1" || row["status"] != "waiting" {
		t.Errorf("it is listed as %v", row)
	}
	b.trust()
	if row := b.listed("Conclave")["weather"]; row["status"] != "live" {
		t.Errorf("once approved it is listed as %v", row)
	}
	raw := `{"city": "Oslo"}`
	if got := textOf(b.call(s.id("weather"), raw)); got != "It rains in Oslo." {
		t.Errorf("the model reads %q", got)
	}
	var sent map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(s.bodies()[0]), &sent))
	var id, text string
	must(t, json.Unmarshal(sent["call_id"], &id), json.Unmarshal(sent["raw_arguments"], &text))
	if string(sent["name"]) != `"weather"` || compact(t, string(sent["arguments"])) != `{"city":"Oslo"}` || id == "" ||
		text != raw || len(sent) != 4 {
		t.Errorf("the callback is sent %s", s.bodies()[0])
	}
}

func TestNK31TheErrorOfAnAnswerReachesTheModel(t *testing.T) {
	b := newBench(t)
	s := newService(t, func(w http.ResponseWriter, _ []byte) {
		_, _ = fmt.Fprint(w, `{"output": null, "is_error": true, "error": "no city"}`)
	})
	b.register("weather", s.URL, its(nil))
	b.trust()
	if r := b.call(s.id("weather"), "{}"); r.Status != chat.CallRaised || !strings.Contains(r.Error, "no city") ||
		strings.Contains(r.Error, "null") {
		t.Errorf("the model reads %q", textOf(r))
	}
}

func TestNK32WhatACallbackAnswers(t *testing.T) {
	b := newBench(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1") // nobody's
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	var status int
	var answer string
	other := saying(t, "redirected")
	s := newService(t, func(w http.ResponseWriter, _ []byte) {
		if status >= 300 && status < 400 {
			w.Header().Set("Location", other.URL)
		}
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, answer)
	})
	b.register("x", s.URL, its(nil))
	b.trust()
	for name, c := range map[string]struct {
		status int
		answer string
		want   string
	}{
		"a failure": {
			500, strings.Repeat("é", 300), "raised: Error: remote tool callback returned HTTP 500: " + strings.Repeat("é", 200),
		},
		"text":                     {200, "It rains.", "It rains."},
		"a list":                   {200, `[1, "two"]`, `[1,"two"]`},
		"a text of JSON":           {200, `"hm"`, "hm"},
		"a number":                 {200, `7`, "7"},
		"null":                     {200, `null`, "null"},
		"an object without output": {200, `{"a": "<b>"}`, `{"a":"<b>"}`},
		"an object with output":    {200, `{"output": {"a": 1}, "more": 2}`, `{"a":1}`},
		"an error that is said": {
			200, `{"output": "half", "is_error": true, "error": "It broke."}`, "raised: Error: It broke.\nhalf",
		},
		"an error without output": {
			200, `{"is_error": true, "why": "x", "images": []}`, `raised: Error: {"is_error":true,"why":"x"}`,
		},
		"no error that is said":     {200, `{"is_error": false, "a": 1}`, `{"a":1,"is_error":false}`},
		"a redirect that is a text": {302, "elsewhere", "elsewhere"},
		"too much": {
			200, strings.Repeat("x", 4<<20),
			"raised: Error: the tool answered more than 3 MiB with pictures, or a text of more " +
				"than 1 MiB, the most that is read",
		},
		"a text too long": {
			200, strings.Repeat("x", 2<<20),
			"raised: Error: the tool answered more than 3 MiB with pictures, or a text of " +
				"more than 1 MiB, the most that is read",
		},
	} {
		status, answer = c.status, c.answer
		if got := textOf(b.call(s.id("x"), "{}")); got != c.want {
			t.Errorf("%s: the model reads %.300q, want %.300q", name, got, c.want)
		}
	}
	if n := len(other.bodies()); n != 0 {
		t.Errorf("%d redirects were followed", n)
	}
	s.Close()
	if got := textOf(b.call(s.id("x"), "{}")); !strings.HasPrefix(got,
		"raised: Error: remote tool callback HTTP failure: ConnectError: ") ||
		!strings.Contains(got, "connection refused") {
		t.Errorf("of a closed port the model reads %q", got)
	}
}

func TestACallbackEndsAtItsTime(t *testing.T) {
	b := newBench(t)
	release := make(chan struct{})
	s := newService(t, func(w http.ResponseWriter, body []byte) {
		if strings.Contains(string(body), "slow") {
			<-release
		}
		_, _ = fmt.Fprint(w, `{"output":"in time"}`)
	})
	t.Cleanup(func() { close(release) })
	b.register("slow", s.URL, its(object{"timeout_seconds": 0.2}))
	b.register("fast", s.URL, its(nil))
	b.trust()
	if r := b.call(s.id("slow"), "{}"); r.Status != chat.CallTimeout ||
		!strings.Contains(r.Error, "slow took longer than 0.2 s") {
		t.Errorf("the model reads %q", textOf(r))
	}
	b.says(s.id("fast"), "in time")
	if rows := b.listed("Conclave"); len(rows) != 2 { // a slow answer is no dead address
		t.Errorf("listed: %v", rows)
	}
}

func TestNK45PicturesOfACallback(t *testing.T) {
	b := newBench(t)
	var raw bytes.Buffer
	must(t, png.Encode(&raw, image.NewGray(image.Rect(0, 0, 2, 2))))
	text := base64.StdEncoding.EncodeToString(raw.Bytes())
	s := newService(t, func(w http.ResponseWriter, _ []byte) {
		_, _ = fmt.Fprintf(w, `{"output":"Look.","images":[{"data_b64":%q,"mime":"image/png"},{"data_b64":"!"}]}`, text)
	})
	b.register("look", s.URL, its(nil))
	b.trust()
	r := b.call(s.id("look"), "{}")
	if got := textOf(r); got != `{"_image_warnings":["image 2 was left out: data_b64 is not base64"],"result":"Look."}` {
		t.Errorf("the model reads %q", got)
	}
	if len(r.Content) != 2 || r.Content[1].Media == nil || r.Content[1].Media.MIME != "image/png" {
		t.Errorf("its parts are %+v", r.Content)
	}
}

func TestNK42NamesOfAnyCharactersAreCalled(t *testing.T) {
	b := newBench(t)
	s := saying(t, "meow")
	b.register("猫.say hello", s.URL, its(nil))
	b.trust()
	found, ok := b.tools.Set().ByID(s.id("猫.say hello"))
	if !ok || strings.Trim(found.WireName, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		t.Fatalf("it is offered as %q", found.WireName)
	}
	b.says(s.id("猫.say hello"), "meow")
	if !strings.Contains(s.bodies()[0], `"name":"猫.say hello"`) {
		t.Errorf("the callback is sent %s", s.bodies()[0])
	}
}

func TestNK46ArgumentsThatAreNoJSONReachTheCallback(t *testing.T) {
	b := newBench(t)
	s := saying(t, "ok")
	b.register("x", s.URL, its(nil))
	b.trust()
	for raw, want := range map[string]string{
		`{"a": `:   `{"_raw":"{\"a\": "}`,
		`[1, 2]`:   `{"value":[1,2]}`,
		`{"b": 1}`: `{"b":1}`,
	} {
		if got := textOf(b.call(s.id("x"), raw)); got != "ok" {
			t.Errorf("%s: the model reads %q", raw, got)
		}
		var sent struct {
			Arguments json.RawMessage `json:"arguments"`
			Raw       string          `json:"raw_arguments"`
		}
		bodies := s.bodies()
		must(t, json.Unmarshal([]byte(bodies[len(bodies)-1]), &sent))
		if compact(t, string(sent.Arguments)) != want || sent.Raw != raw {
			t.Errorf("%s: the callback is sent %s", raw, bodies[len(bodies)-1])
		}
	}
}

func TestAServiceThatIsGoneOrBreaksOffSaysWhatToDo(t *testing.T) {
	b := newBench(t)
	s := newService(t, func(w http.ResponseWriter, _ []byte) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"output":`))
		panic(http.ErrAbortHandler)
	})
	b.register("x", s.URL, its(nil))
	b.trust()
	if got := textOf(b.call(s.id("x"), "{}")); !strings.Contains(got,
		"The program that answers at "+s.URL+" did not send a whole answer: see what it logged.") {
		t.Errorf("of an answer that breaks off the model reads %q", got)
	}
	s.Close()
	if got := textOf(b.call(s.id("x"), "{}")); !strings.Contains(got, "Nothing answers at "+s.URL+
		", where this tool is called: start the program that registered it.") {
		t.Errorf("of a service that is gone the model reads %q", got)
	}
}

func TestHostileACallbackThatGoesOnInAnotherProtocolOrAnswersFarInside(t *testing.T) {
	b := newBench(t)
	far := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	s := newService(t, func(w http.ResponseWriter, body []byte) {
		if strings.Contains(string(body), "far") {
			_, _ = fmt.Fprint(w, `{"output":`+far+`}`)
			return
		}
		c, _, err := http.NewResponseController(w).Hijack()
		must(t, err)
		t.Cleanup(func() { _ = c.Close() }) // it never ends by itself
		_, _ = fmt.Fprint(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
	})
	b.register("x", s.URL, its(nil))
	b.trust()
	if got := textOf(b.call(s.id("x"), `{}`)); !strings.Contains(got, "it goes on in another protocol than HTTP") {
		t.Errorf("of another protocol the model reads %q", got)
	}
	if got := textOf(b.call(s.id("x"), `{"a":"far"}`)); got != far {
		t.Errorf("of an answer far inside the model reads %.200q", got)
	}
	deep := json.RawMessage(strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101))
	status, answer := b.post("/api/tools/register", object{"name": "y", "callback_url": s.URL, "parameters": deep})
	if status != 422 || !strings.Contains(fmt.Sprint(answer), "nested more than 100 deep") {
		t.Errorf("a schema that is nested deep is answered %d %v", status, answer)
	}
}
