package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"unsafe"

	"conclave/app/plugin/worker/walls"

	"golang.org/x/sys/windows"
)

// allPackages are all AppContainers, which may read the system and what is installed for
// everybody.
const allPackages = "S-1-15-2-1"

// grant writes the rights of a plan to the files and folders they are for, where they do
// not stand yet. A path whose rights are not the person's to change is passed over: the
// process cannot open it then, and is refused it like anything else.
func grant(w walls.Windows) error {
	have := readers
	if w.Contained {
		have = []string{allPackages}
	}
	for _, right := range w.Rights {
		err := write(right, have)
		if err == nil && right.Write && !w.Contained {
			err = label(right.Path)
		}
		if err != nil && !errors.Is(err, windows.ERROR_ACCESS_DENIED) && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("let it use %s: %w", right.Path, err)
		}
	}
	return nil
}

// write writes one right, unless its SID has it or, for reading, one of have does.
func write(right walls.Right, have []string) error {
	info, err := os.Stat(right.Path)
	if err != nil {
		return err
	}
	is, err := windows.GetNamedSecurityInfo(right.Path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	acl, _, err := is.DACL()
	if err != nil {
		return err
	}
	if right.Write {
		have = nil
	}
	if found, err := grants(acl, right.Mask, append([]string{right.SID}, have...)); err != nil || found {
		return err
	}
	sid, err := windows.StringToSid(right.SID)
	if err != nil {
		return err
	}
	var pinned runtime.Pinner
	pinned.Pin(sid)
	defer pinned.Unpin()
	inherits := uint32(windows.NO_INHERITANCE)
	if info.IsDir() {
		inherits = windows.SUB_CONTAINERS_AND_OBJECTS_INHERIT
	}
	merged, err := windows.ACLFromEntries([]windows.EXPLICIT_ACCESS{entry(sid, right.Mask, inherits)}, acl)
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(right.Path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION,
		nil, nil, merged, nil)
}

// grants reports whether an entry of a list gives one of the SIDs a mask, here and not
// only below. No list at all gives everybody everything.
func grants(acl *windows.ACL, mask uint32, to []string) (bool, error) {
	const inheritOnly = 0x08 // INHERIT_ONLY_ACE
	if acl == nil {
		return true, nil
	}
	for i := range uint32(acl.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(acl, i, &ace); err != nil {
			return false, err
		}
		if ace.Header.AceType != windows.ACCESS_ALLOWED_ACE_TYPE || ace.Header.AceFlags&inheritOnly != 0 ||
			uint32(ace.Mask)&mask != mask {
			continue
		}
		sid := (*windows.SID)(unsafe.Pointer(&ace.SidStart))
		for _, name := range to {
			if sid.String() == name {
				return true, nil
			}
		}
	}
	return false, nil
}

// label lets processes of low integrity change a folder that they have a right to.
func label(path string) error {
	low, err := windows.SecurityDescriptorFromString("S:(ML;OICI;NW;;;LW)")
	if err != nil {
		return err
	}
	acl, _, err := low.SACL()
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.LABEL_SECURITY_INFORMATION,
		nil, nil, nil, acl)
}
