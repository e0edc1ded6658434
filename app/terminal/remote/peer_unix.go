//go:build unix

package remote

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// runtimeFolders are where the user's programs keep their sockets: the folder
// that the environment names and, since not every program is told, the one that
// Linux makes for a session.
func runtimeFolders() []string {
	var list []string
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		list = append(list, filepath.Clean(dir))
	}
	if dir := "/run/user/" + strconv.Itoa(os.Getuid()); runtime.GOOS == "linux" && (len(list) == 0 || list[0] != dir) {
		list = append(list, dir)
	}
	return list
}

// private reports why others could put a socket into a folder: it is no folder
// but a link, it is another user's, or others may write to it.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return errNotPrivate
	}
	return nil
}

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
	var uid int
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, asked = peerUser(int(fd)) }); err != nil {
		return err
	}
	if asked != nil {
		return fmt.Errorf("ask for the user of the other end: %w", asked)
	}
	if uid != os.Geteuid() {
		return fmt.Errorf("the other end is a program of user %d", uid)
	}
	return nil
}
