package limit_test

import (
	"testing"

	"conclave/app/base/limit"
)

func TestASizeReadsAsAPersonWritesIt(t *testing.T) {
	for want, n := range map[string]int64{
		"1 GiB": 1 << 30, "4 MiB": 4 << 20, "1.5 KiB": 1536, "512 bytes": 512, "0 bytes": 0,
	} {
		if got := limit.Size(n); got != want {
			t.Errorf("%d reads %q, want %q", n, got, want)
		}
	}
	if got := limit.Number(1_234_567); got != "1,234,567" {
		t.Errorf("a large number reads %q", got)
	}
}
