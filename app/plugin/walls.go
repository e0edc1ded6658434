package plugin

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"conclave/app/permit"
	"conclave/app/plugin/sandbox"
)

// openings are what a process was started with. The system lets nobody widen the
// walls of one that runs, so that other walls need another process.
type openings struct {
	granted []string
	folders []permit.Folder
}

// walls returns what the person grants the plugin now. One that is offered once
// more for a run has what the first one has.
func (r *runner) walls() openings {
	id := cmp.Or(r.e.kin, r.e.id)
	now, _ := r.h.o.Gate.Permissions(id)
	return openings{now, r.h.o.Gate.Folders(id)}
}

// equal reports whether both open the same walls; other permissions are asked about
// when they are used.
func (o openings) equal(other openings) bool {
	return slices.Equal(o.folders, other.folders) && slices.Equal(onlyWalls(o.granted), onlyWalls(other.granted))
}

func onlyWalls(permissions []string) []string {
	return slices.DeleteFunc(slices.Clone(permissions), func(p string) bool { return !permit.IsWall(p) })
}

// Widen opens the walls of spec as far as the person granted it, whatever dialect
// described the process. The engine of scripts ("js") has nothing that they could
// be opened for, and permit grants them none of it.
func (w Place) Widen(spec *sandbox.Spec) {
	if spec.Kind == "js" {
		return
	}
	spec.Read, spec.Write, spec.Execute = slices.Clip(spec.Read), slices.Clip(spec.Write), slices.Clip(spec.Execute) // others keep theirs
	if slices.Contains(w.Granted, permit.Network) {
		spec.Sockets = true
		spec.Read = append(spec.Read, networkFiles()...)
	}
	if slices.Contains(w.Granted, permit.Programs) {
		spec.Spawn = true
		path := os.Getenv("PATH")
		spec.Env = append(slices.Clone(spec.Env), "PATH="+path)
		spec.Execute = append(spec.Execute, slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool { return !filepath.IsAbs(dir) || !isThere(dir) })...)
	}
	for _, f := range w.Folders {
		if !w.reachable(f) {
			continue
		}
		if f.Write {
			spec.Write = append(spec.Write, f.Path)
		} else {
			spec.Read = append(spec.Read, f.Path)
		}
	}
}

// reachable reports whether a granted path is still what the person granted: a link
// that took its place since is not. One below a folder that the plugin may write
// is passed over: it is granted with that folder, and the plugin could put a link
// there.
func (w Place) reachable(f permit.Folder) bool {
	real, err := filepath.EvalSymlinks(f.Path)
	return err == nil && real == f.Path && !slices.ContainsFunc(w.Folders, func(other permit.Folder) bool {
		return other.Write && other.Path != f.Path && inside(other.Path, f.Path)
	})
}

// networkFiles are what resolving names and checking certificates reads.
func networkFiles() []string {
	if runtime.GOOS == "windows" {
		return nil
	}
	return slices.DeleteFunc([]string{
		"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
		"/run/systemd/resolve", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates", "/usr/lib/ssl",
	}, func(path string) bool { return !isThere(path) })
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
