package remote

import (
	"fmt"
	"net"
	"unsafe"

	"golang.org/x/sys/windows"
)

// runtimeFolders are none: the temporary folder is the user's own here.
func runtimeFolders() []string { return nil }

// private reports nothing: who may write to a folder of the user's profile, which
// the data folder and the temporary folder belong to, is set by its access list,
// and checkPeer catches a data folder elsewhere.
func private(string) error { return nil }

// ioctlPeerPid is SIO_AF_UNIX_GETPEERPID of afunix.h.
const ioctlPeerPid = 0x58000100

// checkPeer reports a program at the other end that is not the same user's.
func checkPeer(c net.Conn) error {
	socket, ok := c.(*net.UnixConn)
	if !ok {
		return fmt.Errorf("a connection of kind %T has no user", c)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var pid, size uint32
	var asked error
	if err := raw.Control(func(fd uintptr) {
		asked = windows.WSAIoctl(windows.Handle(fd), ioctlPeerPid, nil, 0,
			(*byte)(unsafe.Pointer(&pid)), uint32(unsafe.Sizeof(pid)), &size, nil, 0)
	}); err != nil {
		return err
	}
	if asked != nil {
		return fmt.Errorf("ask for the program at the other end: %w", asked)
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return fmt.Errorf("open the program at the other end: %w", err)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	theirs, err := userOf(process)
	if err != nil {
		return err
	}
	ours, err := userOf(windows.CurrentProcess())
	if err != nil {
		return err
	}
	if !theirs.Equals(ours) {
		return fmt.Errorf("the other end is a program of user %s", theirs)
	}
	return nil
}

// userOf returns the user whom a process runs as.
func userOf(process windows.Handle) (*windows.SID, error) {
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return nil, fmt.Errorf("ask for the user of a program: %w", err)
	}
	defer func() { _ = token.Close() }()
	user, err := token.GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("ask for the user of a program: %w", err)
	}
	return user.User.Sid, nil
}
