package window_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/base/textdiff"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/view"
	"conclave/app/window"
)

// sampled runs the sample council to its end, and returns the chat and the run.
func (w *testWindow) sampled() (conversation, run string, p transcript.Pull) {
	w.t.Helper()
	sent, err := w.Council.Sample()
	must(w.t, err)
	w.until("the line of the council", func() bool {
		p = w.pull(sent.Conversation)
		return p.Status == nil && len(p.Entries) == 2 && p.Entries[1].Council != nil &&
			p.Entries[1].Council.State == string(council.Over)
	})
	return sent.Conversation, p.Entries[1].Council.Run, p
}

func TestTheSampleCouncilIsWatchedReadExportedAndOpened(t *testing.T) {
	w := open(t)
	chat, run, p := w.sampled()
	if line := p.Entries[1].Council; line.Members != 3 || !line.Known || line.Live {
		t.Errorf("the line is %+v", line)
	}
	headers, err := w.Council.Runs(chat)
	if err != nil || len(headers) != 1 || headers[0].Run != run || headers[0].Live {
		t.Errorf("the runs are %+v, %v", headers, err)
	}
	v, err := w.Council.Run(run, 0)
	must(t, err)
	if v.State != council.Over || v.Result == nil || len(v.Lanes) != 4 || v.Edited || v.Problem != "" {
		t.Fatalf("the run is %+v", v)
	}
	s, err := w.Council.Settings(chat)
	if err != nil || len(s.Council.Members) != 3 || s.Scope != "chat "+chat || s.Council.Enabled {
		t.Errorf("its chat is left with the council %+v of %q, %v", s.Council, s.Scope, err)
	}
	first := v.Lanes[0].Tasks[0]
	said, err := w.Council.Said(run, first.ID)
	if err != nil || said.Opinion == nil || !strings.Contains(said.HTML, "<p>") ||
		strings.Contains(said.Text, "```council") {
		t.Errorf("the first said %+v, %v", said, err)
	}
	sent, err := w.Council.Sent(run, first.ID)
	if err != nil || len(sent) == 0 || sent[0].Tool != "" ||
		sent[0].Body == "" || len(sent[0].Blocks) == 0 || sent[0].Without != "" {
		t.Errorf("it was sent %+v, %v", sent, err)
	}
	lines, err := w.Council.Compare(run, first.ID, v.Lanes[1].Tasks[0].ID, 0)
	added := func(l view.DiffLine) bool { return l.Kind == textdiff.Added }
	if err != nil || !slices.ContainsFunc(lines, added) {
		t.Errorf("what two were sent differs by %+v, %v", lines, err)
	}
	seats := p.Entries[1].Council.Seats
	if len(seats) != 3 || seats[0].Name != "Researcher" || seats[0].Letter != "a" || !seats[0].Agreed || seats[1].Agreed {
		t.Errorf("under the answer sit %+v", seats)
	}
	must(t, w.Council.Rate(run, v.Lanes[0].Member, 1, false))
	must(t, w.Council.Rate(run, v.Lanes[0].Member, 1, true))
	must(t, w.Council.Rate(run, v.Lanes[0].Member, 2, false))
	helped, err := w.Council.Helped()
	if err != nil || len(helped) != 1 || helped["Researcher"] != (window.HelpedCount{Rated: 2, Helped: 1}) {
		t.Errorf("of the thumbs are kept %+v, %v", helped, err)
	}
	v, err = w.Council.Run(run, 0)
	if err != nil || len(v.Lanes[0].Ratings) != 2 || !v.Lanes[0].Ratings[0].Good || len(v.Lanes[1].Ratings) != 0 {
		t.Errorf("the thumbs are shown as %+v, %v", v.Lanes[0].Ratings, err)
	}
	if p = w.pull(chat); !p.Entries[1].Council.Seats[0].Agreed {
		t.Errorf("after a thumb, under the answer sit %+v", p.Entries[1].Council.Seats)
	}
	kind(t, "an act that comes too late", w.Council.Act(run, council.Finish, "", nil, ""), fault.Conflict, "too late")
	if _, err := w.Council.Said(run, "9/nobody"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("work that is not there: %v", err)
	}

	file, err := w.Council.Export(run)
	must(t, err)
	opened, err := w.Council.Open(file.Text)
	if err != nil || len(opened.Report.Problems) > 0 || len(opened.View.Lanes) != 4 || opened.View.Run == run {
		t.Fatalf("opened: %+v, %v", opened.Report, err)
	}
	again, err := w.Council.Said(opened.View.Run, first.ID)
	if err != nil || again.Text != said.Text {
		t.Errorf("the file says %+v, %v", again, err)
	}
	if _, err := w.Council.Resume(opened.View.Run, false); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the run of a file goes on: %v", err)
	}
	changed := strings.Replace(file.Text, `"texts":{`, `"texts":{},"other":{`, 1)
	opened, err = w.Council.Open(changed)
	report := opened.Report
	if err != nil || changed == file.Text || len(report.Problems) != 1 || opened.View.Problem != "" {
		t.Errorf("what is missing from a file is said twice: %+v, %q, %v", report, opened.View.Problem, err)
	}
	if _, err := w.Council.Open("{}"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("what is no run opens: %v", err)
	}
}

func TestARunIsMadeAgainWithOneChange(t *testing.T) {
	w := open(t)
	chat, run, _ := w.sampled()
	v, err := w.Council.Run(run, 0)
	must(t, err)
	sent, err := w.Council.Again(run, deliberation.Change{Member: v.Lanes[1].Member, Role: new("Pirate")})
	must(t, err)
	w.until("the second run", func() bool {
		headers, err := w.Council.Runs(chat)
		return err == nil && len(headers) == 2 && headers[1].State == council.Over
	})
	headers, err := w.Council.Runs(chat)
	must(t, err)
	second, err := w.Council.Run(headers[1].Run, 0)
	if err != nil || second.Again != run || !strings.Contains(second.Change, "Pirate") || sent.Conversation != chat {
		t.Errorf("again: %+v, %v", second, err)
	}
}

func TestACouncilOfOneChatIsAskedInNoOther(t *testing.T) {
	w := open(t, say("Hello."), say("Once more.")).quiet()
	can, err := w.Council.Choices("")
	must(t, err)
	other := w.ask("", "Hello?")
	on := func(chat string) [2]bool {
		t.Helper()
		s, err := w.Council.Settings(chat)
		must(t, err)
		return [2]bool{s.Council.Enabled, s.Everywhere}
	}
	// A preset that is chosen before a chat begins is that chat's.
	set := can.Presets[0].Council
	set.Enabled, set.Members = true, set.Members[:1]
	set.Members[0].Off = true // nobody is asked
	must(t, w.Council.Set("", can.Scopes[0].Scope, set))
	if got := [3][2]bool{on(""), on(other)}; got != [3][2]bool{{true, false}} {
		t.Errorf("before the chat began, the new and the other one: %v", got)
	}
	begun := w.ask("", "Once more?")
	if got := [3][2]bool{on(begun), on(""), on(other)}; got != [3][2]bool{{true, false}} {
		t.Errorf("the chat that began, the next and the other one: %v", got)
	}
	// All others are asked about for themselves.
	undo, err := w.Council.UseEverywhere(begun, true)
	must(t, err)
	if got := [3][2]bool{on(begun), on(""), on(other)}; got != [3][2]bool{{true, true}, {true, true}, {true, true}} {
		t.Errorf("everywhere: %v", got)
	}
	_, err = w.Council.Use("", false) // not asked in the next chat alone
	must(t, err)
	if got := [3][2]bool{on(begun), on(""), on(other)}; got != [3][2]bool{{true, true}, {false, true}, {true, true}} {
		t.Errorf("off in the next chat: %v", got)
	}
	must(t, w.Window.Undo(undo.Token))
	if got := [3][2]bool{on(begun), on(""), on(other)}; got != [3][2]bool{{true, false}} {
		t.Errorf("taken back: %v", got)
	}
}

func TestTheCouncilOfAChatIsSetThereOrEverywhere(t *testing.T) {
	w := open(t, say("Hello."), say("Once more.")).quiet()
	s, err := w.Council.Settings("")
	if err != nil || s.Council.Enabled {
		t.Fatalf("at first: %+v, %v", s, err)
	}
	can, err := w.Council.Choices("")
	if err != nil || len(can.Scopes) != 2 || len(can.Presets) < 4 || len(can.Tools) == 0 || len(can.Models) == 0 {
		t.Fatalf("at first, one can choose of %+v, %v", can, err)
	}
	for _, preset := range can.Presets {
		if preset.Sentence == "" {
			t.Errorf("nothing says what %s is good for", preset.Name)
		}
	}
	chat := w.ask("", "Hello?")
	set := can.Presets[0].Council
	must(t, w.Council.Set(chat, "global", set))
	_, err = w.Council.Use(chat, true)
	must(t, err)
	s, err = w.Council.Settings(chat)
	if err != nil || s.Scope != "chat "+chat || !s.Council.Enabled {
		t.Errorf("in the chat: %+v, %v", s, err)
	}
	if can, err = w.Council.Choices(chat); err != nil || !can.Scopes[0].Set || !can.Scopes[1].Set {
		t.Errorf("it can be set at %+v, %v", can.Scopes, err)
	}
	counts, err := w.Council.Contexts(chat, set)
	if err != nil || len(counts) != len(set.Members) || counts[set.Members[0].ID].Tokens == 0 {
		t.Errorf("the contexts are %+v, %v", counts, err)
	}
	must(t, w.Council.Clear(chat, "chat "+chat))
	if s, err = w.Council.Settings(chat); err != nil || s.Scope != "global" {
		t.Errorf("cleared, it holds %q, %v", s.Scope, err)
	}
	kind(t, "another chat's council", w.Council.Set(chat, "chat other", set), fault.Invalid, "cannot be set there")
	set.Mode = "quarrel"
	kind(t, "a mode that is none", w.Council.Set(chat, "global", set), fault.Invalid, "quarrel")

	_, err = w.Council.SavePreset("  My   own ", can.Presets[1].Council)
	must(t, err)
	undo, err := w.Council.DeletePreset("My own")
	must(t, err)
	must(t, w.Window.Undo(undo.Token))
	if can, err = w.Council.Choices(chat); err != nil || !can.Presets[len(can.Presets)-1].Own {
		t.Errorf("the presets are %+v, %v", can.Presets, err)
	}
	sent, err := w.Chats.Send(chat, window.Outgoing{Text: "And now?", CouncilSkip: true})
	must(t, err)
	if p := w.over(sent.Conversation); len(p.Entries) != 4 || p.Entries[3].Council != nil {
		t.Errorf("skipped, it is %+v", p.Entries)
	}
}

func TestPresetsAreKeptByNamesThatNoOtherHas(t *testing.T) {
	w := open(t)
	names := func() (all []string) {
		t.Helper()
		presets, err := w.Council.Presets()
		must(t, err)
		for _, p := range presets {
			if p.Own {
				all = append(all, p.Name)
			}
			if p.Council.Name != p.Name {
				t.Errorf("the council of %s is called %s", p.Name, p.Council.Name)
			}
		}
		return all
	}
	is := func(what string, want ...string) {
		t.Helper()
		if got := names(); !slices.Equal(got, want) {
			t.Errorf("%s, one has %q, want %q", what, got, want)
		}
	}
	all, err := w.Council.Presets()
	if err != nil || len(all) != len(council.Presets()) || all[0].Council.Helper.Model != "" {
		t.Fatalf("at first there are %+v, %v", all, err)
	}
	add := func(name string) string {
		t.Helper()
		kept, err := w.Council.AddPreset(name, all[1].Council)
		must(t, err)
		return kept
	}
	if first, second := add("red team"), add(" Red  team "); first != "red team 2" || second != "Red team 3" {
		t.Errorf("copies are called %q and %q", first, second)
	}
	must(t, w.Council.RenamePreset("red team 2", "Attackers"))
	must(t, w.Council.RenamePreset("Red team 3", "red team 3"))
	is("with two copies renamed", "Attackers", "red team 3")
	for _, taken := range []string{"attackers", "Three chairs"} {
		kind(t, "a name that is taken", w.Council.RenamePreset("red team 3", taken), fault.Conflict, "already")
	}
	kind(t, "no name", w.Council.RenamePreset("red team 3", " \u200b "), fault.Invalid, "empty name")
	kind(t, "one of Conclave's", w.Council.RenamePreset("Red team", "Mine"), fault.NotFound, "no preset")
	is("with nothing renamed", "Attackers", "red team 3")

	undo, err := w.Council.DeletePreset("Attackers")
	must(t, err)
	add("Attackers")
	must(t, w.Window.Undo(undo.Token))
	is("deleted, made anew and back", "Attackers", "Attackers 2", "red team 3")

	other := all[2].Council
	undo, err = w.Council.SavePreset("Attackers", other)
	if err != nil || !strings.Contains(undo.Sentence, "replaced") {
		t.Errorf("kept by a name that one has: %+v, %v", undo, err)
	}
	must(t, w.Window.Undo(undo.Token))
	presets, err := w.Council.Presets()
	must(t, err)
	if got := presets[len(all)].Council; got.Name != "Attackers" || got.Mode != all[1].Council.Mode {
		t.Errorf("what was replaced is back as %+v", got)
	}
	set, err := w.Council.Choices("")
	must(t, err)
	if chosen := set.Presets[len(all)].Council; chosen.Helper.Model == "" {
		t.Errorf("chosen, nobody of %+v has a model", chosen)
	}
}

func TestAMemberIsAskedByItsNameInTheWindow(t *testing.T) {
	w := open(t, say("Hello."), say("Hello again."), say("And again.")).quiet()
	set, _ := council.Sample()
	must(t, w.Council.Set("", "global", set))
	sent, err := w.Chats.Send("", window.Outgoing{Text: "@Maker who begins?"})
	must(t, err)
	alone := func(n int, member string) {
		t.Helper()
		var runs []view.RunHeader
		w.until("the run", func() bool {
			runs, err = w.Council.Runs(sent.Conversation)
			return err == nil && len(runs) == n && runs[n-1].State == council.Over
		})
		v, err := w.Council.Run(runs[n-1].Run, 0)
		must(t, err)
		for _, lane := range v.Lanes[:3] {
			if lane.In != (lane.Member == member) {
				t.Errorf("in run %d %s takes part: %v", n, lane.Name, lane.In)
			}
		}
		w.over(sent.Conversation)
	}
	alone(1, "maker")
	_, err = w.Chats.Regenerate(sent.Conversation, sent.Seq+1, "")
	must(t, err)
	alone(2, "maker")
	_, err = w.Chats.Edit(sent.Conversation, sent.Seq, "@Sceptic who begins?", true)
	must(t, err)
	alone(3, "sceptic")
}

func TestAnAnswerIsMadeAgainByTheModelThatIsChosenForIt(t *testing.T) {
	w := open(t, say("Mine.")).quiet()
	set, question := council.Sample()
	set.Chair = "demo/guide"
	must(t, w.Council.Set("", "global", set))
	sent, err := w.Chats.Send("", window.Outgoing{Text: question})
	must(t, err)
	answeredBy := func(n int) string {
		t.Helper()
		var runs []view.RunHeader
		w.until("the run", func() bool {
			runs, err = w.Council.Runs(sent.Conversation)
			return err == nil && len(runs) == n && runs[n-1].State == council.Over
		})
		w.over(sent.Conversation)
		v, err := w.Council.Run(runs[n-1].Run, 0)
		must(t, err)
		return v.Lanes[len(v.Lanes)-1].Model
	}
	if got := answeredBy(1); got != set.Chair {
		t.Errorf("the question was answered by %s", got)
	}
	mine := w.model.Info().Name()
	_, err = w.Chats.Regenerate(sent.Conversation, sent.Seq+1, mine)
	must(t, err)
	if got := answeredBy(2); got != mine {
		t.Errorf("with a model chosen it was answered by %s", got)
	}
}

func TestAMemberWithoutItsOwnEstimateIsCountedByItsNewestRuns(t *testing.T) {
	w := open(t, say("So.")).quiet()
	id := chat.ConversationID(w.ask("", "Which colour?"))
	ran := func(n int, mode council.Mode, seats ...council.SeatLine) {
		t.Helper()
		at := time.Date(2026, 11, 22, 9, n, 0, 0, time.UTC)
		run := council.RunID(fmt.Sprintf("run-%d", n))
		set := council.Default()
		set.Mode, set.Members = mode, []council.Member{{ID: "ada", Name: "Ada"}}
		begin := council.Begin{Run: run, Conversation: id, Council: set}
		step := council.Step{Number: 1, Kind: council.Begins, At: at, Begin: &begin}
		must(t, w.core.Store.Councils.AppendSteps(t.Context(), council.Header{
			Run: run, Conversation: id, Mode: mode, State: council.Over, Began: at, Seats: seats,
		}, []council.Step{step}, nil))
	}
	ran(1, council.Opinions, council.SeatLine{Name: "Ada", Same: true}, council.SeatLine{Name: "Bo", Same: true})
	ran(2, council.Opinions, council.SeatLine{Name: "Ada", Agreed: true}, council.SeatLine{Name: "Bo", Same: true})
	ran(3, council.Opinions, council.SeatLine{Name: "Ada", Same: true}, council.SeatLine{Name: "Bo", Same: true})
	ran(4, council.Tools, council.SeatLine{Name: "Ada"}, council.SeatLine{Name: "Bo"}) // there are no points
	ran(5, council.Review, council.SeatLine{Name: "Ada", Same: true},
		council.SeatLine{Name: "Bo", Same: true, Rated: 1, Helped: 1})
	helped, err := w.Council.Helped()
	if err != nil || helped["Ada"] != (window.HelpedCount{Same: 2}) ||
		helped["Bo"] != (window.HelpedCount{Rated: 1, Helped: 1}) {
		t.Errorf("counted are %+v, %v", helped, err)
	}
}

func TestAPointOfAReviewHasTheNumberThatItIsCitedBy(t *testing.T) {
	w := open(t, say("So.")).quiet()
	set := council.Default()
	set.Mode, set.Parallel = council.Review, 1
	for _, name := range []string{"Ada", "Bo", "Cy"} {
		set.Put(council.Member{Name: name, Tools: []string{}})
	}
	id := w.ask("", "Which colour?")
	var run council.Run
	var steps []council.Step
	texts := map[council.Hash][]byte{}
	do := func(s council.Step) {
		t.Helper()
		s.At = run.Last.At.Add(time.Second)
		s.Number = run.Last.Number + 1
		must(t, run.Apply(s))
		steps = append(steps, s)
	}
	do(council.Step{Kind: council.Begins, Begin: &council.Begin{
		Run: "run", Conversation: chat.ConversationID(id), Council: set, Seed: 7, Places: true,
		Titles: map[string]string{"web:search": "Search the web"},
	}})
	for len(run.Next().Start) > 0 {
		task := run.Next().Start[0]
		text := fmt.Appendf(nil, "Words.\n\n```council\n"+`{"points": [{"claim": "Of %s.", "basis": "tool", "source": "search"}], "stances": [{"point": "a1", `+
			`"says": "agree"}]}`+"\n```\n", task)
		end := council.End{
			State: council.Done, Text: council.HashOf(text), Bytes: len(text), Used: []string{"web:search"},
		}
		texts[end.Text] = text
		do(council.Step{Kind: council.Starts, Task: task, Attempt: 1})
		do(council.Step{Kind: council.Ends, Task: task, Attempt: 1, End: &end})
	}
	header := council.Header{Run: "run", Conversation: chat.ConversationID(id)}
	must(t, w.core.Store.Councils.AppendSteps(t.Context(), header, steps,
		texts))
	for _, task := range run.Tasks {
		said, err := w.Council.Said("run", task.ID)
		must(t, err)
		if source := said.Opinion.Points[0].Source; source != "Search the web" {
			t.Errorf("the point of %s is from the tool %s", task.ID, source)
		}
		if said.First != task.Stage || len(said.Opinion.Points) != 1 || said.Opinion.Points[0].Claim != "Of "+task.ID+"." {
			t.Errorf("%s counts from %d and has %+v", task.ID, said.First, said.Opinion)
		}
		view, err := w.Council.Run("run", 0)
		must(t, err)
		lane := view.Lanes[slices.IndexFunc(view.Lanes, func(l council.LaneView) bool { return l.Member == task.Member })]
		if want := run.Called(run.Letter("", run.OfLetter(task.Member, "a"))); len(lane.Drawn) != 2 ||
			lane.Drawn[0] != (council.Drawn{Letter: "a", Name: want}) {
			t.Errorf("the letters of %s are told as %+v, want %s first", task.ID, lane.Drawn, want)
		}
		// It knew the others by letters that were drawn for it.
		of := run.Letter("", run.OfLetter(task.Member, "a")) + "1"
		if task.Kind == council.Look && (len(said.Stances) != 1 || said.Stances[0].Point != of) {
			t.Errorf("%s speaks of %s, which is told as %+v", task.ID, of, said.Stances)
		}
	}
}

func TestRequestsAreComparedByTheirNumber(t *testing.T) {
	w := open(t, say("So.")).quiet()
	set := council.Default()
	for _, name := range []string{"Ada", "Bo"} {
		set.Put(council.Member{Name: name, Tools: []string{}})
	}
	id := chat.ConversationID(w.ask("", "Which colour?"))
	texts := map[council.Hash][]byte{}
	keep := func(text []byte) council.Hash {
		texts[council.HashOf(text)] = text
		return council.HashOf(text)
	}
	var run council.Run
	var steps []council.Step
	do := func(s council.Step) {
		t.Helper()
		s.At = run.Last.At.Add(time.Second)
		s.Number = run.Last.Number + 1
		must(t, run.Apply(s))
		steps = append(steps, s)
	}
	do(council.Step{Kind: council.Begins, Begin: &council.Begin{Run: "run", Conversation: id, Council: set}})
	for task, words := range map[string][]string{
		"0/ada/answer": {"Ada first", "Ada second"}, "0/bo/answer": {"Bo alone"},
	} {
		end := council.End{State: council.Done}
		for _, said := range words {
			blocks, err := json.Marshal([]council.Block{{Title: "Role", Text: keep([]byte(said))}})
			must(t, err)
			end.Requests = append(end.Requests, council.Request{Given: keep(blocks)})
		}
		do(council.Step{Kind: council.Starts, Task: task, Attempt: 1})
		do(council.Step{Kind: council.Ends, Task: task, Attempt: 1, End: &end})
	}
	must(t, w.core.Store.Councils.AppendSteps(t.Context(), council.Header{Run: "run", Conversation: id}, steps, texts))
	for number, want := range []string{"Ada first", "Ada second", "Ada second"} {
		lines, err := w.Council.Compare("run", "0/ada/answer", "0/bo/answer", number)
		must(t, err)
		var got []string
		for _, l := range lines {
			if l.Kind != textdiff.Same {
				got = append(got, l.Text)
			}
		}
		if !slices.Equal(got, []string{want, "Bo alone"}) {
			t.Errorf("compared by number %d, they differ by %q", number, got)
		}
	}
}

func TestAMemberIsAFileInAndOut(t *testing.T) {
	w := open(t)
	set := council.Presets()[0]
	text, err := w.Council.MemberFile(set.Members[0])
	must(t, err)
	m, err := w.Council.ReadMember(text, set)
	if err != nil || m.ID == set.Members[0].ID || m.Role != set.Members[0].Role {
		t.Errorf("read back: %+v, %v", m, err)
	}
	if _, err := w.Council.ReadMember("[]", set); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a list is a member: %v", err)
	}
	theirs, err := w.Council.ReadCouncil(`{"councilMode": true, "members": [{"itemName": "Bo", "tools": []}]}`)
	if err != nil || !theirs.Enabled || theirs.Members[0].Name != "Bo" {
		t.Errorf("another program's council: %+v, %v", theirs, err)
	}
}

func TestAnEstimateIsOfTheMessageAsItIsWritten(t *testing.T) {
	w := open(t)
	set, err := w.Council.ReadCouncil(`{"members": [{"name": "Ada", "model": "` + settings.DemoModel + `"}]}`)
	must(t, err)
	picture, err := w.Chats.Attach("red.png", base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n")))
	must(t, err)
	estimate := func(message window.Outgoing) council.Estimate {
		t.Helper()
		e, err := w.Council.Estimate("", set, message)
		must(t, err)
		return e
	}
	plain := estimate(window.Outgoing{Text: "Which colour?"})
	guided := estimate(window.Outgoing{Text: "Which colour?", Model: settings.DemoModel})
	if plain.Known || !guided.Known {
		t.Errorf("by the default model the price is known %v, by the one chosen for the chat %v", plain.Known, guided.Known)
	}
	shown := estimate(window.Outgoing{Text: "Which colour?", Attachments: []string{picture.ID}})
	if shown.Input < plain.Input+1000 {
		t.Errorf("with a picture it comes to %d tokens, without to %d", shown.Input, plain.Input)
	}
}

func TestACouncilThatIsMovedHoldsThereAndIsPutBack(t *testing.T) {
	w := open(t, say("Hello.")).quiet()
	chat := w.ask("", "Hello?")
	can, err := w.Council.Choices(chat)
	must(t, err)
	everywhere, here := can.Presets[0].Council, can.Presets[1].Council
	must(t, w.Council.Set(chat, "global", everywhere))
	must(t, w.Council.Set(chat, "chat "+chat, here))
	holds := func(when, scope, name, elsewhere string) {
		t.Helper()
		s, err := w.Council.Settings(chat)
		must(t, err)
		all, err := w.Council.Settings("")
		must(t, err)
		if s.Scope != scope || s.Council.Name != name || all.Council.Name != elsewhere {
			t.Errorf("%s, it holds %q of %q, elsewhere %q", when, s.Council.Name, s.Scope, all.Council.Name)
		}
	}
	undo, err := w.Council.Move(chat, "global", here)
	if err != nil || undo.Sentence != "The council now applies to “All chats”." {
		t.Errorf("it is said that %q, %v", undo.Sentence, err)
	}
	holds("moved", "global", here.Name, here.Name)
	must(t, w.Window.Undo(undo.Token))
	holds("put back", "chat "+chat, here.Name, everywhere.Name)

	must(t, w.Council.Clear(chat, "chat "+chat))
	undo, err = w.Council.Move(chat, "chat "+chat, here)
	must(t, err)
	holds("kept for the chat", "chat "+chat, here.Name, everywhere.Name)
	must(t, w.Window.Undo(undo.Token))
	holds("forgotten there", "global", everywhere.Name, everywhere.Name)
	_, err = w.Council.Move(chat, "chat other", here)
	kind(t, "to another chat", err, fault.Invalid, "cannot be set there")
}
