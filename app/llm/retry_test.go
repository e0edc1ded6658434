package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/llm"
	"conclave/app/llm/llmtest"
)

func overloaded() llmtest.Step {
	return llmtest.Fail(&llm.Error{Kind: llm.Overloaded, Provider: "p", Host: "example.org"})
}

func TestRetryWaitsLongerEachTimeAndThenAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := llmtest.New([]llmtest.Step{overloaded()}, []llmtest.Step{overloaded()}, []llmtest.Step{llmtest.Say("hi")})
		var waits []time.Duration
		start := time.Now()
		heard := llmtest.Hear(llm.WithRetry(model,
			llm.Policy{
				OnWait: func(_ *llm.Error, d time.Duration) { waits = append(waits, d) },
			}).Stream(t.Context(), llm.Request{}))
		if heard.Err != nil || heard.Text != "hi" || len(waits) != 2 {
			t.Fatalf("text %q, error %v, waits %v", heard.Text, heard.Err, waits)
		}
		for i, base := range []time.Duration{500 * time.Millisecond, time.Second} {
			if waits[i] > base || waits[i] < base*3/4 {
				t.Errorf("wait %d is %v, want up to a quarter below %v", i+1, waits[i], base)
			}
		}
		if got := time.Since(start); got != waits[0]+waits[1] {
			t.Errorf("it took %v, want the waits %v", got, waits)
		}
	})
}

func TestRetryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := llmtest.New()
		for range 9 {
			model.Add([]llmtest.Step{overloaded()})
		}
		heard := llmtest.Hear(llm.WithRetry(model, llm.Policy{Attempts: 4}).Stream(t.Context(), llm.Request{}))
		if e, ok := errors.AsType[*llm.Error](heard.Err); !ok || e.Kind != llm.Overloaded {
			t.Errorf("got %v", heard.Err)
		}
		if got := len(model.Requests()); got != 4 {
			t.Errorf("%d requests, want 4", got)
		}
	})
}

func TestRetryHonoursWhatTheProviderAsksFor(t *testing.T) {
	for name, c := range map[string]struct {
		after    time.Duration
		requests int
		took     time.Duration
	}{
		"a wait it can afford":  {7 * time.Second, 2, 7 * time.Second},
		"a wait beyond the max": {time.Hour, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := llmtest.New([]llmtest.Step{llmtest.Fail(&llm.Error{Kind: llm.RateLimited, RetryAfter: c.after})},
					[]llmtest.Step{llmtest.Say("hi")})
				start := time.Now()
				heard := llmtest.Hear(llm.WithRetry(model, llm.Policy{}).Stream(t.Context(), llm.Request{}))
				if got := len(model.Requests()); got != c.requests {
					t.Errorf("%d requests, want %d", got, c.requests)
				}
				if got := time.Since(start); got != c.took {
					t.Errorf("it took %v, want %v", got, c.took)
				}
				if (heard.Err == nil) != (c.requests == 2) {
					t.Errorf("error %v", heard.Err)
				}
			})
		})
	}
}

func TestRetryNeverRepeatsWhatWasSaid(t *testing.T) {
	model := llmtest.New([]llmtest.Step{llmtest.Say("half"), overloaded()}, []llmtest.Step{llmtest.Say("half an answer")})
	heard := llmtest.Hear(llm.WithRetry(model, llm.Policy{}).Stream(t.Context(), llm.Request{}))
	if heard.Text != "half" || heard.Err == nil || len(model.Requests()) != 1 {
		t.Errorf("text %q, error %v, %d requests", heard.Text, heard.Err, len(model.Requests()))
	}
}

func TestRetryLeavesHopelessErrorsAlone(t *testing.T) {
	for _, kind := range []llm.ErrorKind{
		llm.KeyRefused, llm.KeyMissing, llm.QuotaUsedUp, llm.ContextTooLong, llm.ModelUnknown, llm.NoTools, llm.BadRequest,
		llm.Malformed, llm.Filtered, llm.WrongAddress,
	} {
		model := llmtest.New([]llmtest.Step{llmtest.Fail(&llm.Error{Kind: kind})}, []llmtest.Step{llmtest.Say("hi")})
		if heard := llmtest.Hear(llm.WithRetry(model, llm.Policy{}).Stream(t.Context(), llm.Request{})); heard.Err == nil ||
			len(model.Requests()) != 1 {
			t.Errorf("%s was asked again", kind)
		}
	}
}

func TestRetryEndsItsWaitWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("you stopped it")
		ctx, cancel := context.WithCancelCause(t.Context())
		model := llmtest.New([]llmtest.Step{overloaded()}, []llmtest.Step{llmtest.Say("hi")})
		time.AfterFunc(100*time.Millisecond, func() { cancel(stopped) })
		start := time.Now()
		heard := llmtest.Hear(llm.WithRetry(model, llm.Policy{}).Stream(ctx, llm.Request{}))
		if !errors.Is(heard.Err, stopped) || time.Since(start) != 100*time.Millisecond {
			t.Errorf("error %v after %v", heard.Err, time.Since(start))
		}
	})
}

func TestRetryDoesNotWaitPastTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		model := llmtest.New([]llmtest.Step{overloaded()}, []llmtest.Step{llmtest.Say("hi")})
		heard := llmtest.Hear(llm.WithRetry(model, llm.Policy{}).Stream(ctx, llm.Request{}))
		if e, ok := errors.AsType[*llm.Error](heard.Err); !ok || e.Kind != llm.Overloaded {
			t.Errorf("got %v, want the provider's own error at once", heard.Err)
		}
	})
}

func TestScriptedModelWaitsUntilItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		model := llmtest.New([]llmtest.Step{
			llmtest.Say("a"), llmtest.Wait(gate), llmtest.Say("b"), llmtest.Call("1", "now", "{}"), llmtest.Used(3, 4),
		})
		done := make(chan llmtest.Heard, 1)
		go func() { done <- llmtest.Hear(model.Stream(t.Context(), llm.Request{System: "s"})) }()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("it did not wait")
		default:
		}
		close(gate)
		heard := <-done
		if heard.Text != "ab" || len(heard.Calls) != 1 || heard.Usage.Output != 4 || model.Requests()[0].System != "s" {
			t.Errorf("got %+v", heard)
		}
		if heard := llmtest.Hear(model.Stream(t.Context(), llm.Request{})); heard.Err == nil {
			t.Error("a request beyond the script was answered")
		}
	})
}
