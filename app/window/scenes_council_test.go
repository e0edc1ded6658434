package window_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/council"
)

// began is the time at which the runs of scenes begin.
var began = recordedAt.Add(-5 * time.Minute)

// ran is a run of a council that is written step by step.
type ran struct {
	t     *testing.T
	run   council.Run
	steps []council.Step
	texts map[council.Hash][]byte
	watch *council.Watch
}

func newRan(t *testing.T) *ran {
	r := &ran{t: t, texts: map[council.Hash][]byte{}}
	r.watch = council.NewWatch(council.WatchOptions{Text: func(h council.Hash) string { return string(r.texts[h]) }})
	return r
}

func (r *ran) keep(text string) council.Hash {
	h := council.HashOf([]byte(text))
	r.texts[h] = []byte(text)
	return h
}

// do applies a step, so many ms after the run began.
func (r *ran) do(ms int, s council.Step) {
	r.t.Helper()
	s.Number, s.At = len(r.steps)+1, began.Add(time.Duration(ms)*time.Millisecond)
	if err := r.run.Apply(s); err != nil {
		r.t.Fatalf("step %d, %s %s: %v", s.Number, s.Kind, s.Task, err)
	}
	r.steps = append(r.steps, s)
	r.watch.Step(r.run)
}

func (r *ran) starts(ms int, tasks ...string) {
	r.t.Helper()
	for _, task := range tasks {
		r.do(ms, council.Step{Kind: council.Starts, Task: task, Attempt: 1})
	}
}

// ends ends a task with these words, for so many dollars.
func (r *ran) ends(ms int, task, words string, dollars float64, changes ...func(*council.End)) {
	r.t.Helper()
	end := council.End{
		State: council.Done, Text: r.keep(words), Bytes: len(words),
		Usage: chat.Usage{Input: 1240, Output: 260, Cost: dollars, Priced: "2026-10-16"},
	}
	for _, change := range changes {
		change(&end)
	}
	r.do(ms, council.Step{Kind: council.Ends, Task: task, Attempt: 1, End: &end})
}

// answers hands the notes to the chair, which answers; groups is its list of points.
func (r *ran) answers(from, to int, dollars float64, groups string) {
	r.t.Helper()
	r.do(from, council.Step{Kind: council.Hands})
	answer := council.Answer{
		Reason: chat.EndDone, Seq: 2, TookMS: int64(to - from),
		Usage: chat.Usage{Input: 2380, Output: 1120, Cost: dollars, Priced: "2026-10-16"},
	}
	if groups != "" {
		answer.Groups = r.keep(groups)
	}
	r.do(to, council.Step{Kind: council.Concludes, Answer: &answer})
}

// said writes words with their block.
func said(words, position string, points ...council.Point) string {
	block, _ := json.Marshal(map[string]any{"position": position, "points": points})
	return words + "\n\n```council\n" + string(block) + "\n```\n"
}

const question = "Why do my tomatoes split, and what should I do about it before the autumn?"

var (
	researcher = council.Member{
		ID: "researcher", Name: "Researcher", Role: "Finds what is known", Chance: 100, Weight: 1,
		Tools:   []string{"web:search", "text:word_count"},
		Context: council.ContextPolicy{Span: council.Turns, Last: 3, System: true, Others: true, Files: true},
	}
	sceptic = council.Member{
		ID: "sceptic", Name: "Sceptic", Role: "Looks for what is wrong", Model: "acme/large-2",
		Chance: 100, Weight: 1, Tools: []string{}, Limits: council.Limits{Tokens: 4000, Seconds: 30},
		Context: council.ContextPolicy{Span: council.Question, Others: true},
	}
	maker = council.Member{
		ID: "maker", Name: "Maker", Role: "Proposes what to do", Chance: 100, Weight: 1,
		Tools: []string{"notes:write_note"}, Limits: council.Limits{Money: 0.05},
		Context: council.ContextPolicy{System: true, Memory: true, Others: true, Files: true},
	}

	researched = said("Splitting follows a jump of water in the soil. Two trials name **uneven watering** as "+
		"the main cause.\n\nMulch evens it out.", "Plant now, water evenly",
		council.Point{Claim: "Uneven watering makes the skin split.", Basis: council.FromTool, Source: "search"},
		council.Point{Claim: "Mulch keeps the soil evenly moist.", Basis: council.FromOwn})
	doubted = said("Water, yes. But I would not pick green fruit: it never tastes of anything.", "Water evenly",
		council.Point{Claim: "Uneven watering is the cause.", Basis: council.FromOwn},
		council.Point{Claim: "Fruit picked green has no taste.", Basis: council.FromOwn})
	made = said("Pick what is large now, water each evening, cover the soil on Saturday.", "Pick now",
		council.Point{
			Claim: "Pick large fruit green and let it ripen inside.", Basis: council.FromGiven,
			Source: "your question",
		})
)

// words holds the answer of each member, by its id.
var words = map[string]string{"researcher": researched, "sceptic": doubted, "maker": made}

// searched is the end of Researcher's work, which called a tool.
func searched(e *council.End) { e.Calls, e.Used = []uint64{1}, []string{"web:search"} }

// request has a task show one request to a model, made of these blocks.
func (r *ran) request(model string, blocks ...council.Block) func(*council.End) {
	raw, err := json.Marshal(blocks)
	must(r.t, err)
	body, err := json.Marshal(map[string]any{"model": model[strings.Index(model, "/")+1:], "messages": []any{
		map[string]string{"role": "user", "content": question},
	}, "stream": true})
	must(r.t, err)
	var tokens int64
	for _, b := range blocks {
		tokens += b.Tokens
	}
	return func(e *council.End) {
		e.Requests = []council.Request{{
			Model: model, Body: r.keep(string(body)), Bytes: len(body), Given: r.keep(string(raw)), Tokens: tokens,
			AtMS: 4,
		}}
	}
}

// role, asked and left are blocks of requests.
func (r *ran) role(text string) council.Block {
	return council.Block{Source: council.FromRole, Title: "Role", Text: r.keep(text), Tokens: 61}
}

func (r *ran) asked() council.Block {
	return council.Block{Source: council.FromTurn, Title: "Your question", Text: r.keep(question), Tokens: 21}
}

func (r *ran) left(source council.Source, title string, cut int64, why string) council.Block {
	return council.Block{Source: source, Title: title, Cut: cut, Why: why}
}

// answered is the run of most scenes, up to the answer.
func answered(r *ran) {
	r.starts(0, "0/researcher/answer", "0/sceptic/answer")
	r.starts(300, "0/maker/answer")
	r.ends(4100, "0/sceptic/answer", doubted, 0.011, r.request("acme/large-2",
		r.role("You are Sceptic. You look for what is wrong.\nBe short."),
		r.left(council.FromSystem, "System prompt", 24, "Left out: this member is not given the system prompt."),
		r.asked(),
		r.left(council.FromFile, "garden.pdf", 2140, "Left out: this member is given no attachments.")))
	r.ends(5600, "0/maker/answer", made, 0.006, r.request("demo/guide", r.role("You are Maker. You propose."),
		r.asked()))
	r.ends(6200, "0/researcher/answer", researched, 0.014, searched, r.request("demo/guide",
		r.role("You are Researcher. You find what is known."),
		council.Block{
			Source: council.FromSystem, Title: "System prompt", Text: r.keep("Answer in plain words."),
			Tokens: 24,
		},
		r.asked(),
		council.Block{
			Source: council.FromCall, Title: "Result of Search the web",
			Text: r.keep("Two trials of 2019 and 2022 …"), Tokens: 480, Cut: 900,
			Why: "The result was too long; its beginning is here.",
		}))
}

// grouped is the chair's list of points: two make the same claim, and two contradict each other.
const grouped = `{"groups": [["a1", "b1"]], "opposed": [["b2", "c1"]]}`

func finished(r *ran) {
	answered(r)
	r.answers(6400, 11_800, 0.006, grouped)
}

// beginning is a run as it begins.
func beginning(id council.RunID, set council.Council) council.Begin {
	begin := council.Begin{
		Run: id, Conversation: "chat-1", Turn: "turn-1", Question: 1, Council: set, Seed: 1, Places: true,
		Titles: map[string]string{
			"web:search": "Search the web", "text:word_count": "Word count", "notes:write_note": "Write note",
		},
		Models: map[string]string{"": "demo/guide"},
		Estimate: &council.Estimate{
			Calls: len(set.Members) + 1, Input: 5200, Output: 1800, Cost: 0.04, Known: true,
			Cap: set.Limits.Money, Seconds: 12, Problems: []string{}, Tasks: map[string]council.Spending{},
		},
	}
	for _, m := range set.Members {
		begin.Models[m.ID] = m.Model
		if m.Model == "" {
			begin.Models[m.ID] = "demo/guide"
		}
		begin.Estimate.Tasks["0/"+m.ID+"/answer"] = council.Spending{
			Input: 1300, Output: 300, MS: 9000, Cost: 0.01,
			Known: true,
		}
	}
	return begin
}

// councilScene is a scene of a chat whose question a council answers.
type councilScene struct {
	set   func(*council.Council)
	begin func(*council.Begin)
	run   func(*ran) // nil: there is none
	live  int        // it is under way, so many ms after it began
	cut   bool       // Conclave ended before the answer
	on    string
	again bool     // another run of the chat repeats it
	more  []string // questions besides those that all ask
}

var councilScenes = map[string]councilScene{
	"councilset":   {on: "bare"},
	"councilempty": {set: func(c *council.Council) { c.Enabled, c.Members = false, []council.Member{} }},
	"councilproblems": {set: func(c *council.Council) {
		c.Members = slices.Clone(c.Members)
		c.Members[0].Tools = []string{"web:search", "old:gone"}
		c.Members[1].Model, c.Members[2].Off = "acme/gone", true
	}},
	"council": {run: finished, more: []string{
		"Chats.Call chat-1 1", "Council.Compare = Council.Compare run-1 0/sceptic/answer 0/researcher/answer",
		"Council.Sent run-1 0/researcher/answer", "Council.Sent run-1 0/sceptic/answer",
		"Council.Sent run-1 0/maker/answer",
	}},
	"councilrefused": {on: "council", run: func(r *ran) {
		r.starts(0, "0/researcher/answer", "0/sceptic/answer", "0/maker/answer")
		r.ends(4100, "0/sceptic/answer", doubted, 0.011)
		r.ends(5600, "0/maker/answer", made, 0.006)
		r.ends(6200, "0/researcher/answer", researched, 0.014, func(e *council.End) {
			e.Calls, e.Refused = []uint64{2}, 1
		})
		r.answers(6400, 11_800, 0.006, grouped)
	}},
	"councilhanded": {
		on: "council", set: func(c *council.Council) {
			c.Mode, c.Members = council.Tools, []council.Member{researcher}
			c.Members[0].Tools = []string{"web:search"}
		}, run: func(r *ran) {
			r.starts(0, "0/researcher/web:search")
			r.ends(2100, "0/researcher/web:search", "Three pages found.", 0, searched,
				r.request("web:search", r.asked(),
					r.left(council.FromFile, "garden.pdf", 2140, "Tools are given text alone.")))
			r.answers(2200, 6400, 0.006, "")
		}, more: []string{"Council.Sent run-1 0/researcher/web:search"},
	},
	"councilreview": {
		on: "council", set: func(c *council.Council) { c.Mode = council.Review },
		begin: func(b *council.Begin) { // Researcher knows Maker as a, and Sceptic as b
			for ; ; b.Seed++ {
				run, err := council.Replay([]council.Step{{Number: 1, Kind: council.Begins, At: began, Begin: b}})
				if err != nil || run.Letter("researcher", "maker") == "a" {
					return
				}
			}
		},
		run: func(r *ran) {
			answered(r)
			reviews := func(ms int, by, of, point, says, why string, points ...council.Point) {
				block, _ := json.Marshal(map[string]any{
					"points":  points,
					"stances": []council.Stance{{Point: r.run.Letter(by, of) + point, Says: says, Why: why}},
				})
				r.starts(ms, "1/"+by+"/review")
				r.ends(ms+1200, "1/"+by+"/review", "It forgets the rain.\n\n```council\n"+string(block)+"\n```\n",
					0.002)
			}
			reviews(6200, "researcher", "sceptic", "2", council.SaysAgree, "",
				council.Point{Claim: "A dry week is enough.", Basis: council.FromOwn})
			reviews(7400, "sceptic", "researcher", "1", council.SaysAgree, "")
			reviews(8600, "maker", "sceptic", "2", council.SaysDisagree, "It ripens inside.")
			r.answers(9900, 11_800, 0.006, grouped)
		},
	},
	"councilcap": {
		on: "council", set: func(c *council.Council) { c.Limits.Money, c.Parallel = 0.01, 1 },
		begin: func(b *council.Begin) { b.Reserve = map[string]float64{"sceptic": 0.01} },
		run: func(r *ran) {
			r.starts(0, "0/researcher/answer")
			r.do(900, council.Step{Kind: council.Acts, Act: council.Skip, By: council.Person, Member: "maker"})
			r.ends(4200, "0/researcher/answer", researched, 0.0091, r.request("demo/guide", r.asked()))
			r.answers(4300, 8800, 0.006, "")
		},
	},
	"councilfailed": {on: "council", run: func(r *ran) {
		for _, m := range r.run.Council.Members {
			r.starts(0, "0/"+m.ID+"/answer")
		}
		for _, m := range r.run.Council.Members {
			r.ends(800, "0/"+m.ID+"/answer", "", 0, func(e *council.End) {
				*e = council.End{State: council.Failed, Failure: &chat.Failure{
					Kind: "provider", Message: m.Name + " could not reach its model.",
					Hint: "Check the connection, or choose another model.", Detail: "model overloaded",
				}}
			})
		}
		r.answers(900, 3100, 0.002, "")
	}},
	"councilone": {
		on: "council", set: func(c *council.Council) { c.Members = []council.Member{sceptic} },
		run: func(r *ran) {
			r.starts(0, "0/sceptic/answer")
			r.ends(4100, "0/sceptic/answer", said("Water, yes.", "Water evenly",
				council.Point{Claim: "Uneven watering is the cause.", Basis: council.FromOwn}), 0.011)
			r.answers(4200, 7100, 0.003, "")
		},
	},
	"councilinterrupted": {cut: true, set: func(c *council.Council) { c.Parallel = 2 }, run: func(r *ran) {
		r.starts(0, "0/researcher/answer", "0/sceptic/answer")
		r.ends(4200, "0/researcher/answer", researched, 0.009)
	}},
	"counciledited": {on: "council", begin: func(b *council.Begin) { b.Path = "another" }, run: finished},
	"councilvote": {on: "council", set: voting, run: func(r *ran) {
		vote(r, "researcher", "sceptic", "maker")
		r.do(5800, council.Step{Kind: council.Opens})
		r.answers(6000, 9400, 0.006, "")
	}},
	"councilsealed": {live: 5600, set: voting, run: func(r *ran) {
		vote(r, "researcher", "sceptic")
		r.watch.Live("1/maker/ballot", council.Live{Phase: council.Writing}, 4300)
	}},
	"councillive": {live: 3200, run: func(r *ran) {
		underWay(r, "", "Waiting for its plugin.")
		r.watch.Due(map[string]int64{"": 1_200_000, "0/researcher/answer": 300_000})
	}},
	"councilpermission": {live: 3200, run: func(r *ran) { underWay(r, "request-1", "") }},
	"councilchair": {live: 9000, run: func(r *ran) {
		answered(r)
		r.do(6400, council.Step{Kind: council.Hands})
	}},
	"councilasking": {
		live: 2200, set: func(c *council.Council) {
			c.Mode, c.Members = council.Tools, slices.Clone(c.Members)
			c.Members[1].Chance, c.Members[1].Tools, c.Members[2].Chance = 40, []string{"web:search"}, 80
		},
		begin: func(b *council.Begin) { // Sceptic sits out, and Maker does not
			b.Asks = true
			for rolls := council.Rolls(b.Seed, b.Council); *rolls[1] < 40 || *rolls[2] >= 80; {
				b.Seed++
				rolls = council.Rolls(b.Seed, b.Council)
			}
		},
		run: func(r *ran) {
			r.starts(0, "0/researcher/web:search", "0/researcher/text:word_count", "0/maker/notes:write_note")
			r.ends(900, "0/maker/notes:write_note", "Written.", 0)
			r.ends(1200, "0/researcher/text:word_count", "", 0, func(e *council.End) {
				*e = council.End{State: council.Failed, Failure: &chat.Failure{
					Kind: "timeout", Message: "Word count did not answer in 30 s.",
					Hint: "Try it again, or look at its log.",
				}}
			})
			r.ends(2100, "0/researcher/web:search", "Three pages found.", 0)
		},
	},
	"councilagain": {on: "council", run: finished, again: true},
}

// repeated is a second run, which repeats the first one with another model.
func repeated(t *testing.T) *ran {
	r := newRan(t)
	members := []council.Member{researcher, sceptic, maker}
	begin := beginning("run-2", garden(members...))
	begin.Again, begin.Change = "run-1", "Sceptic speaks through Small 2."
	r.do(60_000, council.Step{Kind: council.Begins, Begin: &begin})
	for _, m := range members {
		r.starts(60_000, "0/"+m.ID+"/answer")
	}
	for i, m := range members {
		r.ends(63_000+1000*i, "0/"+m.ID+"/answer", words[m.ID], 0.006)
	}
	r.answers(66_200, 69_100, 0.006, grouped)
	return r
}

// garden is a council of these members that is on.
func garden(members ...council.Member) council.Council {
	set := council.Default()
	set.Enabled, set.Limits.Money, set.Members = true, 0.25, members
	return set
}

func voting(c *council.Council) {
	c.Mode, c.Choices = council.Vote, []string{"Water daily", "Pick green", "Wait"}
}

// vote has all members answer, these cast their ballots and the others begin to.
func vote(r *ran, casts ...string) {
	for _, m := range r.run.Council.Members {
		r.starts(0, "0/"+m.ID+"/answer")
	}
	for i, m := range r.run.Council.Members {
		r.ends(3000+500*i, "0/"+m.ID+"/answer", words[m.ID], 0.008, r.request("demo/guide", r.asked()))
	}
	for _, m := range r.run.Council.Members {
		r.starts(4200, "1/"+m.ID+"/ballot")
	}
	for i, id := range casts {
		ballot := council.Ballot{
			Choice: "Water daily", Why: "It costs nothing.",
			Scores: map[string]float64{"Water daily": 8.3, "Pick green": 5, "Wait": 2.1},
		}
		if id == "maker" {
			ballot.Choice = "Pick green"
		}
		r.ends(5300+200*i, "1/"+id+"/ballot", "I vote.", 0.002, r.request("demo/guide", r.asked()),
			func(e *council.End) { e.Ballot = r.keep(string(council.EncodeBallot(ballot))) })
	}
}

// underWay has a call of Researcher's run, or wait for the person, while the others write and think.
func underWay(r *ran, request, note string) {
	r.starts(0, "0/researcher/answer", "0/sceptic/answer")
	r.starts(300, "0/maker/answer")
	call := chat.CallRecord{ID: 11, ToolID: "web:search", Status: chat.CallRunning}
	if request != "" {
		call.Status = chat.CallAsked
	}
	r.watch.Live("0/researcher/answer", council.Live{
		Phase: council.Using, Call: &call, Request: request,
		Note: note,
	}, 900)
	r.watch.Live("0/sceptic/answer", council.Live{
		Phase: council.Writing,
		Text: "Water, yes. But I would not pick green fruit: it never tastes of anything.\nWhat I miss is " +
			"when it last rained, and whether the plants stand under glass. If they do, rain is no reason at " +
			"all, and the watering can is.",
	}, 1000)
	r.watch.Live("0/maker/answer", council.Live{Phase: council.Thinking}, 1100)
}

// gardening opens a window on the chat of the council scenes.
func gardening(t *testing.T, set council.Council, answer string, end chat.EndReason) *testWindow {
	t.Helper()
	inUTC(t)
	w := open(t)
	c := chat.Conversation{
		ID: "chat-1", Title: "Tomatoes that split", Model: "demo/guide", Demo: true,
		Created: began,
	}
	messages := []chat.Message{{
		Role: chat.RoleUser, State: chat.Complete, Turn: "turn-1", Parts: []chat.Part{chat.TextPart(question)},
		Created: began, Reason: end,
	}}
	if answer != "" {
		messages = append(messages, chat.Message{
			Role: chat.RoleAssistant, State: chat.Complete, Turn: "turn-1", Model: "demo/guide", Reason: chat.EndDone,
			Parts: []chat.Part{chat.TextPart(answer)}, Created: began.Add(6400 * time.Millisecond),
			Ended: began.Add(11_800 * time.Millisecond),
		})
	}
	must(t, w.core.Store.Chats.ImportConversation(t.Context(), &c, messages))
	must(t, w.core.Store.Councils.PutCouncil(t.Context(), council.OfChat("chat-1"), &set))
	for _, status := range []chat.CallStatus{chat.CallOK, chat.CallRefused} {
		must(t, w.core.Store.Calls.PutCall(t.Context(), &chat.CallRecord{
			Conversation: "chat-1", Turn: "turn-1", Caller: "member:researcher", CallerName: "Researcher",
			ToolName: "search", ToolID: "web:search", Plugin: "web",
			Arguments:  json.RawMessage(`{"query": "watering tomatoes"}`),
			ResultText: "Three pages found.", Status: status, Timestamp: began.Add(900 * time.Millisecond),
			Started: began.Add(900 * time.Millisecond), Ended: began.Add(3400 * time.Millisecond), MS: 2500,
			DecidedBy: "You allowed it for this chat.",
		}))
	}
	return w
}

// store writes the run of a scene.
func (w *testWindow) store(r *ran) {
	w.t.Helper()
	h := council.HeaderOf(r.run, r.watch.Result())
	must(w.t, w.core.Store.Councils.AppendSteps(w.t.Context(), h, r.steps, r.texts))
}

const soWeAnswer = "They split because they drink unevenly: a dry week, then rain. Water a little every day and " +
	"cover the soil. [a1] [b1]\n\nWhether to pick them green is disputed: two members would, one would not. " +
	"[b2] [c1] Pick a few, and see."

// The scenes of a council are what the program answers about such runs.
func TestScenesOfCouncilsAreWhatTheProgramAnswers(t *testing.T) {
	names := slices.SortedFunc(maps.Keys(councilScenes), func(a, b string) int {
		first := []string{"council", "councilset"} // those that others continue
		return cmp.Or(slices.Index(first, b)-slices.Index(first, a), strings.Compare(a, b))
	})
	for _, name := range names {
		s := councilScenes[name]
		t.Run(name, func(t *testing.T) {
			set := garden(researcher, sceptic, maker)
			if s.set != nil {
				s.set(&set)
			}
			answer, end := "", chat.EndReason("")
			switch {
			case s.cut:
				end = chat.EndInterrupted
			case name == "councilempty":
				answer = "Because they drink unevenly."
			case s.run != nil && s.live == 0:
				answer = soWeAnswer
			}
			w := gardening(t, set, answer, end)
			questions := append([]string{"Chats.Pull chat-1", "Council.Settings = Council.Settings chat-1"},
				s.more...)
			r := newRan(t)
			if s.run != nil {
				begin := beginning("run-1", set)
				if s.begin != nil {
					s.begin(&begin)
				}
				r.do(0, council.Step{Kind: council.Begins, Begin: &begin})
				s.run(r)
				w.store(r)
				questions = append(questions, w.about("run-1", r)...)
			}
			if s.again {
				another := repeated(t)
				w.store(another)
				questions = append(questions, w.about("run-2", another)...)
			}
			answers := map[string]json.RawMessage{}
			for _, q := range questions {
				key, ask, named := strings.Cut(q, " = ")
				if !named {
					ask = key
				}
				answers[key] = marshalRaw(t, w.answer(ask))
			}
			if s.live > 0 {
				v := r.watch.View(0, began.Add(time.Duration(s.live)*time.Millisecond))
				v.Live, v.Revision = true, 1 // notices count on from there
				answers["Council.Run run-1"] = marshalRaw(t, v)
			}
			on := s.on
			if on == "" {
				on = "councilset"
			}
			w.keep(name, on, answers)
		})
	}
}

// about returns the questions about a run: the run itself, and the words of each task that is done.
func (w *testWindow) about(id string, r *ran) []string {
	questions := []string{"Council.Run " + id}
	for _, task := range r.run.Tasks {
		if task.State == council.Done && task.Stage < 2 {
			questions = append(questions, "Council.Said "+id+" "+task.ID)
		}
	}
	return questions
}

// A run from a file that lacks a text.
func TestTheSceneOfARunFromAFileIsWhatTheProgramAnswers(t *testing.T) {
	set := garden(researcher, sceptic, maker)
	w := gardening(t, set, soWeAnswer, "")
	run := newRan(t)
	begin := beginning("run-1", set)
	run.do(0, council.Step{Kind: council.Begins, Begin: &begin})
	finished(run)
	w.store(run)

	file, err := w.Council.Export("run-1")
	must(t, err)
	var parts map[string]json.RawMessage
	must(t, json.Unmarshal([]byte(file.Text), &parts))
	var texts map[council.Hash]json.RawMessage
	must(t, json.Unmarshal(parts["texts"], &texts))
	delete(texts, council.HashOf([]byte("Answer in plain words.")))
	parts["texts"] = marshalRaw(t, texts)
	opened, err := w.Council.Open(string(marshalRaw(t, parts)))
	must(t, err)
	answers := map[string]json.RawMessage{"Council.Open": marshalRaw(t, opened)}
	for _, task := range run.run.Tasks {
		said, err := w.Council.Said(opened.View.Run, task.ID)
		must(t, err)
		answers["Council.Said "+opened.View.Run+" "+task.ID] = marshalRaw(t, said)
	}
	w.keep("councilfile", "council", answers)
}
