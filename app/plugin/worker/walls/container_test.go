package walls

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin/sandbox"
)

const worker = `C:\Conclave\conclave-worker.exe`

// onWindows describes the process of a plugin in Python there.
func onWindows() sandbox.Spec {
	return sandbox.Spec{
		Read: []string{`C:\Python\Lib`, `C:\Data\plugins\notes`}, Execute: []string{`C:\Python\python.exe`},
		Write: []string{`C:\Data\storage\notes`}, Memory: 256 << 20,
	}
}

func planOf(t *testing.T, spec sandbox.Spec) Windows {
	t.Helper()
	w, err := OfWindows(worker, spec, as)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAPlanForWindowsGivesWhatTheSpecListsAndNoMore(t *testing.T) {
	w := planOf(t, onWindows())
	if !w.Contained {
		t.Error("a process without sockets is in no AppContainer")
	}
	got := map[string]uint32{}
	for _, right := range w.Rights {
		got[right.Path] = right.Mask
		if right.Write != (right.Mask == Change) {
			t.Errorf("%+v", right)
		}
	}
	want := map[string]uint32{
		`C:\Data\storage\notes`: Change, worker: ReadExecute, `C:\Python\python.exe`: ReadExecute,
		`C:\Python\Lib`: ReadExecute, `C:\Data\plugins\notes`: ReadExecute,
	}
	if len(got) != len(want) {
		t.Errorf("rights on %v, want %v", got, want)
	}
	for path, mask := range want {
		if got[path] != mask {
			t.Errorf("%s: %#x, want %#x", path, got[path], mask)
		}
	}
}

// What a right must not hold: who may do what, whose a file is, and for reading any
// change (winnt.h).
func TestRightsOfWindowsLetNobodyGiveRights(t *testing.T) {
	const (
		writeDAC, writeOwner, system, generic = 0x40000, 0x80000, 0x1000000, 0xF0000000
		changes                               = 0x0002 | 0x0004 | 0x0010 | 0x0040 | 0x0100 | 0x10000
	)
	for mask, never := range map[uint32]uint32{
		Change: writeDAC | writeOwner | system | generic, ReadExecute: writeDAC | writeOwner | system | generic | changes,
	} {
		if mask&never != 0 {
			t.Errorf("%#x holds %#x", mask, mask&never)
		}
	}
}

func TestAProcessWithSocketsGetsARestrictedTokenAndIsSaidToBeHeldByNothing(t *testing.T) {
	spec := onWindows()
	spec.Sockets, spec.Proxy = true, "127.0.0.1:4711"
	if planOf(t, spec).Contained {
		t.Error("from an AppContainer it would not reach its proxy")
	}
	if c := sandbox.Unproven("windows"); !strings.Contains(c.Note(true, false), "does not hold it to that") {
		t.Errorf("its card says %q", c.Note(true, false))
	}
}

// The SIDs are all that decides: the same right has the same one for every plugin, so
// that a folder has two entries at most, and no other right has it.
func TestSIDsOfWindowsBelongToOneRightEach(t *testing.T) {
	first := planOf(t, onWindows())
	again := planOf(t, onWindows())
	if first.Name != again.Name || first.SID != again.SID {
		t.Error("the same walls have two names")
	}
	form := regexp.MustCompile(`^S-1-15-3-1024(-\d{1,10}){8}$`)
	seen := map[string]string{first.SID: "the process"}
	for _, right := range first.Rights {
		if !form.MatchString(right.SID) {
			t.Errorf("%s is no SID of a capability", right.SID)
		}
		if other := seen[right.SID]; other != "" {
			t.Errorf("%s has the SID of %s", right.Path, other)
		}
		seen[right.SID] = right.Path
	}
	less := onWindows()
	less.Write, less.Read = nil, append(less.Read, `c:\data\STORAGE\notes`)
	readOnly := planOf(t, less)
	for _, right := range readOnly.Rights {
		if strings.EqualFold(right.Path, `C:\Data\storage\notes`) && seen[right.SID] != "" {
			t.Error("who may read a folder has the SID of those who may change it")
		}
	}
	if readOnly.Name == first.Name {
		t.Error("other rights, and the same AppContainer")
	}
	upper := onWindows()
	upper.Write = []string{`C:\DATA\Storage\Notes`}
	if planOf(t, upper).SID != first.SID {
		t.Error("a path in other letters is another right")
	}
}

func TestTheJobOfAProcess(t *testing.T) {
	const killed = limitKillOnClose | limitDieOnFault
	for name, c := range map[string]struct {
		change func(*sandbox.Spec)
		want   Job
	}{
		"a plugin": {func(*sandbox.Spec) {}, Job{
			Flags: killed | limitProcessMemory | limitActiveProcess, Memory: 256 << 20, Processes: 1,
		}},
		"that starts programs": {func(s *sandbox.Spec) { s.Spawn = true }, Job{
			Flags: killed | limitProcessMemory | limitJobMemory, Memory: 256 << 20, AllMemory: 1 << 30,
		}},
		"without a bound": {func(s *sandbox.Spec) { s.Memory = 0 }, Job{Flags: killed | limitActiveProcess, Processes: 1}},
	} {
		spec := onWindows()
		c.change(&spec)
		c.want.UserInterface = 0xFF
		got := planOf(t, spec).Job
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if leave := uint32(0x0800 | 0x1000); got.Flags&leave != 0 {
			t.Errorf("%s: its programs may leave the job", name)
		}
	}
}

func TestAPlanForWindowsPassesOverWhatIsNotThereAndRefusesADisk(t *testing.T) {
	spec := sandbox.Spec{Read: []string{"/gone/lib"}, Write: []string{"/gone/data"}}
	if w := planOf(t, spec); len(w.Rights) != 1 || w.Rights[0].Path != worker {
		t.Errorf("rights %+v", w.Rights)
	}
	for _, disk := range []string{`C:\`, "/"} {
		if _, err := OfWindows(worker, sandbox.Spec{Write: []string{disk}}, as); err == nil {
			t.Errorf("%s was given", disk)
		}
	}
	twice := planOf(t, sandbox.Spec{Write: []string{`C:\x`}, Read: []string{`c:\X`}, Execute: []string{`C:\x`}})
	paths := slices.DeleteFunc(twice.Rights, func(r Right) bool { return r.Path == worker })
	if len(paths) != 1 || paths[0].Mask != Change {
		t.Errorf("a path that is listed thrice: %+v", paths)
	}
}
