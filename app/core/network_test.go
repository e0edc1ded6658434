package core

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/net/egress"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
	"conclave/app/record/activity"
	"conclave/app/service"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// site is a server that counts who asked it, and leads to another where it is told to.
type site struct {
	*httptest.Server
	host string
	hits atomic.Int64
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.hits.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, "page")
	}))
	t.Cleanup(s.Close)
	s.host = strings.TrimPrefix(s.URL, "http://")
	return s
}

// What a plugin sends while it works on no call is on record too: when Conclave ends, at the
// latest.
func TestWhatAPluginSendsForNoCallIsOnRecord(t *testing.T) {
	site := newSite(t)
	w := extension(t, `spindle.registerTool({ name: "run", description: "d" });`, "tools", gate.Web)
	must(t, w.Gate.Reach.AllowHost(t.Context(), "ext", gate.Web, gate.Allow, gate.HostIs, site.host))
	for range 2 {
		body := strings.NewReader(strings.Repeat("x", 5000))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site.URL, body)
		must(t, err)
		response, err := w.egress.Client("ext", "").Do(r)
		must(t, err)
		must(t, response.Body.Close())
	}
	must(t, w.Close())
	w.open()
	rows, err := w.Store.Activity.Activity(t.Context(), activity.Filter{Plugin: "ext"})
	must(t, err)
	var told []string
	for _, row := range rows {
		e, d, err := row.Read()
		must(t, err)
		if e.Kind == activity.Sent {
			told = append(told, activity.Event(e, d))
			if len(e.Sent) != 1 || e.Sent[0].Host != site.host || e.Sent[0].Bytes < 10_000 || e.Sent[0].Shared {
				t.Errorf("sent %+v", e.Sent)
			}
		}
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "ext sent ") ||
		!strings.HasSuffix(told[0], " to "+site.host+" while it worked on no call.") {
		t.Errorf("on record is %q", told)
	}
	if report, err := w.Store.Activity.VerifyActivity(t.Context()); err != nil || !report.OK {
		t.Errorf("%+v, %v", report, err)
	}
}

// A rule about an address is about what is really fetched: an extension that was allowed to
// read one host reaches no other, neither by another request nor where a redirect leads.
func TestARuleAboutAHostHoldsWhatAScriptReallyFetches(t *testing.T) {
	named, other := newSite(t), newSite(t)
	w := extension(t, `
spindle.registerTool({ name: "run", description: "d", inline_available: true,
  parameters: { type: "object", properties: { url: { type: "string" }, really: { type: "string" } } } });
spindle.on("TOOL_INVOCATION", async ({ args }) =>
  (await spindle.cors(args.really ?? args.url, { method: "POST", body: "x".repeat(5000) })).body);`, "tools", "cors_proxy")
	must(t, w.Gate.Reach.SetPermission(t.Context(), "ext", service.LocalNetwork, gate.Allow))
	w.settle()
	_, err := w.Gate.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "ext", Tool: "run", Scope: gate.Always, Callers: []gate.Caller{gate.Main},
		Match: []gate.Match{{Field: "url", Op: gate.HostIs, Value: named.host}},
	})
	must(t, err)
	ask := func(arguments string) (chat.CallRecord, []gate.Request) {
		t.Helper()
		found, _ := w.Tools.Set().ByID("ext:run")
		person, id := &refuser{}, w.chat()
		_, err := w.Conversations.Run(t.Context(), turn.Request{
			Conversation: id, Text: "Read " + named.URL, Tools: w.Tools.Set(), Asker: person,
			Model: modeltest.New([]modeltest.Step{modeltest.Call("c", found.WireName, arguments)},
				[]modeltest.Step{modeltest.Say("Done.")}),
		}, nil)
		must(t, err)
		path, err := w.Store.Chats.Path(t.Context(), id)
		must(t, err)
		for _, m := range path {
			for _, p := range m.Parts {
				if p.Call != nil {
					record, err := w.Store.Calls.Call(t.Context(), p.Call.Sequence)
					must(t, err)
					return record, person.asked
				}
			}
		}
		t.Fatal("nothing was called")
		return chat.CallRecord{}, nil
	}

	record, asked := ask(fmt.Sprintf(`{"url":%q}`, named.URL))
	if record.Status != chat.CallOK || len(asked) != 0 || len(record.Sent) != 1 || record.Sent[0].Host != named.host ||
		record.Sent[0].Bytes < 5000 {
		t.Errorf("the host of the rule: %s %s, sent %+v, asked %+v", record.Status, record.Error, record.Sent, asked)
	}
	for how, arguments := range map[string]string{
		"by another request": fmt.Sprintf(`{"url":%q,"really":%q}`, named.URL, other.URL),
		"by a redirect":      fmt.Sprintf(`{"url":%q}`, named.URL+"/?to="+other.URL),
	} {
		record, asked := ask(arguments)
		if len(asked) != 1 || asked[0].Title != "Ext wants to connect to "+other.host ||
			!strings.Contains(asked[0].Reason, "the rule that allowed the call is about "+named.host+" alone") {
			t.Errorf("%s, asked %+v", how, asked)
		} else if p := asked[0].Preview; p == nil || p.Words != "What waits to be sent:" || len(p.Lines) < 3 ||
			p.Lines[0].Text != "POST /" || !strings.HasPrefix(p.Lines[len(p.Lines)-1].Text, "xxxxx") {
			t.Errorf("%s, it shows %+v", how, p)
		}
		if record.Status != chat.CallRaised || other.hits.Load() != 0 {
			t.Errorf("%s, it came to %s %s, and the other host was asked %d times", how, record.Status, record.Error,
				other.hits.Load())
		}
	}
	must(t, w.Gate.Reach.AllowHost(t.Context(), "ext", gate.Web, gate.Allow, gate.HostIs, other.host))
	if record, asked := ask(fmt.Sprintf(`{"url":%q}`, named.URL+"/?to="+other.URL)); len(asked) != 0 ||
		record.Status != chat.CallOK || len(record.Sent) != 2 || other.hits.Load() != 1 {
		t.Errorf("with the other host allowed too: %s %s, sent %+v, asked %+v", record.Status, record.Error, record.Sent,
			asked)
	}
}

// What an extension fetches for nobody's call is asked about, host by host.
func TestAScriptAsksForEachHostThatNoCallIsFor(t *testing.T) {
	at := newSite(t)
	w := extension(t, runs(`let times = 0;
spindle.on("CHAT_CHANGED", async () => {
  try { spindle.log.info(++times + " " + (await spindle.cors(`+fmt.Sprintf("%q", at.URL)+`)).body) }
  catch (e) { spindle.log.info(times + " " + e.message) }
});`, "return 1;"), "tools", "cors_proxy", "chats")
	id, times := w.chat("hello"), 0
	changed := func(want string) {
		t.Helper()
		times++
		w.ChatChanged(id)
		testkit.Until(t, want, func() bool {
			return slices.ContainsFunc(w.Host.Log("ext", 0), func(l plugin.LogLine) bool {
				return strings.HasPrefix(l.Text, fmt.Sprint(times, " ")) && strings.Contains(l.Text, want)
			})
		})
	}
	w.allow(service.LocalNetwork)
	changed("PERMISSION_DENIED")
	if n := at.hits.Load(); n != 0 {
		t.Errorf("the server was asked %d times", n)
	}
	must(t, w.Gate.Reach.AllowHost(t.Context(), "ext", gate.Web, gate.Allow, gate.HostIs, at.host))
	changed("page")
	must(t, w.Gate.Reach.AllowHost(t.Context(), "ext", gate.Web, gate.Deny, gate.HostIs, at.host))
	changed("PERMISSION_DENIED")
	if n := at.hits.Load(); n != 1 {
		t.Errorf("the server was asked %d times, with its host allowed once", n)
	}
}

func TestWherePluginsRegisterToolsIsKnownByEachAddressThatLeadsThere(t *testing.T) {
	c := opened(t)
	port, err := strconv.ParseUint(testkit.FreePort(t), 10, 16)
	must(t, err)
	_, release, err := c.HTTP.Serve(t.Context(), int(port))
	must(t, err)
	defer release()
	for text, want := range map[string]bool{
		"127.0.0.1": true, "::1": true, "0.0.0.0": true, "::": true, "::ffff:0.0.0.0": true, "192.168.0.1": false,
	} {
		at := netip.AddrPortFrom(netip.MustParseAddr(text), uint16(port))
		if got := (network{c}).own(at); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
}

// A secret that the person gave an extension is in what it sends, and in nothing it sees.
func TestAnExtensionUsesAGivenSecretAndDoesNotSeeIt(t *testing.T) {
	t.Setenv("CONCLAVE_PASSPHRASE", "correct horse")
	const secret = "sk-given-0123456789"
	var told atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told.Store(r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, "hello "+r.Header.Get("Authorization"))
	}))
	defer server.Close()
	w := extension(t, runs("", `
const headers = { Authorization: "Bearer {{secret:api}}" };
const said = [];
for (const ask of [async () => (await spindle.cors(args.url, { headers })).body, async () => (await fetch(args.url, { headers })).text(),
  () => spindle.enclave.get("api"), () => spindle.enclave.list()])
  try { said.push(String(await ask())) } catch (e) { said.push(e.message) }
return said.join("|");`), "tools", "cors_proxy")
	if strings.Contains(w.Keys.Sentence(), "system keychain") {
		t.Skip("this system has a keychain, which is not a test's to write into")
	}
	w.allow(service.LocalNetwork)
	host := strings.TrimPrefix(server.URL, "http://")
	must(t, w.Services.Secrets.Give(t.Context(), "ext", "api", secret, []string{host}))
	stars := strings.Repeat("*", len(secret))
	w.wants("", fmt.Sprintf(`{"url":%q}`, server.URL), "hello Bearer "+stars+"|hello Bearer "+stars+"|null|")
	if told.Load() != "Bearer "+secret {
		t.Errorf("the server was told %v", told.Load())
	}
	other := newSite(t)
	if got := w.run("", fmt.Sprintf(`{"url":%q}`, other.URL)); other.hits.Load() != 0 ||
		!strings.Contains(got, "PERMISSION_DENIED: secret – api may not be sent to "+other.host) {
		t.Errorf("another host: %s", got)
	}
}

// A call of an extension has its time while a person is asked about a host, here and in its
// process.
func TestACallOfAScriptHasItsTimeWhileAPersonIsAsked(t *testing.T) {
	at := newSite(t)
	w := extension(t, runs("", `return (await spindle.cors(args.url)).body;`), "tools", "cors_proxy")
	w.allow(service.LocalNetwork)
	must(t, w.Gate.Reach.AllowHost(t.Context(), "ext", gate.Web, gate.Ask, gate.HostIs, at.host))
	t.Cleanup(w.Gate.Questions.Attach())
	found, _ := w.Tools.Set().ByID("ext:run")
	invoker, _ := w.Tools.Set().Invoker("ext:run")
	ctx := gate.WithBehalf(t.Context(), gate.Call{ID: "c", Tool: found})
	r := plugintest.AnswerLate(ctx, t, w.Gate, invoker, tool.Call{
		ID: "c", Tool: found, Arguments: json.RawMessage(fmt.Sprintf(`{"url":%q}`, at.URL)),
	})
	if chat.TextOf(r.Content) != "page" {
		t.Errorf("it came to %+v", r)
	}
}

func TestARequestIsShownWithoutKeysBeforeItIsSent(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org/in",
		strings.NewReader("key=sk-"+strings.Repeat("k3y", 7)))
	must(t, err)
	var shown []string
	for _, l := range (network{opened(t)}).preview(t.Context(), egress.Target{Request: r}).Lines {
		shown = append(shown, l.Text)
	}
	if got := strings.Join(shown, "\n"); got != "POST /in\n\nkey=•••" {
		t.Errorf("it shows %q", got)
	}
}
