package library

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/test/testkit"
)

var must = testkit.Must

func TestACloneThatTakesMoreRoomThanAPluginMayIsStopped(t *testing.T) {
	r := repository{address: "https://example.org/x.git", dir: t.TempDir()}
	pack := filepath.Join(r.dir, ".git", "objects", "pack", "tmp_pack_x")
	must(t, os.MkdirAll(filepath.Dir(pack), 0o700))
	must(t, os.WriteFile(pack, nil, 0o600))
	must(t, os.Truncate(pack, plugin.MaxBytes+1))
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	r.watch(ctx, stop) // returns once it has stopped the clone
	if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), "holds more than 5000 files or 256 MiB") {
		t.Errorf("got %v", err)
	}
}
