package model_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/model"
	"conclave/app/model/modeltest"
)

func overloaded() modeltest.Step {
	return modeltest.Fail(&model.Error{Kind: model.Overloaded, Provider: "p", Host: "example.org"})
}

func TestRetryWaitsLongerEachTimeAndThenAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := modeltest.New(
			[]modeltest.Step{overloaded()},
			[]modeltest.Step{overloaded()},
			[]modeltest.Step{modeltest.Say("hi")},
		)
		var waits []time.Duration
		start := time.Now()
		heard := modeltest.Hear(model.WithRetry(m,
			model.Policy{
				OnWait: func(_ *model.Error, d time.Duration) { waits = append(waits, d) },
			}).Stream(t.Context(), model.Request{}))
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
		m := modeltest.New()
		for range 9 {
			m.Add([]modeltest.Step{overloaded()})
		}
		heard := modeltest.Hear(model.WithRetry(m, model.Policy{Attempts: 4}).Stream(t.Context(), model.Request{}))
		if e, ok := errors.AsType[*model.Error](heard.Err); !ok || e.Kind != model.Overloaded {
			t.Errorf("got %v", heard.Err)
		}
		if got := len(m.Requests()); got != 4 {
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
				m := modeltest.New(
					[]modeltest.Step{modeltest.Fail(&model.Error{Kind: model.RateLimited, RetryAfter: c.after})},
					[]modeltest.Step{modeltest.Say("hi")},
				)
				start := time.Now()
				heard := modeltest.Hear(model.WithRetry(m, model.Policy{}).Stream(t.Context(), model.Request{}))
				if got := len(m.Requests()); got != c.requests {
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
	m := modeltest.New(
		[]modeltest.Step{modeltest.Say("half"), overloaded()},
		[]modeltest.Step{modeltest.Say("half an answer")},
	)
	heard := modeltest.Hear(model.WithRetry(m, model.Policy{}).Stream(t.Context(), model.Request{}))
	if heard.Text != "half" || heard.Err == nil || len(m.Requests()) != 1 {
		t.Errorf("text %q, error %v, %d requests", heard.Text, heard.Err, len(m.Requests()))
	}
}

func TestRetryLeavesHopelessErrorsAlone(t *testing.T) {
	for _, kind := range []model.ErrorKind{
		model.KeyRefused, model.KeyMissing, model.QuotaUsedUp, model.ContextTooLong, model.ModelUnknown,
		model.NoTools, model.BadRequest,
		model.Malformed, model.Filtered, model.WrongAddress,
	} {
		m := modeltest.New(
			[]modeltest.Step{modeltest.Fail(&model.Error{Kind: kind})},
			[]modeltest.Step{modeltest.Say("hi")},
		)
		if heard := modeltest.Hear(
			model.WithRetry(m, model.Policy{}).Stream(t.Context(), model.Request{}),
		); heard.Err == nil ||
			len(m.Requests()) != 1 {
			t.Errorf("%s was asked again", kind)
		}
	}
}

func TestRetryEndsItsWaitWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := errors.New("you stopped it")
		ctx, cancel := context.WithCancelCause(t.Context())
		m := modeltest.New([]modeltest.Step{overloaded()}, []modeltest.Step{modeltest.Say("hi")})
		time.AfterFunc(100*time.Millisecond, func() { cancel(stopped) })
		start := time.Now()
		heard := modeltest.Hear(model.WithRetry(m, model.Policy{}).Stream(ctx, model.Request{}))
		if !errors.Is(heard.Err, stopped) || time.Since(start) != 100*time.Millisecond {
			t.Errorf("error %v after %v", heard.Err, time.Since(start))
		}
	})
}

func TestRetryDoesNotWaitPastTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		m := modeltest.New([]modeltest.Step{overloaded()}, []modeltest.Step{modeltest.Say("hi")})
		heard := modeltest.Hear(model.WithRetry(m, model.Policy{}).Stream(ctx, model.Request{}))
		if e, ok := errors.AsType[*model.Error](heard.Err); !ok || e.Kind != model.Overloaded {
			t.Errorf("got %v, want the provider's own error at once", heard.Err)
		}
	})
}

func TestScriptedModelWaitsForItsSignal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		m := modeltest.New([]modeltest.Step{
			modeltest.Say(
				"a",
			),
			modeltest.Wait(gate),
			modeltest.Say("b"),
			modeltest.Call("1", "now", "{}"),
			modeltest.Used(3, 4),
		})
		done := make(chan modeltest.Heard, 1)
		go func() { done <- modeltest.Hear(m.Stream(t.Context(), model.Request{System: "s"})) }()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("it did not wait")
		default:
		}
		close(gate)
		heard := <-done
		if heard.Text != "ab" || len(heard.Calls) != 1 || heard.Usage.Output != 4 || m.Requests()[0].System != "s" {
			t.Errorf("got %+v", heard)
		}
		if heard := modeltest.Hear(m.Stream(t.Context(), model.Request{})); heard.Err == nil {
			t.Error("a request beyond the script was answered")
		}
	})
}
