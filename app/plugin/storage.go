package plugin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"conclave/app/plugin/wire"
)

// maxStored bounds one file that a plugin writes through storage.write; a wire
// line holds at most 4 MiB anyway.
const maxStored = 3 << 20

// storageArgs are the arguments of all storage capabilities.
type storageArgs struct {
	Path   string  `json:"path"`
	Prefix string  `json:"prefix"`
	From   string  `json:"from"`
	To     string  `json:"to"`
	Text   *string `json:"text"`
	Base64 *string `json:"base64"`
	Binary bool    `json:"binary"`
}

// storage answers the storage.* capabilities inside the folder dir, which
// os.Root keeps every path in, links included.
func storage(_ context.Context, dir, operation string, raw json.RawMessage) (any, error) {
	var a storageArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, hostError("invalid", "The arguments of storage."+operation+" are not an object: "+err.Error())
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, hostError("failed", "The storage folder cannot be made: "+err.Error())
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, hostError("failed", "The storage folder cannot be opened: "+err.Error())
	}
	defer root.Close() //nolint:errcheck // nothing is buffered
	value, err := storageDo(root, operation, a)
	return value, asHostError(err)
}

func storageDo(root *os.Root, operation string, a storageArgs) (any, error) {
	name, err := storagePath(a.Path)
	if err != nil {
		return nil, err
	}
	if name == "." && (operation == "read" || operation == "write" || operation == "delete") {
		return nil, hostError("invalid", "storage."+operation+" needs a path.")
	}
	switch operation {
	case "read":
		data, err := readStored(root, name)
		if err != nil {
			return nil, err
		}
		if a.Binary || !utf8.Valid(data) {
			return map[string]string{"base64": base64.StdEncoding.EncodeToString(data)}, nil
		}
		return map[string]string{"text": string(data)}, nil
	case "write":
		data, err := a.data()
		if err != nil {
			return nil, err
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return nil, err
		}
		return map[string]int{"bytes": len(data)}, writeWhole(root, name, data)
	case "delete":
		err := root.RemoveAll(name)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return map[string]bool{"deleted": err == nil}, err
	case "exists":
		_, err := root.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return map[string]bool{"exists": err == nil}, nil
	case "mkdir":
		return map[string]bool{}, root.MkdirAll(name, 0o700)
	case "stat":
		info, err := root.Stat(name)
		if err != nil {
			return nil, err
		}
		return map[string]any{"size": info.Size(), "modified_ms": info.ModTime().UnixMilli(), "directory": info.IsDir()}, nil
	case "list":
		return storageList(root, a.Prefix)
	case "move":
		from, err := storagePath(a.From)
		if err != nil {
			return nil, err
		}
		to, err := storagePath(a.To)
		if err != nil {
			return nil, err
		}
		if err := root.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return nil, err
		}
		return map[string]bool{}, root.Rename(from, to)
	}
	return nil, hostError("unavailable", "storage."+operation+" is not available in Conclave.")
}

// readStored reads a file that fits into an answer. What is no file, such as a
// pipe that the plugin made, is not waited for.
func readStored(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, hostError("invalid", name+" is not a file.")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxStored+1))
	if err == nil && len(data) > maxStored {
		err = hostError("invalid", fmt.Sprintf("%s has %d bytes; at most %d can be read at once.", name, max(info.Size(), int64(len(data))), maxStored))
	}
	return data, err
}

// partEnding ends the name of a file that is being written.
const partEnding = ".conclave-part"

// parts numbers them: two writes of one file may overlap.
var parts atomic.Uint64

// writeWhole writes a file so that a reader never sees half of it.
func writeWhole(root *os.Root, name string, data []byte) (err error) {
	temp := fmt.Sprintf("%s.%d-%d%s", name, os.Getpid(), parts.Add(1), partEnding)
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = root.Remove(temp)
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(temp, name)
}

func (a storageArgs) data() ([]byte, error) {
	var data []byte
	switch {
	case a.Text != nil:
		data = []byte(*a.Text)
	case a.Base64 != nil:
		var err error
		if data, err = base64.StdEncoding.DecodeString(*a.Base64); err != nil {
			return nil, hostError("invalid", "The bytes to write are not base64.")
		}
	default:
		return nil, hostError("invalid", "Nothing to write was given.")
	}
	if len(data) > maxStored {
		return nil, hostError("invalid", fmt.Sprintf("A stored file may hold at most %d bytes; this has %d.", maxStored, len(data)))
	}
	return data, nil
}

// storageList returns the files below prefix, recursive, relative to it
// (contracts/spindle, 5.4.6). A prefix that is no folder holds no files.
func storageList(root *os.Root, prefix string) (any, error) {
	base, err := storagePath(prefix)
	if err != nil {
		return nil, err
	}
	files := []string{}
	err = fs.WalkDir(root.FS(), filepath.ToSlash(base), func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if entry.Type().IsRegular() && name != filepath.ToSlash(base) && !strings.HasSuffix(name, partEnding) {
			files = append(files, strings.TrimPrefix(strings.TrimPrefix(name, filepath.ToSlash(base)), "/"))
		}
		return nil
	})
	slices.Sort(files)
	return map[string]any{"files": files}, err
}

// storagePath makes a plugin's path relative and local. An empty path is the
// folder itself.
func storagePath(p string) (string, error) {
	clean := path.Clean("/" + strings.ReplaceAll(p, "\\", "/"))
	if strings.HasPrefix(path.Clean(strings.ReplaceAll(p, "\\", "/")), "..") {
		return "", hostError("invalid", "Path traversal is not allowed: "+p)
	}
	clean = strings.TrimPrefix(clean, "/")
	if clean == "" {
		return ".", nil
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return "", hostError("invalid", "Path traversal is not allowed: "+p)
	}
	return filepath.FromSlash(clean), nil
}

func asHostError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.HostError](err); ok {
		return e
	}
	if errors.Is(err, fs.ErrNotExist) {
		return hostError("not_found", "File not found")
	}
	if strings.Contains(err.Error(), "escapes") {
		return hostError("invalid", "Path traversal is not allowed")
	}
	return hostError("failed", err.Error())
}

// hostError refuses or fails a host call; kind is one of docs/WIRE.md section 5.
func hostError(kind, message string) error { return &wire.HostError{Kind: kind, Message: message} }
