package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"conclave/app/base/fault"
)

// socketName is the socket's name in the data folder.
const socketName = "conclave.sock"

// maxAddress is the longest path that every system takes for a socket: macOS has
// 104 bytes for it, Linux 108.
const maxAddress = 100

// errNotPrivate says that a folder is no place for a socket.
var errNotPrivate = errors.New("another user could put a socket there")

// place is a folder that a socket may lie in.
type place struct {
	dir, name string
	create    bool // Conclave makes the folder
}

// socketPaths returns where the socket of a data folder may lie, the best first: in
// the data folder itself; where its path is too long for a socket or others may
// write to it, in a folder of Conclave's own in the user's runtime folder or the
// temporary folder. Two programs may be given different environments, so
// the owner takes the first that will do, and the others look in all.
func socketPaths(data string) []place {
	if resolved, err := filepath.EvalSymlinks(data); err == nil {
		data = resolved // one folder has one name
	}
	sum := sha256.Sum256([]byte(data))
	short := hex.EncodeToString(sum[:8]) + ".sock"
	list := []place{{dir: data, name: socketName}}
	for _, runtime := range runtimeFolders() {
		if private(runtime) == nil {
			list = append(list, place{dir: filepath.Join(runtime, "conclave"), name: short, create: true})
		}
	}
	own := filepath.Join(os.TempDir(), fmt.Sprintf("conclave-%d", os.Getuid()))
	return append(list, place{dir: own, name: short, create: true})
}

// path returns the socket's path, or why the folder is no place for one.
func (p place) path() (string, error) {
	path := filepath.Join(p.dir, p.name)
	if len(path) >= maxAddress {
		return "", fmt.Errorf("%s: the path is too long for a socket", p.dir)
	}
	if err := private(p.dir); err != nil {
		return "", fmt.Errorf("%s: %w", p.dir, err)
	}
	return path, nil
}

// ownAddress returns the path that the owner of the data folder listens at, and
// makes its folder.
func ownAddress(data string) (string, error) {
	var reasons error
	for _, p := range socketPaths(data) {
		if p.create {
			if err := os.Mkdir(p.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
				reasons = errors.Join(reasons, err)
				continue
			}
		}
		path, err := p.path()
		if err == nil {
			return path, nil
		}
		reasons = errors.Join(reasons, err)
	}
	return "", fmt.Errorf("find a private folder for the socket: %w", reasons)
}

// dial connects to the owner of the data folder, and checks that it is a program of
// the same user before anything is sent to it.
func dial(ctx context.Context, data string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: patience}
	var reasons error
	for _, p := range socketPaths(data) {
		path, err := p.path()
		if err != nil {
			reasons = errors.Join(reasons, err)
			continue
		}
		c, err := dialer.DialContext(ctx, "unix", path)
		if err != nil {
			reasons = errors.Join(reasons, err)
			continue
		}
		if err := checkPeer(c); err != nil {
			_ = c.Close()
			return nil, fault.Wrap(fault.Conflict, "remote.run",
				"The program that answers at "+path+" in place of Conclave is another user's.",
				"Nothing was sent to it. Run the command as the user who runs Conclave, or close that program.", err)
		}
		return c, nil
	}
	return nil, fmt.Errorf("reach the running Conclave: %w", reasons)
}
