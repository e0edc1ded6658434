package core

import (
	"slices"
	"testing"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// A capability is shown only where something enforces it: each is caused by permissions, and
// without such a permission the sandbox is closed, a service refuses, or a hook is not asked.
func TestEachCapabilityIsCausedByWhatIsEnforced(t *testing.T) {
	c := opened(t)
	guarded := map[string]bool{ // by the points of app/tool/hook, which ask for these
		"context_handler": true, gate.Interceptor: true, gate.ToolCalls: true, gate.TurnEvents: true,
	}
	for _, service := range c.services() {
		guarded[service.Permission] = true
	}
	guarded["local_network"] = true // narrows http.request, and connections through the proxy
	opens := func(permission string) bool {
		open := plugin.StartOptions{
			Granted: []string{permission}, Proxy: plugin.Proxy{Address: "127.0.0.1:1", URL: "http://127.0.0.1:1"},
		}
		var with, without sandbox.Spec
		open.ApplyPermissions(&with)
		open.Granted = nil
		open.ApplyPermissions(&without)
		return with.Sockets && !without.Sockets || with.Spawn && !without.Spawn
	}
	caused := map[gate.Capability]bool{}
	for _, permission := range gate.AllPermissions() {
		causes := gate.Describe(permission).Causes
		for _, capability := range causes {
			caused[capability] = true
		}
		if len(causes) == 0 || permission == gate.Filesystem { // folder by folder
			continue
		}
		if gate.IsWall(permission) != opens(permission) || !gate.IsWall(permission) && !guarded[permission] {
			t.Errorf("nothing enforces %s, of which %v are shown", permission, causes)
		}
	}
	for _, capability := range gate.Capabilities {
		if caused[capability] == (capability == gate.Compute) {
			t.Errorf("permissions cause %s: %v", capability, caused[capability])
		}
	}
	if slices.Contains(gate.Capabilities, gate.UseSecret) || slices.Contains(gate.Capabilities, gate.ShowUI) {
		t.Error("what nothing causes is listed")
	}
	folder := t.TempDir()
	var read, write sandbox.Spec
	plugin.StartOptions{Folders: []gate.Folder{{Path: folder}}}.ApplyPermissions(&read)
	plugin.StartOptions{Folders: []gate.Folder{{Path: folder, Write: true}}}.ApplyPermissions(&write)
	if !slices.Contains(read.Read, folder) || slices.Contains(read.Write, folder) ||
		!slices.Contains(write.Write, folder) {
		t.Errorf("a folder to read opens %+v, one to write %+v", read, write)
	}
}
