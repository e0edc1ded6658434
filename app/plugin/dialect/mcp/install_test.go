package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/runtimes"
	"conclave/app/test/testkit"
)

// fakeNode puts an npm on the PATH that installs the server of these tests, and a node that runs it: Python.
func (b *bench) fakeNode(npm string) {
	b.t.Helper()
	bin := b.t.TempDir()
	path := filepath.Join(bin, "npm")
	write(b.t, path, "#!"+python+"\n"+npm)
	must(b.t, os.Chmod(path, 0o700), os.Symlink(python, filepath.Join(bin, "node")), //nolint:gosec // it is started
		os.Symlink("/bin/true", filepath.Join(bin, "npx")))
	b.t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	b.t.Setenv("SHELL", "/bin/false")
	runtimes.Forget()
	b.t.Cleanup(runtimes.Forget)
}

// npm installs what it is asked for, and notes how often it ran.
const npm = `
import json, os, sys
folder = sys.argv[sys.argv.index("--prefix") + 1]
name = sys.argv[-1].rsplit("@", 1)[0]
to = os.path.join(folder, "node_modules", name)
os.makedirs(to)
json.dump({"bin": {"other": "other.js", "server": "dist/index.js"}}, open(os.path.join(to, "package.json"), "w"))
os.makedirs(os.path.join(to, "dist"))
open(os.path.join(to, "dist", "index.js"), "w").write(%q)
print("added 1 package", file=sys.stderr)
`

func TestMC14WhatNpxWouldFetchIsInstalledOnceAndStartedDirectly(t *testing.T) {
	b := newBench(t)
	b.fakeNode(strings.Replace(npm, "%q", "'''"+strings.ReplaceAll(server, `\`, `\\`)+"'''", 1))
	b.save("s.mcp.json", map[string]any{"s": map[string]any{
		"command": "npx", "args": []string{"-y", "@scope/server@1.2.3", "+pid"},
	}})
	must(t, approveOnce(b, "s"))
	if p := b.status("s").Problem; p == nil || p.Kind != "permissions" || b.started.Started() != 0 {
		t.Fatalf("without the network: %+v, %d processes", p, b.started.Started())
	}
	must(t, b.gate.Reach.SetPermission(t.Context(), "s", gate.Network, gate.Allow))
	testkit.Until(t, "it is started again once it may", func() bool { return b.status("s").Shown != "" })
	b.approve("s")
	b.ready("s")
	if n := b.started.Started(); n != 2 {
		t.Errorf("installing and starting took %d processes", n)
	}
	b.says("s:echo", `{"text":"hi"}`, "hi")
	must(t, b.gate.Reach.SetPermission(t.Context(), "s", gate.Network, gate.Deny))
	must(t, b.host.Reload("s"))
	must(t, b.host.WaitIdle(t.Context()))
	b.says("s:echo", `{"text":"offline"}`, "offline")
}

func TestMC13AnInstallationThatFailsSaysWhy(t *testing.T) {
	b := newBench(t)
	b.fakeNode("import sys\nprint('npm error code E404\\nnpm error 404 no such package', file=sys.stderr)\nsys.exit(1)\n")
	b.save("s.mcp.json", map[string]any{"s": map[string]any{"command": "npx", "args": []string{"-y", "nothing"}}})
	must(t, approveOnce(b, "s"))
	must(t, b.gate.Reach.SetPermission(t.Context(), "s", gate.Network, gate.Allow))
	testkit.Until(t, "its installation failed", func() bool { return b.status("s").Problem.Kind == "install" })
	s := b.status("s")
	if s.State != plugin.Failed || s.Problem.Message != "It could not be installed: 404 no such package." {
		t.Errorf("it is %s: %+v", s.State, s.Problem)
	}
}
