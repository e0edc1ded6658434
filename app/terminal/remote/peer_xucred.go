//go:build darwin || freebsd

package remote

import "golang.org/x/sys/unix"

// peerUser returns the user who the program at the other end of a socket ran as
// when it connected or listened.
func peerUser(socket int) (int, error) {
	const level = 0 // SOL_LOCAL of sys/un.h
	credentials, err := unix.GetsockoptXucred(socket, level, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(credentials.Uid), nil
}
