package council_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/model"
	"conclave/app/tool"
)

// requestOf returns one of a system text and messages, such as "u:Hi", "a:Hello", "c:call" for
// an answer that calls a tool, and "t:result".
func requestOf(system string, messages ...string) model.Request {
	r := model.Request{System: system}
	for _, m := range messages {
		role := map[byte]chat.Role{
			'u': chat.RoleUser, 'a': chat.RoleAssistant, 'c': chat.RoleAssistant, 't': chat.RoleTool,
		}[m[0]]
		part := chat.TextPart(m[2:])
		switch m[0] {
		case 'c':
			part = chat.Part{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: m[2:]}}
		case 't':
			part = chat.Part{Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: m[2:]}}
		}
		r.Messages = append(r.Messages, model.Message{Role: role, Parts: []chat.Part{part}})
	}
	return r
}

func outline(r model.Request) string {
	out := []string{r.System}
	for _, m := range r.Messages {
		text := string(m.Role[0])
		for _, p := range m.Parts {
			switch p.Kind {
			case chat.PartToolCall:
				text += ":call"
			case chat.PartToolResult:
				text += ":result"
			default:
				text += ":" + p.Text
			}
		}
		out = append(out, text)
	}
	return strings.ReplaceAll(strings.Join(out, "|"), "[System note]\nNOTES", "NOTES")
}

func TestNotesStandWhereTheMacroIsOrBeforeTheLastFourMessages(t *testing.T) {
	const macro = council.Macro
	for name, c := range map[string]struct {
		request model.Request
		want    string
	}{
		"no message":    {requestOf("s"), "s|u:NOTES"},
		"one message":   {requestOf("s", "u:1"), "s|u:NOTES:1"},
		"two messages":  {requestOf("s", "u:1", "a:2"), "s|u:NOTES:1|a:2"},
		"four messages": {requestOf("s", "a:1", "u:2", "a:3", "u:4"), "s|u:NOTES|a:1|u:2|a:3|u:4"},
		"five messages": {requestOf("s", "u:1", "a:2", "u:3", "a:4", "u:5"), "s|u:1:NOTES|a:2|u:3|a:4|u:5"},
		"six messages":  {requestOf("s", "a:0", "u:1", "a:2", "u:3", "a:4", "u:5"), "s|a:0|u:1:NOTES|a:2|u:3|a:4|u:5"},
		"a call and its result at the border": {
			requestOf("s", "u:1", "c:x", "t:x", "a:2", "u:3", "u:4"),
			"s|u:1:NOTES|a:call|t:result|a:2|u:3|u:4",
		},
		"results alone before the end": {
			requestOf("s", "u:1", "c:x", "t:x", "c:y", "t:y"),
			"s|u:1:NOTES|a:call|t:result|a:call|t:result",
		},
		"the macro in the system text": {
			requestOf("a "+macro+" b", "u:1", "a:2", "u:3", "a:4", "u:5"), "a NOTES b|u:1|a:2|u:3|a:4|u:5",
		},
		"the macro in a message": {requestOf("s", "u:x "+macro, "a:2"), "s|u:x NOTES|a:2"},
		"the macro twice":        {requestOf("s "+macro, "u:x "+macro+" y"+macro), "s NOTES|u:x  y"},
		"the macro in an answer": {requestOf("s", "u:1", "a:"+macro), "s|u:NOTES:1|a:" + macro},
	} {
		r := c.request
		before, raw := outline(r), asText(t, r)
		at := council.Insert(&r, "NOTES")
		if got := outline(r); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
		if n := strings.Count(outline(r), "NOTES"); n != 1 {
			t.Errorf("%s: the notes stand there %d times", name, n)
		}
		if asText(t, c.request) != raw {
			t.Errorf("%s: the history that the turn keeps was changed from %s", name, before)
		}
		// In the next round of the turn they stand at the same place, so what was read stays as it was.
		next := c.request
		next.Messages = append(slices.Clone(next.Messages), requestOf("", "c:z", "t:z").Messages...)
		council.Put(&next, "NOTES", at)
		if !strings.HasPrefix(outline(next), c.want) {
			t.Errorf("%s: in the next round they stand in %s", name, outline(next))
		}
	}
}

func asText(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// said is an answer with its block.
func said(words, position string, stances []council.Stance, points ...council.Point) string {
	block, err := json.Marshal(map[string]any{"position": position, "points": points, "stances": stances})
	if err != nil {
		panic(err) // it can be written
	}
	return words + "\n```council\n" + string(block) + "\n```"
}

// reviewed returns a run of mode review in which a and b answer alike, c otherwise and d not
// at all; b disagrees with the point of c, and a agrees with it.
func reviewed(t *testing.T) (*driver, texts) {
	t.Helper()
	c := council.Default()
	c.Mode, c.Members = council.Review, members("a", "b", "c", "d")
	d, all := begin(t, c, func(b *council.Begin) { b.Seed = 5 }), texts{}
	end := func(text string, used ...string) council.End {
		return council.End{State: council.Done, Text: all.put(text), Used: used}
	}
	stance := func(viewer, says, why string) []council.Stance {
		return []council.Stance{
			{Point: d.run.Letter(viewer, "c") + "1", Says: says, Why: why},
			{Point: "z9", Says: council.SaysDisagree},
		}
	}
	d.work(map[string]council.End{
		"0/a/answer": end(said("A.", "Yes", nil, council.Point{Claim: "It rains.", Basis: council.FromTool, Source: "Look"}),
			"p:look"),
		"0/b/answer": end(said("B.", "Yes!", nil, council.Point{Claim: "it rains", Basis: council.FromTool, Source: "look"})),
		"0/c/answer": end(said("C.", "No", nil, council.Point{Claim: "It snows.", Basis: council.FromOwn})),
		"0/d/answer": {State: council.Failed, Failure: &chat.Failure{Message: "d could not reach its model."}},
		"1/a/review": end(said("Hm.", "", stance("a", council.SaysAgree, ""))),
		"1/b/review": end(said("No.", "", stance("b", council.SaysDisagree, "It is June."))),
		"1/c/review": end("I have no block."),
	})
	return d, all
}

func TestAResultIsMadeOfTheMembersOwnPoints(t *testing.T) {
	d, all := reviewed(t)
	r := council.Compare(d.run, all.words, council.Groups{})
	if got := fmt.Sprint(r.Agreement); got != "[{It rains. [a1 b1] [] []}]" {
		t.Errorf("agreed is %s", got)
	}
	if got := fmt.Sprint(r.Disagreement); got != "[{It snows. [c1] [a] [b disagrees: It is June.]}]" {
		t.Errorf("disagreed is %s", got)
	}
	// b called no tool, so what it says that a tool says is not checked.
	if got := fmt.Sprint(r.NotChecked); got != "[{it rains [b1] [] []} {It snows. [c1] [] []}]" {
		t.Errorf("not checked is %s", got)
	}
	// a and b share a point, and b speaks against c.
	if got := fmt.Sprint(r.Agreed); got != "[a]" {
		t.Errorf("those who agree are %s", got)
	}
	if got := fmt.Sprint(r.Missing); got != "[d did not answer. d could not reach its model.]" {
		t.Errorf("missing is %s", got)
	}
	// A chair can group points, and add none: what nobody said is dropped.
	r = council.Compare(d.run, all.words, council.Groups{Same: [][]string{{"a1", "c1", "d1", "z7"}, {"c1", "b1"}}})
	if got := fmt.Sprint(r.Disagreement); len(r.Agreement) > 0 ||
		got != "[{It rains. [a1 b1 c1] [] [b disagrees: It is June.]}]" {
		t.Errorf("grouped by a chair agreed is %v, disagreed %s", r.Agreement, got)
	}
}

func TestWhoSaysNothingOfItsOwnIsNotMissed(t *testing.T) {
	for name, c := range map[string]struct {
		mode council.Mode
		a, b []string
		want string
	}{
		"both say so":           {council.Opinions, []string{"It rains."}, []string{"It rains."}, "[a b] [a b]"},
		"one says more":         {council.Opinions, []string{"It rains.", "It hails."}, []string{"It rains."}, "[a b] [b]"},
		"they say other things": {council.Opinions, []string{"It rains."}, []string{"It snows."}, "[] []"},
		"their ballots count":   {council.Vote, []string{"It rains."}, []string{"It rains."}, "[a b] []"},
		"one has points at all": {council.Opinions, []string{"It rains."}, nil, "[] []"},
	} {
		set := council.Default()
		set.Mode, set.Members = c.mode, members("a", "b")
		d, all := begin(t, set), texts{}
		end := func(claims []string) council.End {
			var points []council.Point
			for _, claim := range claims {
				points = append(points, council.Point{Claim: claim, Basis: council.FromOwn})
			}
			return council.End{State: council.Done, Text: all.put(said("Words.", "", nil, points...))}
		}
		d.work(map[string]council.End{"0/a/answer": end(c.a), "0/b/answer": end(c.b)})
		r := council.Compare(d.run, all.words, council.Groups{})
		if got := fmt.Sprint(r.Agreed, r.Same); got != c.want {
			t.Errorf("%s: they agree, and say nothing of their own: %s", name, got)
		}
		for _, line := range council.HeaderOf(d.run, &r).Seats {
			if line.Same != slices.Contains(r.Same, line.Letter) {
				t.Errorf("%s: the line of %s is %+v", name, line.Name, line)
			}
		}
	}
}

// Members that answer by themselves take no stance: that two of them contradict each other
// is said by the chair alone, and shown in their own words.
func TestPointsThatContradictEachOtherAreADisagreement(t *testing.T) {
	c := council.Default()
	c.Members = members("a", "b", "c")
	d, all := begin(t, c), texts{}
	claims := map[string][]string{"a": {"It rains.", "It is warm."}, "b": {"It snows."}, "c": {"It rains."}}
	ends := map[string]council.End{}
	for id, list := range claims {
		var points []council.Point
		for _, claim := range list {
			points = append(points, council.Point{Claim: claim, Basis: council.FromOwn})
		}
		ends["0/"+id+"/answer"] = council.End{State: council.Done, Text: all.put(said(id, "", nil, points...))}
	}
	d.work(ends)
	for name, tt := range map[string]struct {
		opposed                       [][]string
		agreement, disagreement, does string
	}{
		"nothing": {nil, "[{It rains. [a1 c1] [] []}]", "[]", "[a c]"},
		"a pair":  {[][]string{{"b1", "a1"}}, "[]", "[{It rains. [a1 c1] [] [b says otherwise: It snows.]}]", "[]"},
		"the same twice": {
			[][]string{{"a1", "b1"}, {"b1", "c1"}}, "[]", "[{It rains. [a1 c1] [] [b says otherwise: It snows.]}]", "[]",
		},
		"of one member":    {[][]string{{"a1", "a2"}}, "[{It rains. [a1 c1] [] []}]", "[]", "[a c]"},
		"of one claim":     {[][]string{{"a1", "c1"}}, "[{It rains. [a1 c1] [] []}]", "[]", "[a c]"},
		"what nobody said": {[][]string{{"a1", "b7"}}, "[{It rains. [a1 c1] [] []}]", "[]", "[a c]"},
	} {
		r := council.Compare(d.run, all.words, council.Groups{Opposed: tt.opposed})
		got := []string{fmt.Sprint(r.Agreement), fmt.Sprint(r.Disagreement), fmt.Sprint(r.Agreed)}
		if want := []string{tt.agreement, tt.disagreement, tt.does}; !slices.Equal(got, want) {
			t.Errorf("%s: agreement, disagreement and who agrees are %q, want %q", name, got, want)
		}
	}
}

// Of points that claim the same a member that is against two says so once, and is not
// among those who agree although it agrees with a third.
func TestAMemberStandsOnOneSideOfADisagreement(t *testing.T) {
	c := council.Default()
	c.Mode, c.Members = council.Review, members("a", "b", "c", "d")
	d, all := begin(t, c), texts{}
	ends := map[string]council.End{}
	for _, id := range []string{"a", "b", "c", "d"} {
		claim := council.Point{Claim: "It rains.", Basis: council.FromOwn}
		if id == "d" {
			claim.Claim = "I am new here."
		}
		ends["0/"+id+"/answer"] = council.End{State: council.Done, Text: all.put(said(id, "", nil, claim))}
		ends["1/"+id+"/review"] = council.End{State: council.Done, Text: all.put("Nothing to say.")}
	}
	var stances []council.Stance
	for of, says := range map[string]string{
		"a": council.SaysDisagree, "b": council.SaysDisagree, "c": council.SaysAgree,
	} {
		stances = append(stances, council.Stance{Point: d.run.Letter("d", of) + "1", Says: says, Why: "It is dry."})
	}
	ends["1/d/review"] = council.End{State: council.Done, Text: all.put(said("d", "", stances))}
	d.work(ends)
	r := council.Compare(d.run, all.words, council.Groups{})
	if got := fmt.Sprint(r.Disagreement); got != "[{It rains. [a1 b1 c1] [] [d disagrees: It is dry.]}]" {
		t.Errorf("disagreed is %s", got)
	}
}

// Who is asked to object alone, and does, is compared: it is missing only where it took no
// stance either.
func TestAnObjectionWithoutPointsIsNotMissing(t *testing.T) {
	c := council.Default()
	c.Mode, c.Members = council.Advocate, members("a", "b", "c")
	d, all := begin(t, c), texts{}
	d.work(map[string]council.End{
		"0/a/draft": {State: council.Done, Text: all.put(said("A.", "", nil, council.Point{Claim: "It rains."}))},
		"1/b/critique": {State: council.Done, Text: all.put(said("No.", "",
			[]council.Stance{{Point: "a1", Says: council.SaysDisagree, Why: "It is dry."}}))},
		"1/c/critique": {State: council.Done, Text: all.put("I have no block.")},
	})
	r := council.Compare(d.run, all.words, council.Groups{})
	if got := fmt.Sprint(r.Missing); got != "[c gave no points, so its answer was not compared.]" {
		t.Errorf("missing is %s", got)
	}
	if got := fmt.Sprint(r.Disagreement); got != "[{It rains. [a1] [] [b disagrees: It is dry.]}]" {
		t.Errorf("disagreed is %s", got)
	}
}

// A letter is that of a member's card, whoever sits out; a run that was kept before that
// held has the letters that its texts name.
func TestALetterIsThatOfThePlaceInTheCouncil(t *testing.T) {
	c := council.Default()
	c.Members = members("a", "b", "c")
	c.Members[0].Off = true
	for places, want := range map[bool]string{true: "[ b c]", false: "[ a b]"} {
		d := begin(t, c, func(b *council.Begin) { b.Places = places })
		letters := []string{}
		for _, id := range []string{"a", "b", "c"} {
			letters = append(letters, d.run.Letter("", id))
		}
		if got := fmt.Sprint(letters); got != want {
			t.Errorf("with places %v the letters are %s, want %s", places, got, want)
		}
		for _, id := range []string{"b", "c"} {
			if got := d.run.OfLetter("", d.run.Letter("", id)); got != id {
				t.Errorf("with places %v the letter of %s is of %q", places, id, got)
			}
		}
		shown := ""
		w := council.NewWatch(council.WatchOptions{Text: func(council.Hash) string { return "" }})
		w.Step(d.run)
		for _, lane := range w.View(0, d.run.Last.At).Lanes {
			shown += lane.Letter
		}
		if want := map[bool]string{true: "abc", false: "ab"}[places]; shown != want {
			t.Errorf("with places %v the lanes are lettered %q, want %q", places, shown, want)
		}
	}
	d := begin(t, c, func(b *council.Begin) { b.Places = true })
	if got := d.run.OfLetter("", "a"); got != "" {
		t.Errorf("the letter of who sits out is of %q", got)
	}
}

func TestAStanceOnWordsThatAMemberDidNotGetCountsNothing(t *testing.T) {
	for _, mode := range []council.Mode{council.Opinions, council.Advocate, council.Relay} {
		c := council.Default()
		c.Mode, c.Members = mode, members("a", "b")
		d, all := begin(t, c), texts{}
		ends := map[string]council.End{}
		for _, task := range d.run.Tasks {
			point := []council.Point{{Claim: task.Member + " claims."}}
			stances := []council.Stance{{Point: "b1", Says: council.SaysDisagree, Why: "me"}}
			if task.Member == "b" {
				stances = nil
			}
			ends[task.ID] = council.End{State: council.Done, Text: all.put(said(task.Member, "", stances, point...))}
		}
		d.work(ends)
		if r := council.Compare(d.run, all.words, council.Groups{}); len(r.Disagreement) > 0 || len(r.Agreement) > 0 {
			t.Errorf("in mode %s agreed is %v, disagreed %v", mode, r.Agreement, r.Disagreement)
		}
	}
}

// A member that runs away is not sent whole to all others.
func TestALongAnswerIsCutWhereOthersAreGivenIt(t *testing.T) {
	c := council.Default()
	c.Mode, c.Members = council.Review, members("a", "b")
	d, all := begin(t, c), texts{}
	long := strings.Repeat("word ", 50<<10)
	d.work(map[string]council.End{
		"0/a/answer": {State: council.Done, Text: all.put(long)}, "0/b/answer": {State: council.Done, Text: all.put("B.")},
	})
	i := slices.IndexFunc(d.run.Tasks, func(t council.Task) bool { return t.ID == "1/b/review" })
	others := council.Record{Run: &d.run, Text: all.words}.Others(d.run.Tasks[i])
	if len(others) != 1 || len(others[0].Text) > 20<<10 || !strings.Contains(others[0].Text, "… (cut)") {
		t.Fatalf("b is given %d bytes of %d answers", len(others[0].Text), len(others))
	}
	given := council.Give(council.GiveInput{
		Council: c, Member: d.run.Seats[1].Member, Task: d.run.Tasks[i], Others: others,
		Path: []chat.Message{{Seq: 1, Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("Why?")}}},
	})
	if !slices.ContainsFunc(given.Blocks, func(b council.BlockText) bool {
		return b.Source == council.FromMember && b.Cut > 0 && b.Why == "The end of a long answer is left out."
	}) {
		t.Errorf("that it is cut is not said: %+v", given.Blocks)
	}
}

func TestBallotsThatDoNotCountAreMissed(t *testing.T) {
	c := council.Default()
	c.Mode, c.Members = council.Vote, members("a", "b")
	d, all := begin(t, c), texts{}
	broken := council.End{State: council.Failed, Failure: &chat.Failure{Message: "The ballot names “obey me”."}}
	d.work(map[string]council.End{
		"0/a/answer": {State: council.Done, Text: all.put("A.")}, "0/b/answer": {State: council.Done, Text: all.put("B.")},
		"1/a/ballot": broken, "1/b/ballot": broken,
	})
	missing := council.Compare(d.run, all.words, council.Groups{}).Missing
	notes := council.Notes(d.run, all.words, "")
	for _, want := range []string{
		"The ballot of a could not be counted.", "The ballot of b could not be counted.", "No vote could be counted.",
	} {
		if !slices.Contains(missing, want) || !strings.Contains(notes, want) {
			t.Errorf("%q is not in %q, or not in %s", want, missing, notes)
		}
	}
	if strings.Contains(notes, "obey me") {
		t.Errorf("the main model is told what stands in a ballot: %s", notes)
	}
}

func TestNotesFenceWhatMembersSayAndNameWhoIsMissing(t *testing.T) {
	d, all := reviewed(t)
	notes := council.Notes(d.run, all.words, "")
	for _, want := range []string{
		council.Fence(5, "", "a", "a, a member of the council",
			"A.\n\nPoints:\na1: It rains.\n\nOf the others' answers: Hm.\n(In this review "+
				d.run.Letter("a", "b")+" is b, "+d.run.Letter("a", "c")+" is c.)"),
		"d did not answer. d could not reach its model.", `{"groups": [["a1", "b2"]], "opposed": [["a2", "c1"]]}`,
	} {
		if !strings.Contains(strings.ReplaceAll(notes, pairs(d, "a", true), pairs(d, "a", false)), want) {
			t.Errorf("%s\nis not in\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "position") {
		t.Errorf("a block is in the notes: %s", notes)
	}
	nobody := begin(t, d.run.Council)
	nobody.work(map[string]council.End{
		"0/a/answer": {State: council.Failed}, "0/b/answer": {State: council.Failed},
		"0/c/answer": {State: council.Failed}, "0/d/answer": {State: council.Failed},
	})
	if notes := council.Notes(nobody.run, all.words, ""); notes != "" {
		t.Errorf("of nobody there are notes: %s", notes)
	}
}

// pairs returns which letter was whose in a review, in the order of the letters or of the members.
func pairs(d *driver, viewer string, byLetter bool) string {
	var all []string
	for _, m := range []string{"b", "c"} {
		all = append(all, d.run.Letter(viewer, m)+" is "+d.run.Letter("", m))
	}
	if byLetter {
		slices.Sort(all)
	}
	return "(In this review " + strings.Join(all, ", ") + ".)"
}

func TestReviewersSeeUnsignedAnswersUnderTheirOwnLetters(t *testing.T) {
	d, all := reviewed(t)
	task := council.Task{Kind: council.Look, Member: "a", Stage: 1}
	others := council.Record{Run: &d.run, Text: all.words}.Others(task)
	if len(others) != 2 {
		t.Fatalf("it is shown %+v", others)
	}
	for i, o := range others {
		want := fmt.Sprintf("%c", 'a'+i)
		if o.Letter == "" || o.Name != "" || o.Member == "a" || strings.Contains(o.Text, "council") ||
			!strings.HasSuffix(o.Text, o.Letter+"1: "+map[string]string{"b": "it rains", "c": "It snows."}[o.Member]) {
			t.Errorf("the answer %s is %+v", want, o)
		}
	}
}

func TestACouncilStopsEarlyOnlyWhenNobodyDisagreesAndReviewsAreLeft(t *testing.T) {
	c := council.Default()
	c.Mode, c.Rounds, c.EarlyStop, c.Members = council.Review, 3, true, members("a", "b")
	all := texts{}
	answers := func(a, b string) map[string]council.End {
		return map[string]council.End{
			"0/a/answer": {State: council.Done, Text: all.put(said("", a, nil, council.Point{Claim: "It rains."}))},
			"0/b/answer": {State: council.Done, Text: all.put(said("", b, nil, council.Point{Claim: "It snows."}))},
		}
	}
	stage := func(d *driver, ends map[string]council.End) {
		for _, id := range d.run.Next().Start {
			end := ends[id]
			d.do(council.Step{Kind: council.Starts, Task: id, Attempt: 1})
			d.do(council.Step{Kind: council.Ends, Task: id, Attempt: 1, End: &end})
		}
	}
	reviews := func(says string) map[string]council.End {
		look := council.End{State: council.Done, Text: all.put(said("", "", []council.Stance{{Point: "a1", Says: says}}))}
		return map[string]council.End{"1/a/review": look, "1/b/review": look}
	}
	for name, want := range map[string]struct {
		a, b, says  string
		first, then bool
	}{
		"the same words":   {"It is so.", "it is so", council.SaysDisagree, true, false},
		"other words":      {"It is so.", "It is not so.", council.SaysAgree, false, true},
		"a doubt":          {"It is so.", "Maybe.", council.SaysUnsure, false, false},
		"nothing was said": {"", "", council.SaysDisagree, false, false},
	} {
		d := begin(t, c)
		if council.Agree(d.run, all.words) {
			t.Errorf("%s: before the answers they agree", name)
		}
		stage(d, answers(want.a, want.b))
		if got := council.Agree(d.run, all.words); got != want.first {
			t.Errorf("%s: after the answers they agree: %v", name, got)
		}
		stage(d, reviews(want.says))
		if got := council.Agree(d.run, all.words); got != (want.then || want.first) {
			t.Errorf("%s: after the reviews they agree: %v", name, got)
		}
		d.do(council.Step{Kind: council.Acts, Act: council.Finish, By: council.Agreement, Text: "The answers agree."})
		if d.run.State != council.Ready || d.run.Early.By != council.Agreement || council.Agree(d.run, all.words) {
			t.Errorf("%s: it is %s", name, d.run.State)
		}
	}
}

func TestSP18ToolsThatAreNotEligibleSayWhy(t *testing.T) {
	spindle := tool.Convention{Council: true}
	for want, one := range map[string]tool.Tool{
		"":  {Name: "a", Convention: spindle, CouncilEligible: true, Visibility: tool.Hidden},
		" ": {Name: "a", Visibility: tool.Direct},
		"Its plugin does not offer A to members of a council.": {Name: "a", Convention: spindle, Visibility: tool.Direct},
		"A is switched off.": {Name: "a", Visibility: tool.Hidden},
	} {
		ok, why := council.Eligible(one)
		if want = strings.TrimSpace(want); why != want || ok != (want == "") {
			t.Errorf("%+v: %v, %s", one, ok, why)
		}
	}
}

func TestAMemoryKeepsRunsAsAStoreDoes(t *testing.T) {
	d, all := voted(t)
	m := council.NewMemory()
	h := council.Header{Run: d.run.Run, Conversation: "c"}
	if err := m.AppendSteps(t.Context(), h, d.steps[1:], nil); err == nil {
		t.Error("a run begins with its second step")
	}
	for _, part := range [][]council.Step{d.steps[:4], d.steps[4:]} {
		if err := m.AppendSteps(t.Context(), h, part, all); err != nil {
			t.Fatal(err)
		}
	}
	steps, err := m.Steps(t.Context(), d.run.Run)
	if err != nil || asText(t, steps) != asText(t, d.steps) {
		t.Errorf("kept are %+v, %v", steps, err)
	}
	for hash, text := range all {
		if got, err := m.Text(t.Context(), d.run.Run, hash); err != nil || string(got) != string(text) {
			t.Errorf("the text %s is %q, %v", hash, got, err)
		}
	}
	if headers, err := m.Runs(t.Context(), "c"); err != nil || len(headers) != 1 || headers[0].Run != h.Run {
		t.Errorf("the runs are %+v, %v", headers, err)
	}
	for _, read := range []func() error{
		func() error { _, err := m.Steps(t.Context(), "none"); return err },
		func() error { _, err := m.Text(t.Context(), "none", "x"); return err },
		func() error { _, err := m.Text(t.Context(), d.run.Run, "none"); return err },
	} {
		if read() == nil {
			t.Error("what is not there is read")
		}
	}
}
