package walls

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/plugin/sandbox"
)

// Windows is a plan of the walls of one process there.
type Windows struct {
	// Contained says that the process is put into an AppContainer that has no right to
	// the network. A process with sockets cannot be: from an AppContainer no address of
	// this computer is reached, and so no proxy. It gets a restricted token of low
	// integrity, which keeps it from files and holds none of its connections.
	Contained bool
	// Name is that of the AppContainer. It is made of the rights: a process that may do
	// something else is in another.
	Name string
	// SID stands for the process itself, in what it makes for itself.
	SID string
	// Rights stand in the lists of files and folders. The process has the SID of each;
	// to take a right back it is started without, and the files need not be touched.
	Rights []Right
	Job    Job
}

// Right lets whoever has a SID use a file, or a folder with all that is below.
type Right struct {
	Path  string
	SID   string
	Mask  uint32
	Write bool
}

// The rights of files (winnt.h).
const (
	// ReadExecute is FILE_GENERIC_READ with FILE_GENERIC_EXECUTE: modules of Python in C
	// are loaded from what a plugin may read, here as on Linux.
	ReadExecute uint32 = 0x1200A9
	// Change is that with FILE_GENERIC_WRITE, DELETE and FILE_DELETE_CHILD: all but to
	// decide who may do what (WRITE_DAC) and whose the file is (WRITE_OWNER).
	Change uint32 = 0x1301FF
)

// Job holds the limits of a job object.
type Job struct {
	Flags         uint32 // JOB_OBJECT_LIMIT_…
	Memory        int64  // bytes of one process; 0: as much as there is
	AllMemory     int64  // bytes of all together
	Processes     uint32 // that may be at one time; 0: any number
	UserInterface uint32 // JOB_OBJECT_UILIMIT_…
}

// The limits of a job object (winnt.h).
const (
	limitActiveProcess = 0x0008
	limitProcessMemory = 0x0100
	limitJobMemory     = 0x0200
	limitDieOnFault    = 0x0400 // no window that waits for somebody to close it
	limitKillOnClose   = 0x2000 // its last handle is ours: it ends with Conclave

	// The clipboard, the handles of other programs' windows, the desktop, the display,
	// the system's settings, its atoms, and signing out.
	limitAllInterface = 0x00FF
)

// programsShare is how many times the memory of one process a plugin may have that
// starts programs, all together.
const programsShare = 4

// OfWindows returns the plan for a process that is started from program. Paths are
// resolved, since a link may lead elsewhere tomorrow; one that resolve cannot find is
// passed over.
func OfWindows(program string, spec sandbox.Spec, resolve func(string) (string, error)) (Windows, error) {
	w := Windows{Contained: !spec.Sockets, Job: jobOf(spec)}
	for _, kind := range []struct {
		paths []string
		write bool
	}{{slices.Concat(spec.Write), true}, {slices.Concat([]string{program}, spec.Execute, spec.Read), false}} {
		for _, path := range kind.paths {
			to, err := resolve(path)
			if err != nil {
				continue // there is nothing to open
			}
			if filepath.Dir(to) == to || len(to) == 3 && strings.HasSuffix(to, `:\`) {
				return Windows{}, fmt.Errorf("the path %q is a whole disk", path)
			}
			w.add(to, kind.write)
		}
	}
	all := make([]string, len(w.Rights))
	for i, right := range w.Rights {
		all[i] = right.SID
	}
	slices.Sort(all)
	sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
	w.Name = fmt.Sprintf("Conclave.Plugin.%x", sum[:16])
	w.SID = capability("process\n" + w.Name)
	return w, nil
}

// add adds a right, once; a path that may be written is not listed for reading as well.
func (w *Windows) add(path string, write bool) {
	right := Right{Path: path, Mask: ReadExecute, Write: write}
	if write {
		right.Mask = Change
	}
	if slices.ContainsFunc(w.Rights, func(r Right) bool { return strings.EqualFold(r.Path, path) }) {
		return
	}
	// The system does not tell large letters from small ones in a path.
	right.SID = capability(fmt.Sprintf("path\n%t\n%s", write, strings.ToLower(path)))
	w.Rights = append(w.Rights, right)
}

// capability returns a SID of the kind that Windows makes of the names of capabilities,
// which are eight numbers of a digest. Nothing else on a computer has it.
func capability(name string) string {
	sum := sha256.Sum256([]byte("conclave\n" + name))
	sid := "S-1-15-3-1024"
	for i := 0; i < len(sum); i += 4 {
		sid += fmt.Sprintf("-%d", binary.LittleEndian.Uint32(sum[i:]))
	}
	return sid
}

func jobOf(spec sandbox.Spec) Job {
	j := Job{Flags: limitKillOnClose | limitDieOnFault, UserInterface: limitAllInterface, Memory: spec.Memory}
	if j.Memory > 0 {
		j.Flags |= limitProcessMemory
	}
	switch {
	case !spec.Spawn:
		j.Flags |= limitActiveProcess
		j.Processes = 1
	case j.Memory > 0:
		j.Flags |= limitJobMemory
		j.AllMemory = programsShare * j.Memory
	}
	return j
}
