package library

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
)

func TestACloneThatTakesMoreRoomThanAPluginMayIsStopped(t *testing.T) {
	r := repository{address: "https://example.org/x.git", dir: t.TempDir()}
	pack := filepath.Join(r.dir, ".git", "objects", "pack", "tmp_pack_x")
	if err := os.MkdirAll(filepath.Dir(pack), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pack, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(pack, plugin.MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	r.watch(ctx, stop) // returns once it has stopped the clone
	if err := context.Cause(ctx); err == nil || !strings.Contains(err.Error(), "holds more than 5000 files or 256 MiB") {
		t.Errorf("got %v", err)
	}
}
