package core

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/model/modeltest"
	"conclave/app/plugin/plugintest"
	"conclave/app/test/testkit"
)

// attempts answers with what f returned, or with the message of its error.
const attempts = `const said = [];
const attempt = async (f) => { try { said.push(JSON.stringify(await f()) ?? "undefined") } catch (e) { said.push(e.message) } };
`

func TestWhatConclaveDoesNotHaveIsEmptyWithoutAPermissionThatNobodyCanGrant(t *testing.T) {
	w := extension(t, runs("", attempts+`
await attempt(() => spindle.regex_scripts.list());
await attempt(() => spindle.regex_scripts.getActive());
await attempt(() => spindle.memories.entities.list("c"));
await attempt(async () => (await spindle.memories.chatMemory.get("c")).enabled);
await attempt(() => spindle.memories.entities.create({}));
return said.join("|");`), "tools", "regex_scripts", "memories")
	w.wants("", `{}`, `{"data":[],"total":0}|[]|[]|false|spindle.memories.entities.create is not available in Conclave.`)
}

// messages is an extension that changes messages as its caller says.
func messages(t *testing.T) *whole {
	t.Helper()
	return extension(t, runs("", attempts+`
const seen = (m) => [m.content, m.swipe_id, m.swipes, m.metadata];
if (args.change) await attempt(async () => seen(await spindle.chat.updateMessage(args.chat, args.message, args.change)));
await attempt(async () => (await spindle.chat.getMessages(args.chat)).map(seen));
return said.join("|");`), "tools", "chat_mutation")
}

func TestMetadataOfAMessageIsStoredWithIt(t *testing.T) {
	w := messages(t)
	id := w.chat("hello", "hi")
	change := func(what string) string {
		return fmt.Sprintf(`{"chat":%q,"message":"%s:2","change":%s}`, id, id, what)
	}
	w.wants("", change(`{"metadata":{"mood":"calm"}}`),
		`["hi",0,["hi"],{"mood":"calm"}]|[["hello",0,["hello"],{}],["hi",0,["hi"],{"mood":"calm"}]]`)
	w.wants("", change(`{"content":"changed"}`),
		`["changed",0,["changed"],{"mood":"calm"}]|[["hello",0,["hello"],{}],["changed",0,["changed"],{"mood":"calm"}]]`)
	w.restart()
	unchanged := `|[["hello",0,["hello"],{}],["changed",0,["changed"],{"mood":"calm"}]]`
	for what, want := range map[string]string{
		`{"metadata":[1]}`:                                         "The metadata of a message is an object.",
		`{"metadata":{},"reasoning":{}}`:                           "spindle.chat.updateMessage stores no “reasoning” in Conclave, so nothing was changed.",
		`{"content":"x","swipes":["a",1]}`:                         "The swipes of a message are a list of texts.",
		`{"content":"x","swipe_dates":[5]}`:                        "spindle.chat.updateMessage stores no “swipe_dates” but those of now in Conclave, so nothing was changed.",
		`{"content":"x","swipe_id":1}`:                             "There is no version 1 of that message; it has 1, counted from 0.",
		`{"swipes":["a",""]}`:                                      "A message has between 1 byte and 1024 KB.",
		`{"metadata":{"a":"` + strings.Repeat("x", 70<<10) + `"}}`: "The metadata of a message may have at most 64 KB.",
	} {
		w.wants("", change(what), want+unchanged)
	}
}

func TestASwipeIsAnotherVersionOfTheMessage(t *testing.T) {
	w := messages(t)
	id := w.chat("hello", "hi", "how are you?")
	change := func(of int, what string) string {
		return fmt.Sprintf(`{"chat":%q,"message":"%s:%d","change":%s}`, id, id, of, what)
	}
	// Added, and not shown.
	w.wants("", change(2, `{"swipes":["hi","good day"]}`),
		`["hi",0,["hi","good day"],{}]|[["hello",0,["hello"],{}],["hi",0,["hi","good day"],{}],["how are you?",0,["how are you?"],{}]]`)
	// Shown: what followed the other version follows that one only.
	w.wants("", change(2, `{"swipe_id":1}`),
		`["good day",1,["hi","good day"],{}]|[["hello",0,["hello"],{}],["good day",1,["hi","good day"],{}]]`)
	// One that is not shown is changed where it stands; the shown one answers to its own id.
	w.wants("", change(4, `{"swipes":["hi there","good day","bye"],"swipe_id":2}`),
		`["bye",2,["hi there","good day","bye"],{}]|[["hello",0,["hello"],{}],["bye",2,["hi there","good day","bye"],{}]]`)
	w.wants("", change(5, `{"swipe_id":0}`),
		`["hi there",0,["hi there","good day","bye"],{}]|[["hello",0,["hello"],{}],`+
			`["hi there",0,["hi there","good day","bye"],{}],["how are you?",0,["how are you?"],{}]]`)
	w.wants("", change(2, `{"swipes":["hi there"]}`),
		`That message has 3 versions, and 1 were given. Only the person takes one away.|[["hello",0,["hello"],{}],`+
			`["hi there",0,["hi there","good day","bye"],{}],["how are you?",0,["how are you?"],{}]]`)
	added, err := w.Store.Chats.Message(t.Context(), id, 4)
	must(t, err)
	if added.Role != chat.RoleAssistant || added.Parent != 1 || added.Model != "plugin/ext" || len(added.Origins) == 0 {
		t.Errorf("the added version is %+v", added)
	}
}

func TestAnObserverHearsOneChatsAnswersUntilItIsDisposed(t *testing.T) {
	w := extension(t, runs(`const heard = []; let seen;
spindle.on("CHAT_SWITCHED", () => {});`, `
if (args.observe) {
  seen = spindle.generate.observe(args.observe);
  seen.onStart((p) => heard.push("start " + (seen.generationId === p.generationId)));
  seen.onToken((p) => heard.push("token " + p.token));
  seen.onEnd((p) => heard.push("end " + seen.content + "/" + seen.generationId));
  return typeof seen.then;
}
if (args.dispose) seen.dispose();
return heard.join("|");`), "tools", "generation")
	id, other := w.chat("hello", "hi"), w.chat("hello", "hi")
	w.wants("", fmt.Sprintf(`{"observe":%q}`, id), "undefined")
	w.say(other, "more", modeltest.New([]modeltest.Step{modeltest.Say("elsewhere")}))
	w.say(id, "more", modeltest.New([]modeltest.Step{modeltest.Say("yes")}))
	w.until(`{}`, "start true|token yes|end yes/null")
	w.wants("", `{"dispose":true}`, "start true|token yes|end yes/null")
	w.say(id, "again", modeltest.New([]modeltest.Step{modeltest.Say("no")}))
	w.wants("", `{}`, "start true|token yes|end yes/null")
}

func TestAnExtensionWithoutToolsSaysWhatWorksOfIt(t *testing.T) {
	for source, want := range map[string]string{
		`spindle.on("CHAT_SWITCHED", () => {});`: "What works of it here: it follows what happens (CHAT_SWITCHED).",
		`const nothing = 1;`:                     "Nothing of it works here: it offers no tools, changes no prompts and follows no events.",
	} {
		w := extension(t, source, "chats", "interceptor", "image_gen")
		s, err := w.Host.Status("ext")
		if err != nil || !slices.Contains(s.Notes, want) {
			t.Errorf("%s: its notes are %q, %v; want %q", source, s.Notes, err, want)
		}
		const pictures = "Conclave makes no pictures; if it tells models to write picture tags, revoke its permission " +
			"interceptor: the rest of it goes on."
		if !slices.Contains(s.Manifest.Notices, pictures) {
			t.Errorf("its notices are %q", s.Manifest.Notices)
		}
	}
}

func TestAnExtensionWithoutCodeIsGrantedNothing(t *testing.T) {
	w := &whole{t: t, data: t.TempDir()}
	testkit.Write(t, filepath.Join(w.data, "plugins", "ext", "spindle.json"),
		`{"version": "1", "name": "Ext", "identifier": "ext", "author": "a", "permissions": ["chats", "interceptor"]}`)
	w.open()
	must(t, plugintest.Approve(t.Context(), w.Host, "ext", false))
	w.settle()
	s, err := w.Host.Status("ext")
	if err != nil || len(s.Granted) > 0 || len(s.Manifest.Permissions) > 0 {
		t.Errorf("it is granted %q and asks for %q, %v", s.Granted, s.Manifest.Permissions, err)
	}
}
