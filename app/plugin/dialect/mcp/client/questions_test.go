package client_test

import (
	"context"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/plugin/dialect/mcp/mcptest"
)

// asker returns options that accept all questions; each, where it is not nil, gets them.
func asker(each func(client.Question)) client.Options {
	return client.Options{
		Form: true, URL: true, Sampling: true,
		Roots: func() []client.Root { return []client.Root{{URI: "file:///work", Name: "work"}} },
		Ask: func(_ context.Context, q client.Question) (client.Reply, error) {
			if each != nil {
				each(q)
			}
			return client.Reply{
				Action: client.Accept, Values: map[string]any{"name": "Ada"},
				Generated: &client.Generated{
					Model: "m", Blocks: []client.Block{{Type: client.TextBlock, Text: "2"}}, Reason: "endTurn",
				},
			}, nil
		},
	}
}

func TestMC55QuestionsReachTheCallerOverBothWires(t *testing.T) {
	var mu sync.Mutex
	var asked []client.Question
	o := asker(func(q client.Question) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, q)
	})
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, _ *mcptest.Server) {
		mu.Lock()
		asked = nil
		mu.Unlock()
		for tool, want := range map[string]string{
			"ask": `"action":"accept"`, "visit": `"action":"accept"`, "sample": `"text":"2"`, "roots": `file:///work`,
		} {
			r, err := s.Call(t.Context(), client.Call{ID: "c-" + tool, Tool: tool})
			if err != nil || !strings.Contains(text(r), want) {
				t.Errorf("%s: %q, %v", tool, text(r), err)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		if len(asked) != 3 {
			t.Fatalf("%d questions", len(asked))
		}
		for _, q := range asked {
			want := map[string]string{client.Form: "c-ask", client.URL: "c-visit", client.Sampling: "c-sample"}[q.Kind]
			if q.Call != want || q.Number != 1 || q.Of != 1 || q.Again != (s.Server().Era == client.Modern) {
				t.Errorf("%+v", q)
			}
		}
	})
}

func TestMC55StateIsReturnedByteForByte(t *testing.T) {
	s, server := overHTTP(t, mcptest.Flags{Modern: true}, asker(nil))
	r := call(t, s, "asks", "")
	if !strings.Contains(text(r), `{"b":1, "a":"<&>"}`) {
		t.Errorf("got %s", text(r))
	}
	calls := server.Received("tools/call")
	if len(calls) != 2 || string(calls[0].ID) == string(calls[1].ID) ||
		strings.Contains(string(calls[0].Params), "requestState") {
		t.Errorf("calls: %+v", calls)
	}
}

func TestMC55QuestionsOfOneResultComeOneAfterTheOther(t *testing.T) {
	var mu sync.Mutex
	open, most := 0, 0
	o := asker(nil)
	answer := o.Ask
	o.Ask = func(ctx context.Context, q client.Question) (client.Reply, error) {
		mu.Lock()
		open++
		most = max(most, open)
		mu.Unlock()
		time.Sleep(20 * time.Millisecond)
		mu.Lock()
		open--
		mu.Unlock()
		return answer(ctx, q)
	}
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, _ *mcptest.Server) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { _, _ = s.Call(t.Context(), client.Call{Tool: "asks"}) })
		}
		wg.Wait()
	})
	if most != 1 {
		t.Errorf("%d questions at once", most)
	}
}

func TestMC55AServerThatAsksForEverFails(t *testing.T) {
	s, server := overHTTP(t, mcptest.Flags{Modern: true}, asker(nil))
	_, err := s.Call(t.Context(), client.Call{Tool: "forever"})
	if err == nil || !strings.Contains(err.Error(), "more than 10 times") {
		t.Errorf("got %v", err)
	}
	if n := len(server.Received("tools/call")); n != 11 {
		t.Errorf("%d calls", n)
	}
}

func TestMC56OnlyWhatWorksIsAnnounced(t *testing.T) {
	for name, c := range map[string]struct {
		o    client.Options
		want []string
	}{
		"nothing": {client.Options{}, nil},
		"all":     {asker(nil), []string{`"form"`, `"url"`, `"sampling"`, `"roots"`}},
		"no Ask":  {client.Options{Form: true, URL: true, Sampling: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, mcptest.Flags{}, c.o, func(t *testing.T, s *client.Session, server *mcptest.Server) {
				method := "initialize"
				if s.Server().Era == client.Modern {
					method = "server/discover"
				}
				params := string(server.Received(method)[0].Params)
				for _, word := range []string{`"form"`, `"url"`, `"sampling"`, `"roots"`} {
					if strings.Contains(params, word) != slices.Contains(c.want, word) {
						t.Errorf("%s in %s", word, params)
					}
				}
				if len(c.want) > 0 {
					return
				}
				r, err := s.Call(t.Context(), client.Call{Tool: "ask"})
				if s.Server().Era == client.Legacy && !strings.Contains(text(r), "-32601") {
					t.Errorf("an unannounced question got %q, %v", text(r), err)
				}
				if s.Server().Era == client.Modern && err == nil && !r.IsError {
					t.Errorf("an unannounced question was answered: %q", text(r))
				}
			})
		})
	}
}

func TestMC57AFormIsReadAndAnAcceptWithoutValuesHasItsDefaults(t *testing.T) {
	var form client.Question
	o := asker(func(q client.Question) { form = q })
	s, _ := overStream(t, mcptest.Flags{}, o)
	if r := call(t, s, "ask", ""); !strings.Contains(text(r), `"content":{"name":"Ada"}`) {
		t.Errorf("with the age emptied: %s", text(r))
	}
	o.Ask = func(context.Context, client.Question) (client.Reply, error) {
		return client.Reply{Action: client.Accept}, nil
	}
	untouched, _ := overStream(t, mcptest.Flags{}, o)
	if r := call(t, untouched, "ask", ""); !strings.Contains(text(r), `"content":{"age":30}`) {
		t.Errorf("untouched: %s", text(r))
	}
	names := []string{}
	for _, f := range form.Fields {
		names = append(names, f.Name+" "+f.Type)
	}
	if want := []string{"name string", "age integer", "color choice", "more choices"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	if f := form.Fields[0]; !f.Required || f.Title != "Name" || *f.MinLength != 1 ||
		form.Fields[2].Choices[0].Title != "Red" {
		t.Errorf("got %+v", form.Fields)
	}
}

func TestMC57NobodyAnswersInTimeIsCancel(t *testing.T) {
	o := asker(nil)
	o.Limits.Answer = 50 * time.Millisecond
	o.Ask = func(ctx context.Context, _ client.Question) (client.Reply, error) {
		<-ctx.Done()
		return client.Reply{}, ctx.Err()
	}
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, _ *mcptest.Server) {
		if r := call(t, s, "ask", ""); !strings.Contains(text(r), `"action":"cancel"`) {
			t.Errorf("got %s", text(r))
		}
	})
}

func TestMC39TheClockStopsWhileThePersonIsAsked(t *testing.T) {
	o := asker(func(client.Question) { time.Sleep(200 * time.Millisecond) })
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, _ *mcptest.Server) {
		if _, err := s.Call(t.Context(), client.Call{Tool: "ask", Silence: 100 * time.Millisecond}); err != nil {
			t.Error(err)
		}
	})
}

func TestMC59AVisitIsOverWhenTheServerSaysSo(t *testing.T) {
	o := asker(nil)
	o.Ask = func(ctx context.Context, q client.Question) (client.Reply, error) {
		if q.Again {
			select {
			case <-q.Finished:
			case <-ctx.Done():
				return client.Reply{}, ctx.Err()
			}
		}
		return client.Reply{Action: client.Accept}, nil
	}
	s, server := overStream(t, mcptest.Flags{}, o)
	if got := text(call(t, s, "required", "")); got != "visited" {
		t.Errorf("got %q", got)
	}
	if n := len(server.Received("tools/call")); n != 2 {
		t.Errorf("%d calls", n)
	}
}

func TestMC62ARefusalIsAnAnswer(t *testing.T) {
	o := asker(nil)
	o.Ask = func(context.Context, client.Question) (client.Reply, error) {
		return client.Reply{Action: client.Decline}, nil
	}
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, _ *mcptest.Server) {
		if r := call(t, s, "sample", ""); !strings.Contains(text(r), "User rejected") {
			t.Errorf("got %s", text(r))
		}
	})
}

func TestMC61AThousandRequestsAtOnceAreBounded(t *testing.T) { floodsWithQuestions(t, "sampling", 33) }

func TestAttackAServerAsksWithoutEndUnderOneID(t *testing.T) {
	floodsWithQuestions(t, "one id", 2)
	t.Log("stopped by: under an id that waits for an answer nothing else is asked")
}

// floodsWithQuestions ends the test unless all questions of a flood are dropped but for the first few.
func floodsWithQuestions(t *testing.T, flood string, fewer int) {
	t.Helper()
	var l log
	o := asker(nil)
	o.Log = l.write
	release := make(chan struct{})
	var asked atomic.Int32
	o.Ask = func(ctx context.Context, _ client.Question) (client.Reply, error) {
		asked.Add(1)
		select {
		case <-release:
		case <-ctx.Done():
		}
		return client.Reply{Action: client.Decline}, nil
	}
	s, _ := overStream(t, mcptest.Flags{Flood: flood}, o)
	if got := text(call(t, s, "flood", "")); got != "flooded" {
		t.Errorf("got %q", got)
	}
	close(release)
	if l.count("wait for an answer") == 0 {
		t.Errorf("log: %s", l.text())
	}
	s.Close()
	if n := int(asked.Load()); n >= fewer {
		t.Errorf("%d questions were asked", n)
	}
}

func TestMC63RootsChangeForLegacyServers(t *testing.T) {
	s, server := overStream(t, mcptest.Flags{}, asker(nil))
	s.RootsChanged()
	eventually(t, "no notification", func() bool { return len(server.Received("notifications/roots/list_changed")) == 1 })
}

func TestMC64LogsOfTheServer(t *testing.T) {
	everywhere(t, mcptest.Flags{}, client.Options{}, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		var l log
		if _, err := s.Call(t.Context(), client.Call{Tool: "log", Log: l.write}); err != nil {
			t.Fatal(err)
		}
		if got, want := l.text(), "warn fake: a line\ninfo {\"n\":1}"; got != want {
			t.Errorf("got %q", got)
		}
		if s.Server().Era == client.Modern {
			if !strings.Contains(string(server.Received("tools/call")[0].Params), `logLevel":"warning"`) {
				t.Errorf("no level: %s", server.Received("tools/call")[0].Params)
			}
			return
		}
		eventually(t, "no level", func() bool { return len(server.Received("logging/setLevel")) == 1 })
	})
	var l log
	s, _ := overStream(t, mcptest.Flags{Flood: "log"}, client.Options{Log: l.write})
	call(t, s, "flood", "")
	s.Close()
	if n := l.count("line "); n > 2000 || l.count("were left out") == 0 {
		t.Errorf("%d lines", n)
	}
}

func TestMC65MC68ATaskIsPolledAndItsQuestionsAnswered(t *testing.T) {
	o := asker(nil)
	o.Limits.Poll = 20 * time.Millisecond
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		var states []string
		r, err := s.Call(t.Context(), client.Call{
			Tool: "sleep", Task: "required", Running: func(task client.Task) { states = append(states, task.Status) },
		})
		if err != nil || text(r) != "slept" {
			t.Fatal(text(r), err)
		}
		want := []string{"working", "working", "completed"}
		if s.Server().Era == client.Modern {
			want = []string{"working", "input_required", "completed"}
			if strings.Contains(string(server.Received("tools/call")[0].Params), `"task"`) {
				t.Error("the server was asked for a task")
			}
		}
		if !slices.Equal(states, want) {
			t.Errorf("states %v, want %v", states, want)
		}
	})
}

func TestMC66ATaskIsFollowedInAnotherSession(t *testing.T) {
	t.Parallel()
	o := asker(nil)
	o.Limits.Poll = 20 * time.Millisecond
	web := httptest.NewServer(mcptest.New(mcptest.Flags{Modern: true}))
	defer web.Close()
	s := must[*client.Session](t)(client.OverHTTP(t.Context(), web.URL, nil, o))
	var task client.Task
	ctx, stop := context.WithCancel(t.Context())
	_, err := s.Call(ctx, client.Call{Tool: "sleep", Running: func(now client.Task) {
		task = now
		stop()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.Close()
	s = must[*client.Session](t)(client.OverHTTP(t.Context(), web.URL, nil, o))
	defer s.Close()
	r, err := s.Resume(t.Context(), client.Call{Tool: "sleep"}, task)
	if err != nil || text(r) != "slept" {
		t.Errorf("%v, %v", text(r), err)
	}
}

func TestMC66ATaskThatItsServerForgotAfterItsTimeIsLost(t *testing.T) {
	var o client.Options
	o.Limits.Poll = 20 * time.Millisecond
	flags := mcptest.Flags{ForgetsTask: 200 * time.Millisecond}
	everywhere(t, flags, o, func(t *testing.T, s *client.Session, _ *mcptest.Server) {
		_, err := s.Call(t.Context(), client.Call{Tool: "sleep", Task: "required"})
		if err == nil || !strings.HasSuffix(err.Error(), "is lost: the server kept it for 200ms") {
			t.Errorf("got %v", err)
		}
	})
}

func TestMC65StopCancelsATask(t *testing.T) {
	t.Parallel()
	s, server := overStream(t, mcptest.Flags{Modern: true}, client.Options{})
	ctx, stop := context.WithCancel(t.Context())
	_, err := s.Call(ctx, client.Call{Tool: "sleep", Running: func(client.Task) { stop() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, "it goes on", func() bool { return len(server.Received("tasks/cancel")) == 1 })
}

func TestMC48MC51MC52ResourcesPromptsAndCompletion(t *testing.T) {
	updated := make(chan string, 10)
	o := client.Options{ResourceUpdated: func(uri string) { updated <- uri }}
	everywhere(t, mcptest.Flags{}, o, func(t *testing.T, s *client.Session, server *mcptest.Server) {
		ctx := t.Context()
		if all := must[[]client.Resource](t)(s.Resources(ctx)); len(all) != 1 || all[0].Size != 3 {
			t.Errorf("resources: %+v", all)
		}
		if all := must[[]client.Template](t)(s.Templates(ctx)); len(all) != 1 || all[0].URITemplate != "test://{name}" {
			t.Errorf("templates: %+v", all)
		}
		b := must[[]client.Block](t)(s.Read(ctx, "test://one"))
		if len(b) != 1 || b[0].Text != "one" || b[0].URI != "test://one" {
			t.Errorf("read: %+v", b)
		}
		if b := must[[]client.Block](t)(s.Read(ctx, "test://empty")); len(b) != 0 {
			t.Errorf("empty: %+v", b)
		}
		for _, uri := range []string{"test://none", "test://old"} {
			if _, err := s.Read(ctx, uri); !errors.Is(err, client.ErrNotThere) {
				t.Errorf("%s: %v", uri, err)
			}
		}
		prompts := must[[]client.Prompt](t)(s.Prompts(ctx))
		if len(prompts) != 1 || !prompts[0].Arguments[0].Required {
			t.Errorf("prompts: %+v", prompts)
		}
		p := must[client.PromptResult](t)(s.Prompt(ctx, "greet", map[string]string{"who": "Ada"}))
		if len(p.Messages) != 2 || p.Messages[0].Block.Text != "Greet Ada" || p.Messages[1].Role != "assistant" {
			t.Errorf("prompt: %+v", p)
		}
		c := must[client.Completion](t)(
			s.Complete(ctx, client.Reference{Prompt: "greet"}, "who", "A", map[string]string{"x": "y"}))
		if len(c.Values) != 100 || !c.More || c.Total != 500 || c.Values[0] != "A0" {
			t.Errorf("completion: %+v", c)
		}
		if err := s.Subscribe(ctx, "test://one"); err != nil {
			t.Fatal(err)
		}
		if s.Server().Era == client.Modern {
			server.Notify("notifications/resources/updated")
			if uri := <-updated; uri != "test://one" {
				t.Errorf("updated: %s", uri)
			}
		}
		if err := s.Unsubscribe(ctx, "test://one"); err != nil {
			t.Error(err)
		}
	})
}

func TestMC54AReadAndAPromptMayAskFirst(t *testing.T) {
	var asked []string
	s, _ := overHTTP(t, mcptest.Flags{Modern: true}, asker(func(q client.Question) { asked = append(asked, q.Kind) }))
	read := must[[]client.Block](t)(s.Read(t.Context(), "test://asks"))
	if len(read) != 1 || !strings.Contains(read[0].Text, "Ada") {
		t.Errorf("read: %+v", read)
	}
	if p := must[client.PromptResult](t)(s.Prompt(t.Context(), "asks", nil)); len(p.Messages) != 2 {
		t.Errorf("prompt: %+v", p)
	}
	if want := []string{client.Form, client.Form}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

// A frame that may run scripts reaches the window's bridge on WebKitGTK, so a server must not offer any.
func TestMC69NoAppIsAnnounced(t *testing.T) {
	everywhere(t, mcptest.Flags{}, asker(nil), func(t *testing.T, s *client.Session, server *mcptest.Server) {
		method := "initialize"
		if s.Server().Era == client.Modern {
			method = "server/discover"
		}
		if params := string(server.Received(method)[0].Params); strings.Contains(params, "modelcontextprotocol/ui") {
			t.Errorf("%s announces apps: %s", method, params)
		}
	})
}
