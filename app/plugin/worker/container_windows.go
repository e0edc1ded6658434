package worker

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"conclave/app/plugin/worker/walls"

	"golang.org/x/sys/windows"
)

// Nobody has run this on Windows (sandbox.Unproven). It is written after the
// documentation of the functions that it calls.
var (
	userenv                             = windows.NewLazySystemDLL("userenv.dll")
	procCreateAppContainerProfile       = userenv.NewProc("CreateAppContainerProfile")
	procDeriveAppContainerSID           = userenv.NewProc("DeriveAppContainerSidFromAppContainerName")
	advapi32                            = windows.NewLazySystemDLL("advapi32.dll")
	procCreateRestrictedToken           = advapi32.NewProc("CreateRestrictedToken")
	errContainerExists            int32 = -2147024713 // HRESULT_FROM_WIN32(ERROR_ALREADY_EXISTS)
)

// securityCapabilities is SECURITY_CAPABILITIES of winnt.h.
type securityCapabilities struct {
	container    *windows.SID
	capabilities *windows.SIDAndAttributes
	count        uint32
	_            uint32
}

// capabilitiesOf returns what puts a process into the AppContainer of a plan, with the
// plan's rights and none of the network.
func capabilitiesOf(w walls.Windows) (*securityCapabilities, error) {
	container, err := containerOf(w.Name)
	if err != nil {
		return nil, err
	}
	has, err := sids(w.Rights)
	if err != nil {
		return nil, err
	}
	c := &securityCapabilities{container: container, count: uint32(len(has))}
	if len(has) > 0 {
		c.capabilities = &has[0]
	}
	return c, nil
}

// containerOf returns the SID of the AppContainer of a name, which it makes if there is
// none yet.
func containerOf(name string) (*windows.SID, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	var sid *windows.SID
	result, _, _ := procCreateAppContainerProfile.Call(uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(text)),
		uintptr(unsafe.Pointer(text)), 0, 0, uintptr(unsafe.Pointer(&sid)))
	if int32(result) == errContainerExists {
		result, _, _ = procDeriveAppContainerSID.Call(uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(&sid)))
	}
	if int32(result) < 0 {
		return nil, fmt.Errorf("make its AppContainer: %w", windows.Errno(uint32(result)))
	}
	defer func() { _ = windows.FreeSid(sid) }()
	return sid.Copy()
}

// sids returns the SIDs of rights, as a token lists them.
func sids(rights []walls.Right) ([]windows.SIDAndAttributes, error) {
	has := make([]windows.SIDAndAttributes, len(rights))
	for i, right := range rights {
		sid, err := windows.StringToSid(right.SID)
		if err != nil {
			return nil, fmt.Errorf("name the right to %s: %w", right.Path, err)
		}
		has[i] = windows.SIDAndAttributes{Sid: sid, Attributes: windows.SE_GROUP_ENABLED}
	}
	return has, nil
}

const disableMaxPrivilege = 1 // DISABLE_MAX_PRIVILEGE: none but that to pass through folders

// readers are the groups that may read the system's own files, and stand in a restricted
// token besides the rights of the plan: users, everyone, and who is restricted.
var readers = []string{"S-1-5-32-545", "S-1-1-0", "S-1-5-12"}

// restricted returns a token for a process that has sockets: the person's, without
// privileges and without administrators, of low integrity, and with access only where
// the readers or the rights of the plan have it as well.
func restricted(w walls.Windows) (windows.Token, error) {
	var ours windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_ALL_ACCESS, &ours); err != nil {
		return 0, fmt.Errorf("open Conclave's token: %w", err)
	}
	defer func() { _ = ours.Close() }()
	only, err := sids(w.Rights)
	if err != nil {
		return 0, err
	}
	for _, name := range append([]string{w.SID}, readers...) {
		sid, err := windows.StringToSid(name)
		if err != nil {
			return 0, err
		}
		only = append(only, windows.SIDAndAttributes{Sid: sid})
	}
	for i := range only {
		only[i].Attributes = 0 // as CreateRestrictedToken demands of SIDs that restrict
	}
	administrators, err := windows.CreateWellKnownSid(windows.WinBuiltinAdministratorsSid)
	if err != nil {
		return 0, err
	}
	without := windows.SIDAndAttributes{Sid: administrators}
	var token windows.Token
	done, _, err := procCreateRestrictedToken.Call(uintptr(ours), disableMaxPrivilege, 1,
		uintptr(unsafe.Pointer(&without)), 0, 0, uintptr(len(only)), uintptr(unsafe.Pointer(&only[0])),
		uintptr(unsafe.Pointer(&token)))
	if done == 0 {
		return 0, fmt.Errorf("make its token: %w", err)
	}
	if err := errors.Join(lower(token), ownDefault(token, w.SID)); err != nil {
		_ = token.Close()
		return 0, err
	}
	return token, nil
}

// lower gives a token low integrity: its process changes nothing that others have, and
// looks into none of their processes.
func lower(token windows.Token) error {
	low, err := windows.CreateWellKnownSid(windows.WinLowLabelSid)
	if err != nil {
		return err
	}
	label := windows.Tokenmandatorylabel{
		Label: windows.SIDAndAttributes{Sid: low, Attributes: windows.SE_GROUP_INTEGRITY},
	}
	err = windows.SetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size())
	if err != nil {
		return fmt.Errorf("lower its integrity: %w", err)
	}
	return nil
}

// ownDefault lets a process use what it makes for itself, which its restricted token
// would refuse it.
func ownDefault(token windows.Token, own string) error {
	user, err := token.GetTokenUser()
	if err != nil {
		return fmt.Errorf("look at its token: %w", err)
	}
	itself, err := windows.StringToSid(own)
	if err != nil {
		return err
	}
	var pinned runtime.Pinner
	defer pinned.Unpin()
	var all []windows.EXPLICIT_ACCESS
	for _, sid := range []*windows.SID{user.User.Sid, itself} {
		pinned.Pin(sid)
		all = append(all, entry(sid, windows.GENERIC_ALL, windows.NO_INHERITANCE))
	}
	acl, err := windows.ACLFromEntries(all, nil)
	if err != nil {
		return fmt.Errorf("say who may use what it makes: %w", err)
	}
	info := struct{ acl *windows.ACL }{acl} // TOKEN_DEFAULT_DACL
	err = windows.SetTokenInformation(token, windows.TokenDefaultDacl, (*byte)(unsafe.Pointer(&info)),
		uint32(unsafe.Sizeof(info)))
	if err != nil {
		return fmt.Errorf("say who may use what it makes: %w", err)
	}
	return nil
}

// entry is one of an access control list; sid is pinned.
func entry(sid *windows.SID, mask, inherits uint32) windows.EXPLICIT_ACCESS {
	return windows.EXPLICIT_ACCESS{
		AccessPermissions: windows.ACCESS_MASK(mask), AccessMode: windows.GRANT_ACCESS, Inheritance: inherits,
		Trustee: windows.TRUSTEE{
			TrusteeForm: windows.TRUSTEE_IS_SID, TrusteeType: windows.TRUSTEE_IS_UNKNOWN,
			TrusteeValue: windows.TrusteeValueFromSID(sid),
		},
	}
}
