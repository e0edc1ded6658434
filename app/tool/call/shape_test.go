package call_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"
)

// returns is a tool that ends so.
func returns(r tool.Result) func(context.Context, tool.Call) tool.Result {
	return func(context.Context, tool.Call) tool.Result { return r }
}

func said(texts ...string) tool.Result {
	r := tool.Result{Status: chat.CallOK}
	for _, text := range texts {
		r.Content = append(r.Content, chat.TextPart(text))
	}
	return r
}

// made takes a call of the main model through its steps and returns it at its end.
func (b *bench) made(asked chat.ToolCall, change ...func(*call.Turn)) *call.Call {
	b.t.Helper()
	o := call.Turn{TurnInfo: hook.TurnInfo{Caller: gate.Person, Turn: "t"}, Tools: b.set}
	for _, do := range change {
		do(&o)
	}
	found, _ := b.set.ByWire(asked.Tool)
	c, err := b.runner.Record(b.t.Context(), &o, &asked, found, call.Position{Response: 2, Round: 1, Index: 3})
	must(b.t, err)
	result := c.Check()
	if result == nil {
		result = c.Decide(b.t.Context(), nil)
	}
	if result == nil {
		r := c.Invoke(b.t.Context(), call.Extra{})
		result = &r
	}
	c.Finish(b.t.Context(), *result)
	return c
}

func TestWhatAToolAnsweredIsShapedForTheModelAndWholeInTheRecord(t *testing.T) {
	long := strings.Repeat("ä", 60<<10)
	trace := strings.Repeat("x", 10<<10) + "the end"
	for name, c := range map[string]struct {
		result tool.Result
		status chat.CallStatus
		says   string // to the model; a prefix
		record string // of the record's result or error; a prefix
	}{
		"a text": {said("yes"), chat.CallOK, "yes", `"yes"`},
		"a value": {
			tool.Result{Status: chat.CallOK, Value: json.RawMessage(`{"a":1}`), Content: []chat.Part{chat.TextPart("a is 1")}},
			chat.CallOK, "a is 1", `{"a":1}`,
		},
		"a value that is none": {
			tool.Result{Status: chat.CallOK, Value: json.RawMessage(`{`), Content: []chat.Part{chat.TextPart("odd")}},
			chat.CallOK, "odd", `"odd"`,
		},
		"hidden characters":      {said("a\u200bb"), chat.CallOK, "ab", "\"a\u200bb\""},
		"bytes that are no text": {said("a\xffb"), chat.CallOK, "a\uFFFDb", "\"a\uFFFDb\""},
		"no status":              {tool.Result{Content: []chat.Part{chat.TextPart("fine")}}, chat.CallOK, "fine", `"fine"`},
		"raised": {
			tool.Result{Status: chat.CallRaised, ErrorType: "ValueError", Error: "no"},
			chat.CallRaised, "Error: ValueError: no",
			"Error: ValueError: no",
		},
		"raised without words": {
			tool.Result{Status: chat.CallRaised, ErrorType: "ValueError"}, chat.CallRaised, "Error: ValueError", "",
		},
		"named already": {
			tool.Result{Status: chat.CallRaised, ErrorType: "ValueError", Error: "ValueError: no"},
			chat.CallRaised,
			"Error: ValueError: no", "",
		},
		"said as an error":     {tool.Result{Status: chat.CallRaised, Error: "Error: no"}, chat.CallRaised, "Error: no", ""},
		"failed without words": {tool.Result{Status: chat.CallRaised}, chat.CallRaised, "Error: the tool failed", ""},
		"died":                 {tool.Result{Status: chat.CallDied}, chat.CallDied, "Error: the tool process ended", ""},
		"took too long":        {tool.Result{Status: chat.CallTimeout}, chat.CallTimeout, "Error: run took longer than", ""},
		"cancelled": {
			tool.Result{Status: chat.CallCancelled}, chat.CallCancelled, "Cancelled: the call was cancelled", "",
		},
		"refused by its plugin": {
			tool.Result{Status: chat.CallBadArguments, Error: "n is too large"},
			chat.CallBadArguments,
			"Error: arguments do not fit run:\nn is too large", "",
		},
		"paused": {tool.Result{Status: chat.CallPaused}, chat.CallPaused, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tools{"run": returns(c.result)})
			made := b.made(chat.ToolCall{ID: "1", Tool: "run", Arguments: json.RawMessage(`{}`)})
			if got := made.Result.Text(); made.Result.Status != c.status || !strings.HasPrefix(got, c.says) ||
				made.Result.IsError != (c.status != chat.CallOK && c.status != chat.CallPaused) {
				t.Errorf("the model is told %s %q", made.Result.Status, got)
			}
			r := b.log.Calls()[0]
			if !strings.HasPrefix(string(r.Result)+r.Error, c.record) || r.Ended.IsZero() != (c.status == chat.CallPaused) {
				t.Errorf("on record is %+v", r)
			}
			if r.ResponseID != 2 || r.Round != 1 || r.Index != 3 || r.ToolID != "p:run" {
				t.Errorf("its place on record is %+v", r)
			}
		})
	}
	t.Run("MC-42: what is for programs", func(t *testing.T) {
		r := said("yes")
		r.Meta = json.RawMessage(`{"trace":"abc"}`)
		b := newBench(t, tools{"run": returns(r)})
		made := b.made(chat.ToolCall{ID: "1", Tool: "run", Arguments: json.RawMessage(`{}`)})
		if on := string(b.log.Calls()[0].Meta); made.Result.Text() != "yes" || on != `{"trace":"abc"}` {
			t.Errorf("the model gets %q, and on record is %s", made.Result.Text(), on)
		}
	})
	t.Run("a long text", func(t *testing.T) {
		b := newBench(t, tools{"run": returns(said(long, "the end"))})
		made := b.made(chat.ToolCall{ID: "1", Tool: "run", Arguments: json.RawMessage(`{}`)})
		if got := made.Result.Text(); len(got) > 65<<10 || !strings.HasSuffix(got, "the end") ||
			!strings.Contains(got, "bytes left out") || strings.Contains(got, "\uFFFD") {
			t.Errorf("the model is told %d bytes that end with %q", len(got), got[len(got)-20:])
		}
		if r := b.log.Calls()[0]; !bytes.Contains(r.Result, []byte(long)) {
			t.Error("the record lost some of it")
		}
	})
	t.Run("a long traceback", func(t *testing.T) {
		b := newBench(t, tools{
			"run": returns(tool.Result{Status: chat.CallRaised, Error: "no", Traceback: trace, Printed: "said " + trace}),
		})
		b.made(chat.ToolCall{ID: "1", Tool: "run", Arguments: json.RawMessage(`{}`)})
		if r := b.log.Calls()[0]; len(r.Traceback) != 8<<10 || !strings.HasSuffix(r.Traceback, "the end") ||
			!strings.HasSuffix(r.Printed, "the end") {
			t.Errorf("on record are %d bytes of it", len(r.Traceback))
		}
	})
}

func TestACallThatCannotBeMadeIsExplained(t *testing.T) {
	b := newBench(t, tools{"weather_today": echo, "weather_log": echo, "zebra": echo, "add": echo})
	for name, c := range map[string]struct {
		asked chat.ToolCall
		says  []string
	}{
		"an unknown tool": {
			chat.ToolCall{ID: "1", Tool: "Weather_Tody", Arguments: json.RawMessage(`{}`)},
			[]string{`no tool named "Weather_Tody". Tools: weather_today, weather_log, `},
		},
		"arguments cut short": {
			chat.ToolCall{ID: "1", Tool: "add", Raw: `{"n": 1`}, []string{"arguments do not fit add:", `They were: {"n": 1`},
		},
		"arguments of a novel": {
			chat.ToolCall{ID: "1", Tool: "add", Raw: strings.Repeat("ä", 300)},
			[]string{"They began: " + strings.Repeat("ä", 200) + "…"},
		},
		"a list": {chat.ToolCall{ID: "1", Tool: "add", Raw: `[1]`}, []string{"They were: [1]"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := b.made(c.asked).Result
			for _, want := range c.says {
				if !got.IsError || !strings.Contains(got.Text(), want) {
					t.Errorf("got %q, want %q in it", got.Text(), want)
				}
			}
		})
	}
	t.Run("no tools at all", func(t *testing.T) {
		c := b.made(chat.ToolCall{ID: "1", Tool: "x", Arguments: json.RawMessage(`{}`)},
			func(o *call.Turn) { o.Tools = nil })
		if got := c.Result.Text(); !strings.HasSuffix(got, "There are no tools.") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("more tools than are named", func(t *testing.T) {
		many := tools{}
		for i := range 60 {
			many[fmt.Sprintf("tool_%02d", i)] = echo
		}
		got := newBench(t, many).made(chat.ToolCall{ID: "1", Tool: "tool_7", Arguments: json.RawMessage(`{}`)}).Result.Text()
		if !strings.HasSuffix(got, " and 10 more") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a plugin that is gone", func(t *testing.T) {
		empty := tool.NewRegistry().Set()
		c := b.made(chat.ToolCall{ID: "1", Tool: "add", Arguments: json.RawMessage(`{}`)},
			func(o *call.Turn) { o.Tools = empty })
		if got := c.Result.Text(); c.Result.Status != chat.CallDied || !strings.Contains(got, "the plugin p is gone") {
			t.Errorf("got %q", got)
		}
	})
}

// full is a log that keeps no media, or nothing more at all.
type full struct {
	*turn.MemoryLog
	media, calls error
}

func (f *full) PutMedia(ctx context.Context, m *chat.Media) error {
	if f.media != nil {
		return f.media
	}
	return f.MemoryLog.PutMedia(ctx, m)
}

func (f *full) PutCall(ctx context.Context, r *chat.CallRecord) error {
	if f.calls != nil {
		return f.calls
	}
	return f.MemoryLog.PutCall(ctx, r)
}

func TestPicturesOfAToolAreKeptOnceAndBounded(t *testing.T) {
	picture := func(n int) chat.Part {
		return chat.Part{
			Kind: chat.PartMedia, Text: "a picture", Media: &chat.Media{MIME: "image/png", Data: []byte{byte(n)}},
		}
	}
	r := said("look")
	for n := range 22 {
		r.Content = append(r.Content, picture(n))
	}
	b := newBench(t, tools{"run": returns(r)})
	made := b.made(chat.ToolCall{ID: "1", Tool: "run", Arguments: json.RawMessage(`{}`)})
	media := 0
	for _, p := range made.Result.Content {
		if p.Kind == chat.PartMedia {
			media++
			if p.Media.ID == "" || p.Media.Data != nil {
				t.Errorf("the model is given %+v", p.Media)
			}
		}
	}
	if text := made.Result.Text(); media != 20 || !strings.Contains(text,
		"[more than 20 attachments: image/png left out]") {
		t.Errorf("%d pictures and %q", media, text)
	}
	if r := b.log.Calls()[0]; len(r.Attachments) != 20 {
		t.Errorf("on record are %d", len(r.Attachments))
	}
	if data, err := b.log.Media(t.Context(), made.Result.Content[1].Media.ID); err != nil || len(data) != 1 {
		t.Errorf("the bytes are %v, %v", data, err)
	}
	disk := &full{MemoryLog: b.log, media: fault.New(fault.Unavailable, "test", "The disk is full.", "")}
	made = b.made(chat.ToolCall{ID: "2", Tool: "run", Arguments: json.RawMessage(`{}`)},
		func(o *call.Turn) { o.Log = disk })
	if text := made.Result.Text(); !strings.Contains(text,
		"[an attachment of type image/png could not be stored: The disk is full.]") {
		t.Errorf("with a full disk the model is told %q", text)
	}
}

func TestACallThatCannotBePutOnRecordIsNotMade(t *testing.T) {
	ran := false
	b := newBench(t, tools{"run": func(context.Context, tool.Call) tool.Result { ran = true; return said("x") }})
	disk := &full{MemoryLog: b.log, calls: fault.New(fault.Unavailable, "test", "The disk is full.", "")}
	_, err := b.runner.Do(t.Context(), call.Turn{TurnInfo: hook.TurnInfo{Caller: gate.Person}, Tools: b.set, Log: disk},
		"p:run", "{}", call.Extra{})
	if fault.KindOf(err) != fault.Unavailable || ran {
		t.Errorf("got %v; it ran: %v", err, ran)
	}
}

func TestTheSameFailureIsToldAtTheThirdTimeAndStopsAtTheFifth(t *testing.T) {
	b := newBench(t, tools{"run": returns(tool.Result{Status: chat.CallRaised, Error: "no"}), "ok": echo})
	var failures call.Failures
	counting := func(o *call.Turn) { o.Failures = &failures }
	for n := 1; n <= 5; n++ {
		if failures.Stuck() {
			t.Errorf("it is stuck after %d calls", n-1)
		}
		got := b.made(chat.ToolCall{ID: fmt.Sprint(n), Tool: "run", Arguments: json.RawMessage(`{}`)}, counting).Result.Text()
		if told := strings.Contains(got, fmt.Sprintf("failed the same way %d times running", n)); told != (n >= 3) {
			t.Errorf("the %d. time the model is told %q", n, got)
		}
		b.made(chat.ToolCall{ID: "other", Tool: "run", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))}, counting)
		b.made(chat.ToolCall{ID: "ok", Tool: "ok", Arguments: json.RawMessage(`{}`)}, counting)
	}
	if !failures.Stuck() {
		t.Error("it is not stuck after 5")
	}
}

// broken is an invoker with a fault of Conclave's own.
type broken struct{ err error }

func (b broken) Call(ctx context.Context, _ tool.Call) (tool.Result, error) {
	if b.err == nil {
		panic("a bug")
	}
	return tool.Result{}, b.err
}

func TestAFaultOfConclavesOwnIsAResult(t *testing.T) {
	for name, c := range map[string]struct {
		invoker broken
		says    string
	}{
		"a panic":  {broken{}, "Error: the call failed inside Conclave"},
		"an error": {broken{fault.New(fault.Unavailable, "test", "The pipe is closed.", "")}, "Error: The pipe is closed."},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tools{"run": echo})
			registry := tool.NewRegistry()
			registry.Publish("p", b.set.Tools(), c.invoker)
			b.set = registry.Set()
			r := b.do("run", "{}")
			if r.Status != chat.CallDied || r.Error != c.says {
				t.Errorf("got %+v", r)
			}
		})
	}
}

var errEnough = errors.New("enough")

func TestAStoppedCallSaysSoWhereverItWas(t *testing.T) {
	stop := func(ctx context.Context) (context.Context, context.CancelCauseFunc) {
		return context.WithCancelCause(ctx)
	}
	for name, run := range map[string]func(b *bench, ctx context.Context, cancel context.CancelCauseFunc) tool.Result{
		"before it is decided": func(b *bench, ctx context.Context, cancel context.CancelCauseFunc) tool.Result {
			cancel(errEnough)
			detach := b.gate.Questions.Attach() // somebody might answer
			defer detach()
			return b.doIn(ctx, "run", func(o *call.Turn) { o.Caller = gate.Main })
		},
		"in the line": func(b *bench, ctx context.Context, cancel context.CancelCauseFunc) tool.Result {
			return b.doIn(ctx, "run", func(o *call.Turn) {
				o.OnEvent = func(e chat.Event) {
					if e.Kind == chat.EventDecided {
						cancel(errEnough)
					}
				}
			})
		},
		"while it is put on record": func(b *bench, ctx context.Context, cancel context.CancelCauseFunc) tool.Result {
			return b.doIn(ctx, "run", func(o *call.Turn) {
				disk := &full{MemoryLog: b.log}
				o.Log, o.Ready = disk, func() error { cancel(errEnough); disk.calls = errEnough; return nil }
			})
		},
		"while it runs": func(b *bench, ctx context.Context, cancel context.CancelCauseFunc) tool.Result {
			return b.doIn(ctx, "run", func(o *call.Turn) {
				o.OnEvent = func(e chat.Event) {
					if e.Kind == chat.EventRunning {
						cancel(errEnough)
					}
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, tools{"run": func(ctx context.Context, _ tool.Call) tool.Result {
				<-ctx.Done()
				return tool.Result{Status: chat.CallCancelled}
			}})
			ctx, cancel := stop(t.Context())
			defer cancel(nil)
			r := run(b, ctx, cancel)
			if r.Status != chat.CallCancelled || r.Error != "Cancelled: the person stopped the answer" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// doIn makes a call of the person's in a context.
func (b *bench) doIn(ctx context.Context, name string, change func(*call.Turn)) tool.Result {
	b.t.Helper()
	o := call.Turn{TurnInfo: hook.TurnInfo{Caller: gate.Person}, Tools: b.set}
	change(&o)
	r, err := b.runner.Do(ctx, o, "p:"+name, "{}", call.Extra{})
	must(b.t, err)
	return r
}

func TestArgumentsThatAPersonChangedAreCheckedAgain(t *testing.T) {
	b := newBench(t, tools{"run": echo})
	for arguments, want := range map[string]string{`{"n":2}`: `{"n":2}`, `{"n":"x"}`: "n: expected integer"} {
		r := b.doIn(t.Context(), "run", func(o *call.Turn) {
			o.Caller = gate.Main
			o.Asker = asker{gate.Answer{Effect: gate.Allow, Scope: gate.Once, Arguments: json.RawMessage(arguments)}}
		})
		if got := r.Error + chat.TextOf(r.Content); !strings.Contains(got, want) {
			t.Errorf("changed to %s: %q", arguments, got)
		}
	}
	released := b.doIn(t.Context(), "run", func(o *call.Turn) {
		o.Caller, o.Asker, o.Turn = gate.Main, asker{gate.Answer{Effect: gate.Allow, Scope: gate.ThisAnswer}}, "t"
	})
	if released.Status != chat.CallOK {
		t.Errorf("allowed for one answer: %+v", released)
	}
	b.runner.TurnEnded("t")
	if again := b.doIn(t.Context(), "run",
		func(o *call.Turn) { o.Caller, o.Turn = gate.Main, "t" }); again.Status != chat.CallRefused {
		t.Errorf("after that answer: %+v", again)
	}
}

// asker answers every request.
type asker struct{ answer gate.Answer }

func (a asker) Ask(context.Context, gate.Request) (gate.Answer, error) { return a.answer, nil }
