package host

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/plugin"
)

func TestWhatRunsElsewhereGetsNoHintAboutFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := boundLoad(t.Context(), 30*time.Second)
		defer cancel()
		loadClockOf(ctx).follow(nil)
		<-ctx.Done()
		p := plugin.ProblemOf(context.Cause(ctx))
		if p.Message != "It did not answer within 30 s." || p.Hint != "Check its address and the network, then reload it." {
			t.Errorf("got %+v", p)
		}
	})
}
