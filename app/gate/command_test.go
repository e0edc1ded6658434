package gate_test

import (
	"strings"
	"testing"

	"conclave/app/gate"
)

// echo is the command “echo a b” of the plugin notes, in a chat.
func echo(arguments ...string) gate.Starting {
	return gate.Starting{
		Plugin: "notes", Program: "/usr/bin/echo", Arguments: append([]string{"a b"}, arguments...), Folder: "/tmp",
		Behalf: gate.Call{Caller: gate.Main, Conversation: "chat-1", Turn: "turn-1"},
	}
}

// starts decides about a command and returns what a person was asked, who answers so.
func starts(t *testing.T, g *gate.Gate, s gate.Starting, a gate.Answer) (gate.Decision, *gate.Request) {
	t.Helper()
	var asked *gate.Request
	s.Behalf.Asker = asks(func(p gate.Request) gate.Answer {
		asked = &p
		return a
	})
	return g.Start(t.Context(), s), asked
}

func TestACommandIsShownAsItIsAndAllowedForGood(t *testing.T) {
	g, _ := trusted(t, gate.Options{Project: twoProjects.of})
	d, asked := starts(t, g, echo("it's", "$(x)", ""), gate.Answer{Effect: gate.Allow, Scope: gate.ThisProject})
	if d.Effect != gate.Allow || asked == nil {
		t.Fatalf("decided %+v", d)
	}
	want := `{"program":"/usr/bin/echo","command":"echo 'a b' 'it'\\''s' '$(x)' ''","folder":"/tmp"}`
	if string(asked.Arguments) != want || asked.Title != "Notes wants to start echo" || !asked.Fixed {
		t.Errorf("asked %s as %s", asked.Title, asked.Arguments)
	}
	if _, again := starts(t, g, echo("it's", "$(x)", ""), gate.Answer{}); again != nil {
		t.Error("it is asked about again")
	}
	other := echo("it's", "$(x)", "")
	other.Behalf.Conversation = "chat-3" // of another project
	elsewhere := echo("it's", "$(x)", "")
	elsewhere.Folder = "/usr"
	another := echo("it's", "$(x)", "")
	another.Program = "/bin/echo"
	for name, s := range map[string]gate.Starting{
		"another project": other, "another folder": elsewhere, "another file": another,
		"one word more": echo("it's", "$(x)", "", ""),
		"words joined":  echo("it's $(x)", ""),
	} {
		if d, asked := starts(t, g, s, gate.Answer{Effect: gate.Deny}); asked == nil || d.Effect != gate.Deny {
			t.Errorf("%s is decided without a person: %+v", name, d)
		}
	}
}

func TestACommandIsAskedAboutWhateverHoldsForOthers(t *testing.T) {
	mode := gate.Standard
	g, _ := trusted(t, gate.Options{Mode: func() gate.Mode { return mode }})
	starts(t, g, echo(), gate.Answer{Effect: gate.Allow, Scope: gate.Always})
	tainted := echo()
	tainted.Behalf.Taint = fromExample
	d, asked := starts(t, g, tainted, gate.Answer{Effect: gate.Deny})
	if asked == nil || !strings.Contains(asked.Reason, "text from example.org") || d.Effect != gate.Deny {
		t.Errorf("with text of others in the chat it is %+v", d)
	}
	member := echo()
	member.Behalf.Caller = "member:ada"
	within := echo()
	within.Within = []gate.Call{{Caller: gate.Main}, {Caller: "member:ada"}}
	for _, s := range []gate.Starting{member, within} {
		if d, asked := starts(t, g, s, gate.Answer{Effect: gate.Allow}); asked != nil || d.Effect != gate.Deny ||
			!strings.Contains(d.Reason, "council members may not run programs") {
			t.Errorf("a member's is %+v", d)
		}
	}
	for name, s := range map[string]gate.Starting{
		"no letters that nobody sees": echo("\u202egnp.exe"), "no escape": echo("\x1b[2J"),
		"no length": echo(strings.Repeat("a", 9000)),
		"no key":    echo("~/.ssh/id_ed25519"), "no text": echo("\xff"),
	} {
		if d, asked := starts(t, g, s, gate.Answer{Effect: gate.Allow}); asked != nil || d.Effect != gate.Deny {
			t.Errorf("%s: %+v", name, d)
		}
	}
	refused := gate.Answer{Effect: gate.Deny, Scope: gate.Always}
	if _, asked := starts(t, g, echo("two\nlines"), refused); asked == nil {
		t.Error("a command of two lines cannot be asked about")
	}
	if d, asked := starts(t, g, echo("two\nlines"), gate.Answer{Effect: gate.Allow}); asked != nil || d.Step != 2 {
		t.Errorf("never was not for good: %+v", d)
	}
	g.Modes.SetPaused(true)
	if d, asked := starts(t, g, echo(), gate.Answer{Effect: gate.Allow}); asked != nil || d.Effect != gate.Deny {
		t.Errorf("paused: %+v", d)
	}
}

func TestTheVariablesOfACommandAreShownAndPartOfWhatIsAllowed(t *testing.T) {
	g, _ := trusted(t, gate.Options{})
	with := func(variables ...string) gate.Starting {
		s := echo()
		s.Variables = variables
		return s
	}
	always := gate.Answer{Effect: gate.Allow, Scope: gate.Always}
	d, asked := starts(t, g, with("GREETING=good day", "N=1"), always)
	want := `{"program":"/usr/bin/echo","command":"GREETING='good day' N=1 echo 'a b'","folder":"/tmp"}`
	if d.Effect != gate.Allow || asked == nil || string(asked.Arguments) != want {
		t.Fatalf("decided %+v, asked %+v", d, asked)
	}
	if _, again := starts(t, g, with("GREETING=good day", "N=1"), gate.Answer{}); again != nil {
		t.Error("it is asked about again")
	}
	for name, s := range map[string]gate.Starting{
		"without them": with(), "another value": with("GREETING=good day", "N=2"),
		"one more": with("A=1", "GREETING=good day", "N=1"),
	} {
		if d, asked := starts(t, g, s, gate.Answer{Effect: gate.Deny}); asked == nil || d.Effect != gate.Deny {
			t.Errorf("%s is decided without a person: %+v", name, d)
		}
	}
	_, asked = starts(t, g, with("A=x y", "LD_PRELOAD=/tmp/own.so"), gate.Answer{Effect: gate.Deny})
	if asked == nil || !strings.Contains(asked.Reach, "With LD_PRELOAD the program can run the plugin’s code") {
		t.Errorf("of a variable that puts other code into the program it says %+v", asked)
	}
	named := echo()
	named.Program = "/usr/bin/N=1"
	_, asked = starts(t, g, named, gate.Answer{Effect: gate.Deny})
	if asked == nil || !strings.Contains(string(asked.Arguments), `"command":"N'='1 'a b'"`) {
		t.Errorf("a program that is named like a variable is shown as %s", asked.Arguments)
	}
	for name, s := range map[string]gate.Starting{
		"a name with a space": with("A B=1"), "an unseen character": with("A=\u202e"),
		"a place of keys": with("A=~/.ssh/id_rsa"),
	} {
		if d, asked := starts(t, g, s, always); asked != nil || d.Effect != gate.Deny {
			t.Errorf("%s: asked %+v, decided %+v", name, asked, d)
		}
	}
}
