package host

import (
	"io/fs"
	"slices"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// next returns the state after an event, and what is to be done.
func (l life) next(e event) (life, []effect) {
	effects := e.apply(&l)
	return l, effects
}

// lives are the states in which a plugin can be, by name.
func lives() map[string]life {
	src := plugin.Source{ID: "p", Path: "/plugins/p.py", Display: "/plugins/p.py"}
	old := version{src: src, digest: "old", listed: true, tools: []tool.Tool{{Name: "say"}}}
	fresh := life{source: src, status: plugin.Status{ID: "p", State: plugin.Loading}}
	loading := fresh
	loading.loading, loading.load = true, load{source: src}
	serving := loading
	serving.serving, serving.running, serving.record.Digest = &runner{}, old, "old"
	serving.status.State, serving.status.Digest, serving.status.Serving = plugin.Ready, "old", true
	both := serving // the newest save failed
	both.status.State, both.status.Digest, both.status.LastGood = plugin.Failed, "new", true
	failed := loading
	failed.status.State, failed.status.Problem, failed.status.Digest = plugin.Failed, &plugin.Problem{}, "new"
	waiting := loading
	waiting.status.State, waiting.waiting = plugin.NeedsApproval, version{src: src, digest: "new"}
	waiting.status.Digest = "new"
	resting := loading
	resting.status.State, resting.waiting, resting.status.Digest = plugin.Quarantined, old, "old"
	off := serving
	off.state.Disabled = true
	gone := serving
	gone.source = plugin.Source{}
	return map[string]life{
		"fresh": fresh, "loading": loading, "serving": serving, "serving an old version": both, "failed": failed,
		"waiting": waiting, "resting": resting, "switched off": off, "gone": gone,
	}
}

func acts(effects []effect) (all []act) {
	for _, f := range effects {
		all = append(all, f.do)
	}
	return all
}

// serve and stop hold the effects for a version that comes into service, and for one that goes.
var (
	serve = []act{doPublish, doAnnounce, doRemember, doAccess, doRelist}
	stop  = []act{doUnpublish, doRetire}
)

func TestWhatIsDoneAboutEachEventInEachState(t *testing.T) {
	src := plugin.Source{ID: "p", Path: "/plugins/p.py", Display: "/plugins/p.py"}
	neu := version{src: src, digest: "new", manifest: plugin.Manifest{Dialect: "d"}}
	listed := neu
	listed.listed, listed.tools = true, []tool.Tool{{Name: "say"}}
	next, all := &runner{}, lives()
	running := all["serving"].serving
	same := all["serving"].running
	problem := &plugin.Problem{Kind: "script", Message: "It failed."}
	type row struct {
		in    string
		event event
		want  []act
		state plugin.State // of the card afterwards; empty: as before
	}
	rows := []row{
		// a load begins
		{"loading", loadBegan{}, nil, ""}, // nothing is wanted
		{"loading", recalled{}, []act{doDigest}, ""},
		{"loading", recalled{err: problem}, []act{doFallBack}, ""},
		{"switched off", recalled{}, []act{doUnpublish, doRetire, doDrop, doAnnounce}, plugin.Disabled},
		{"fresh", sourceSet{plugin.Source{}}, nil, ""},

		// its files were looked at
		{"loading", filesDigested{seen: digested{digest: "new"}}, []act{doNotice, doRead}, plugin.Loading},
		{"serving", filesDigested{seen: digested{digest: "new"}}, []act{doNotice, doRead}, plugin.Ready},
		{"serving", filesDigested{seen: digested{digest: "old"}}, nil, ""}, // the same
		{"failed", filesDigested{seen: digested{digest: "new"}}, nil, ""},
		{"failed", filesDigested{seen: digested{digest: "newer"}}, []act{doNotice, doRead}, plugin.Loading},
		{"waiting", filesDigested{seen: digested{digest: "newer"}}, []act{doNotice, doRead}, plugin.Loading},
		{"serving", filesDigested{err: fs.ErrNotExist}, nil, ""},
		{"serving", filesDigested{err: fault.New(fault.Invalid, "x", "It is too large.", "")}, []act{doFallBack}, ""},
		{"serving", filesDigested{seen: digested{digest: "new"}, err: problem}, []act{doNotice, doFallBack}, ""},

		// it was read
		{"loading", sourceRead{version: neu}, []act{doJudge}, ""},
		{"loading", sourceRead{version: neu, err: problem}, []act{doFallBack}, ""},
		{"loading", sourceRead{version: neu, err: errNewer}, nil, ""}, // it begins again
		{
			"serving",
			sourceRead{version: version{src: src, manifest: plugin.Manifest{Off: problem}}},
			[]act{doUnpublish, doRetire, doAnnounce, doDrop},
			plugin.Disabled,
		},

		// the gate decided
		{"loading", gateDecided{version: neu, status: gate.Approved}, []act{doStart}, ""},
		{"loading", gateDecided{version: neu, status: gate.Approved, err: problem}, []act{doFallBack}, ""},
		{"loading", gateDecided{version: neu, status: gate.Waiting}, []act{doFallBack}, ""},
		{"loading", gateDecided{version: neu, status: gate.Refused}, []act{doUnpublish, doDrop, doAnnounce}, plugin.Disabled},
		{"serving", gateDecided{version: same, status: gate.Approved}, []act{doAdopt, doAccess}, plugin.Ready},
		{
			"serving an old version",
			gateDecided{version: same, status: gate.Approved},
			append([]act{doAdopt, doAccess}, serve...), plugin.Ready,
		},
		{"loading", gateDecided{version: listed, run: next, status: gate.Approved}, serve, plugin.Ready},
		{"loading", gateDecided{version: listed, run: next, status: gate.Waiting}, []act{doRetire, doFallBack}, ""},
		{
			"serving",
			gateDecided{version: listed, run: next, status: gate.Approved},
			slices.Insert(slices.Clone(serve), 1, doRetire), plugin.Ready,
		},
		{
			"serving",
			gateDecided{version: same, run: running, again: true, status: gate.Approved},
			[]act{doAdopt, doPublish, doAnnounce, doRemember},
			plugin.Ready,
		},
		{"loading", gateDecided{version: listed, run: next, again: true, status: gate.Approved}, []act{doAdopt}, ""},
		{"serving", gateDecided{version: listed, run: running, again: true, status: gate.Waiting}, []act{doFallBack}, ""},

		// it was started
		{"loading", runnerStarted{version: listed, run: next}, serve, plugin.Ready},
		{"loading", runnerStarted{version: listed, run: next, listed: true}, []act{doJudge}, ""},
		{"loading", runnerStarted{version: neu, run: next, err: problem}, []act{doRetire, doFallBack}, ""},
		{"loading", runnerStarted{version: neu, err: errNewer}, nil, ""}, // it begins again

		// something else serves meanwhile, or nothing
		{
			"loading",
			oldChecked{outcome: outcome{version: neu, problem: problem}},
			[]act{doAnnounce, doDrop, doLog},
			plugin.Failed,
		},
		{
			"loading",
			oldChecked{outcome: outcome{version: neu, problem: &plugin.Problem{Kind: "packages"}}},
			[]act{doAnnounce, doDrop, doLog},
			plugin.NeedsPackages,
		},
		{
			"loading",
			oldChecked{outcome: outcome{version: neu}},
			[]act{doPropose, doAnnounce, doRemember},
			plugin.NeedsApproval,
		},
		{
			"loading",
			oldChecked{outcome: outcome{version: neu, changes: []gate.Change{{Field: "code"}}}},
			[]act{doPropose, doAnnounce, doRemember},
			plugin.Quarantined,
		},
		{
			"serving",
			oldChecked{serving: running, outcome: outcome{version: neu, problem: problem}},
			[]act{doAnnounce, doDrop, doLog},
			plugin.Failed,
		},
		{
			"serving",
			oldChecked{serving: running, stop: true, outcome: outcome{version: neu, problem: problem}},
			append(slices.Clone(stop), doAnnounce, doDrop, doLog), plugin.Failed,
		},
		{
			"serving",
			oldChecked{serving: next, stop: true, outcome: outcome{version: neu, problem: problem}},
			[]act{doAnnounce, doDrop, doLog},
			plugin.Failed, // what was looked at serves no longer
		},

		// outside of a load
		{"serving", processDied{run: running, problem: problem}, append(slices.Clone(stop), doAnnounce), plugin.Quarantined},
		{"serving", processDied{run: next, problem: problem}, nil, ""},
		{"resting", gateDecided{version: same, status: gate.Approved}, []act{doStart}, ""}, // trusted once more
		{"serving", republished{running}, []act{doPublish, doNotice}, ""},
		{"loading", republished{running}, nil, ""},
		{"gone", wentAway{}, append(slices.Clone(stop), doDrop), ""},
		{"gone", loadOver{}, nil, ""},
	}
	for i, r := range rows {
		before := lives()[r.in]
		if before.serving != nil {
			before.serving = running
		}
		after, effects := before.next(r.event)
		if got := acts(effects); !slices.Equal(got, r.want) {
			t.Errorf("row %d, %s, %T: got %q, want %q", i, r.in, r.event, got, r.want)
		}
		if r.state == "" {
			r.state = before.status.State
		}
		if after.status.State != r.state {
			t.Errorf("row %d, %s, %T: it is %s, want %s", i, r.in, r.event, after.status.State, r.state)
		}
		if serves := after.serving != nil; after.status.State == plugin.Ready != serves && after.status.Serving != serves {
			t.Errorf("row %d, %s, %T: the card is %s, and serving %v", i, r.in, r.event, after.status.State, serves)
		}
		for _, f := range effects[:max(0, len(effects)-1)] {
			switch f.do {
			case doRecall, doDigest, doRead, doJudge, doStart, doFallBack, doRemove:
				t.Errorf("row %d, %s, %T: a task that is not the last effect: %q", i, r.in, r.event, r.want)
			}
		}
	}
}

func TestTheLastEditWins(t *testing.T) {
	l := lives()["loading"]
	if l.wants(request{interrupt: true, force: true}) {
		t.Error("a second load begins while one is under way")
	}
	l, _ = l.next(loadOver{cut: true})
	l, effects := l.next(loadBegan{now: time.Now()})
	if !slices.Equal(acts(effects), []act{doRecall}) || !l.load.force {
		t.Fatalf("after a load that was given up: %q, forced %v", acts(effects), l.load.force)
	}
	// What a load that was given up left undone is done, though the files are the same.
	l.status.Digest, l.status.State, l.load.force = "old", plugin.Ready, false
	if _, effects = l.next(filesDigested{seen: digested{digest: "old"}}); len(effects) == 0 {
		t.Error("nothing is done")
	}
}

func TestALoadWhoseFilesChangeAllTheTimeEnds(t *testing.T) {
	l := lives()["loading"]
	var effects []effect
	for range maxAgain {
		l, effects = l.next(sourceRead{err: errNewer})
		if len(effects) > 0 || !l.wanted.some {
			t.Fatalf("got %q, wanted %v", acts(effects), l.wanted)
		}
		l, _ = l.next(loadBegan{})
	}
	l, effects = l.next(sourceRead{err: errNewer})
	if !slices.Equal(acts(effects), []act{doFallBack}) || effects[0].outcome.problem.Message != errBusy.Message {
		t.Errorf("in the end: %q", acts(effects))
	}
}

func TestToolsThatARegistrationNoLongerHasAreWithdrawnAtOnce(t *testing.T) {
	l := lives()["serving"]
	next := version{src: plugin.Source{ID: "p", Tools: "[]"}, digest: "new", listed: true}
	l, effects := l.next(oldChecked{serving: l.serving, outcome: outcome{version: next}})
	want := []act{doAdopt, doPublish, doPropose, doAnnounce, doRemember}
	if !slices.Equal(acts(effects), want) || len(l.running.tools) != 0 {
		t.Errorf("got %q; it offers %v", acts(effects), l.running.tools)
	}
}

func TestTheGenerationGrowsWithEachVersion(t *testing.T) {
	l := lives()["serving"]
	for i, r := range []struct {
		event event
		want  uint64
	}{
		{oldChecked{serving: l.serving, outcome: outcome{version: version{digest: "new"}, problem: &plugin.Problem{}}}, 0},
		{oldChecked{serving: l.serving, outcome: outcome{version: version{digest: "new"}}}, 1},
		{gateDecided{run: &runner{}, version: version{digest: "old"}, status: gate.Approved}, 1},
	} {
		var effects []effect
		l, effects = l.next(r.event)
		if l.status.Generation != r.want {
			t.Errorf("row %d: generation %d, want %d %q", i, l.status.Generation, r.want, acts(effects))
		}
	}
}
