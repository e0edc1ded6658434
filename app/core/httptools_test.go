package core

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
	"conclave/app/test/testkit"
)

// weatherService is a program that registers a tool for everybody and one for a role, as
// those of N.E.K.O's documentation do, with nothing but Python.
const weatherService = `
import json, sys, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

class Callback(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = json.dumps({"output": asked["name"] + " of " + asked["arguments"].get("city", "here") + ": rain"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)
    def log_message(self, *args):
        pass

api, port, registers = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "registers"
HTTPServer.allow_reuse_address = True
server = HTTPServer(("127.0.0.1", port), Callback)

def post(path, body):
    request = urllib.request.Request(api + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))

if registers:
    for name, role in (("weather", None), ("forecast", "Ada")):
        answer = post("/api/tools/register", {
            "name": name, "description": "Tells the " + name + ".", "role": role, "source": "plugin:weather",
            "callback_url": "http://127.0.0.1:%d/call" % port,
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        })
        assert answer["ok"], answer
print("ready", flush=True)
server.serve_forever()
`

// weather starts the service, and returns what ends it.
func (w *whole) weather(api, port, how string) (end func()) {
	w.t.Helper()
	script := filepath.Join(w.data, "weather.py")
	testkit.Write(w.t, script, weatherService)
	ctx, cancel := context.WithCancel(context.Background()) // ends with the test
	service := exec.CommandContext(ctx, "python3", script, api, port, how)
	var problems strings.Builder
	service.Stderr = &problems
	out, err := service.StdoutPipe()
	must(w.t, err)
	must(w.t, service.Start())
	end = func() {
		cancel()
		_ = service.Wait() // it was killed
	}
	w.t.Cleanup(end)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		w.t.Fatalf("the service says %q, %v: %s", line, err, problems.String())
	}
	return end
}

// answers asks the main model, which calls a tool, and returns what it was told of the call.
func (w *whole) answers(in chat.ConversationID, tool string) string {
	w.t.Helper()
	model := modeltest.New([]modeltest.Step{modeltest.Call("c1", tool, `{"city":"Oslo"}`)}, []modeltest.Step{modeltest.Say("Rain.")})
	_, err := w.Conversations.Run(w.t.Context(), turn.Request{
		Conversation: in, Text: "And?", Model: model, Tools: w.Tools.Set().ForModel(),
	}, nil)
	must(w.t, err)
	requests := model.Requests()
	if len(requests) < 2 {
		w.t.Fatalf("the model was asked %d times", len(requests))
	}
	return resultsOf(requests[len(requests)-1])
}

// trusts has the person trust all text of others in a chat.
func (w *whole) trusts(in chat.ConversationID) {
	w.t.Helper()
	path, err := w.Store.Chats.Path(w.t.Context(), in)
	must(w.t, err)
	for _, o := range chat.OriginsOf(chat.Conversation{}, path) {
		_, err := w.Gate.Rules.Trust(w.t.Context(), in, o)
		must(w.t, err)
	}
}

// resultsOf returns the text of the last result of a tool in a request.
func resultsOf(r model.Request) string {
	last := ""
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				last = p.Result.Text()
			}
		}
	}
	return last
}

func TestNK30NK34NK38AServiceThatRegistersFromEndToEnd(t *testing.T) {
	w := &whole{t: t, data: t.TempDir()}
	w.open()
	help := w.helper()
	ada := council.Member{ID: "ada", Name: "Ada"}
	held := toolsOf(ada, council.Member{ID: "ben", Name: "Ben"})
	must(t, w.CouncilSettings().PutCouncil(t.Context(), council.OfPreset("test"), &held))
	api, port := testkit.FreePort(t), testkit.FreePort(t)
	turnOn := func(s *settings.Settings) {
		s.HTTPTools = true
		s.HTTPPort = 0
		for _, digit := range api {
			s.HTTPPort = 10*s.HTTPPort + int(digit-'0')
		}
	}
	if _, err := w.Settings.ChangeSettings(t.Context(), turnOn); err != nil {
		t.Fatal(err)
	}
	following := func() (stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); w.HTTP.Follow(ctx) }()
		testkit.Until(t, "the port is open", func() bool { at, _ := w.HTTP.Address(); return at != "" })
		return func() { cancel(); <-done }
	}
	stop := following()
	end := w.weather("http://localhost:"+api, port, "registers")

	// A person looks first.
	var ids []string
	for _, s := range w.Host.List() {
		if s.Manifest.Dialect != "http" {
			continue
		}
		ids = append(ids, s.ID)
		if s.State != plugin.NeedsApproval || s.Path != "http://127.0.0.1:"+port ||
			!strings.Contains(s.Manifest.Description, "python3 weather.py") {
			t.Errorf("the card says %s at %s: %s", s.State, s.Path, s.Manifest.Description)
		}
	}
	if len(ids) != 2 || !slices.Contains(ids, "weather-"+port) {
		t.Fatalf("the cards are %q", ids)
	}
	if n := len(w.Gate.Questions.List()); n != 2 {
		t.Errorf("%d requests wait for a person", n)
	}
	in := chat.Conversation{Title: "x"}
	must(t, w.Store.Chats.CreateConversation(t.Context(), &in))
	for _, id := range ids {
		must(t, plugintest.Approve(t.Context(), w.Host, id, false))
		_, err := w.Gate.Rules.Add(t.Context(), gate.Rule{
			Effect: gate.Allow, Plugin: id, Tool: "*", Callers: []gate.Caller{gate.Main, "member:ada"},
			Scope: gate.Always,
		})
		must(t, err)
	}
	check := func(when string) {
		t.Helper()
		w.trusts(in.ID) // a program of its own may read and send whatever it likes
		if got := w.answers(in.ID, "weather"); got != "weather of Oslo: rain" {
			t.Errorf("%s the model is told %q", when, got)
		}
		if _, there := w.Tools.Set().ForModel().ByWire("forecast"); there {
			t.Errorf("%s the main model is offered what is Ada's", when)
		}
	}
	check("at first")

	// The member of its role calls it in a run; the other has none.
	_, run := w.deliberate(in.ID, "Will it rain?", held)
	used := map[string]string{}
	for _, task := range run.Tasks {
		if task.Kind == council.UseTool {
			used[task.Member] = task.Tool
		}
	}
	if len(used) != 1 || !strings.HasSuffix(used["ada"], ":forecast") {
		t.Errorf("members used %v; the helper was sent %d requests", used, len(help.bodies()))
	}

	// Conclave starts again; the service does nothing.
	stop()
	must(t, w.Close())
	w.open()
	stop = following()
	check("after a restart of Conclave")

	// The service starts again, and registers what it did: nobody is asked.
	end()
	w.weather("http://127.0.0.1:"+api, port, "registers")
	if n := len(w.Gate.Questions.List()); n != 0 {
		t.Errorf("%d requests wait after the service registered again", n)
	}
	check("after a restart of the service")

	// Off: the port is closed, and nothing of it is offered.
	_, err := w.Settings.ChangeSettings(t.Context(), func(s *settings.Settings) { s.HTTPTools = false })
	must(t, err)
	testkit.Until(t, "the port is closed", func() bool {
		resp, err := http.Get("http://127.0.0.1:" + api + "/api/tools")
		if err == nil {
			_ = resp.Body.Close()
		}
		return err != nil && w.Tools.Set().ForModel().Len() == 0
	})
	stop()
}

func TestNK43AModelThatGoesOnAskingForToolsEndsWithAnAnswerAtTheLimit(t *testing.T) {
	w := &whole{t: t, data: t.TempDir()}
	w.open()
	ada := toolsOf(council.Member{ID: "ada", Name: "Ada"}) // a role of the service's is hers
	must(t, w.CouncilSettings().PutCouncil(t.Context(), council.OfPreset("test"), &ada))
	port := testkit.FreePort(t)
	number, err := strconv.Atoi(port)
	must(t, err)
	w.follows(func(s *settings.Settings) { s.HTTPTools, s.HTTPPort = true, number })
	testkit.Until(t, "the port is open", func() bool { at, _ := w.HTTP.Address(); return at != "" })
	at := testkit.FreePort(t)
	w.weather("http://127.0.0.1:"+port, at, "registers")
	must(t, plugintest.Approve(t.Context(), w.Host, "weather-"+at, false))
	_, err = w.Gate.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "weather-" + at, Tool: "*", Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
	})
	must(t, err)
	in := chat.Conversation{Title: "x"}
	must(t, w.Store.Chats.CreateConversation(t.Context(), &in))
	set, err := w.Settings.Settings(t.Context())
	must(t, err)

	model := modeltest.New()
	for n := range set.ChainLimit {
		model.Add([]modeltest.Step{modeltest.Call("c"+strconv.Itoa(n), "weather", `{"city":"Oslo"}`)})
	}
	model.Add([]modeltest.Step{modeltest.Say("It rains, I gather.")})
	out, err := w.Conversations.Run(t.Context(), turn.Request{
		Conversation: in.ID, Text: "And?", Model: model, Tools: w.Tools.Set().ForModel(), ChainLimit: set.ChainLimit,
		Asker: agrees{gate.Once},
	}, nil)
	must(t, err)
	requests := model.Requests()
	if len(requests) != set.ChainLimit+1 || out.Reason != chat.EndLimit {
		t.Fatalf("it ended %s after %d requests", out.Reason, len(requests))
	}
	if got := chat.TextOf(out.Message.Parts); got != "It rains, I gather." {
		t.Errorf("the answer is %q", got)
	}
}

// follows has the port follow the settings until the test ends.
func (w *whole) follows(set func(*settings.Settings)) {
	w.t.Helper()
	_, err := w.Settings.ChangeSettings(w.t.Context(), set)
	must(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); w.HTTP.Follow(ctx) }()
	w.t.Cleanup(func() { cancel(); <-done })
}

func TestAPortThatIsTakenOpensOnceItIsFree(t *testing.T) {
	w := &whole{t: t, data: t.TempDir()}
	w.open()
	w.HTTP.TryAgain = 10 * time.Millisecond
	other, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:"+testkit.FreePort(t))
	must(t, err)
	port := other.Addr().(*net.TCPAddr).Port
	w.follows(func(s *settings.Settings) { s.HTTPTools, s.HTTPPort = true, port })
	testkit.Until(t, "it is said that the port is taken", func() bool {
		_, why := w.HTTP.Address()
		return why != nil && strings.Contains(why.Error(), "is taken")
	})
	must(t, other.Close())
	testkit.Until(t, "the port is open", func() bool {
		at, why := w.HTTP.Address()
		return at == "http://"+other.Addr().String() && why == nil
	})
}

func TestAProgramThatTheTokenKeepsOutIsNamed(t *testing.T) {
	t.Setenv("CONCLAVE_PASSPHRASE", "for tests")
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "disabled:") // no token goes into a real keychain
	w := &whole{t: t, data: t.TempDir()}
	w.open()
	port := testkit.FreePort(t)
	number, err := strconv.Atoi(port)
	must(t, err)
	w.follows(func(s *settings.Settings) { s.HTTPTools, s.HTTPPort = true, number })
	testkit.Until(t, "the port is open", func() bool { at, _ := w.HTTP.Address(); return at != "" })
	_, err = w.HTTP.SetToken(t.Context(), true)
	must(t, err)
	script := filepath.Join(w.data, "stranger.py")
	testkit.Write(t, script, `
import sys, time, urllib.error, urllib.request
try:
    urllib.request.urlopen(urllib.request.Request(sys.argv[1], headers={"Authorization": "Bearer old"}))
except urllib.error.HTTPError as e:
    print(e.code)
`)
	said, err := exec.CommandContext(t.Context(), "python3", script, "http://127.0.0.1:"+port+"/api/tools").Output()
	if err != nil || string(said) != "401\n" {
		t.Fatalf("the program is told %q, %v", said, err)
	}
	_, why := w.HTTP.Address()
	if why == nil || !strings.HasSuffix(why.Error(), " was refused: it carries another token than yours.") {
		t.Errorf("it is said %v", why)
	}
	if runtime.GOOS == "linux" && why != nil && !strings.HasPrefix(why.Error(), "python3 stranger.py ") {
		t.Errorf("the program is not named: %v", why)
	}
	_, err = w.HTTP.SetToken(t.Context(), false)
	must(t, err)
	if _, why := w.HTTP.Address(); why != nil {
		t.Errorf("without a token it is said still: %v", why)
	}
}
