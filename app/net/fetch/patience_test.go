package fetch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPatienceStandsStillWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := errors.New("slow")
		ctx, stop := WithPatience(t.Context(), time.Minute, slow)
		defer stop()
		time.Sleep(59 * time.Second)
		answered := Asking(ctx)
		time.Sleep(time.Hour)
		answered()
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatal("the person's time was counted:", context.Cause(ctx))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !errors.Is(context.Cause(ctx), slow) {
			t.Error("it has no end:", context.Cause(ctx))
		}
		Asking(ctx)() // restarts nothing
		ended, stop := WithPatience(t.Context(), time.Minute, slow)
		stop()
		Asking(ended)()
		Asking(t.Context())()
	})
}
