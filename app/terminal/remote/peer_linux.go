package remote

import "golang.org/x/sys/unix"

// peerUser returns the user who the program at the other end of a socket ran as
// when it connected or listened.
func peerUser(socket int) (int, error) {
	credentials, err := unix.GetsockoptUcred(socket, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(credentials.Uid), nil
}
