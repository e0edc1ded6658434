package host

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/plugin/safefs"
	"conclave/app/plugin/wire"
)

// maxStored bounds one file that a plugin writes through storage.write; a wire
// line holds at most 4 MiB anyway.
const maxStored = 3 << 20

// storageArgs are the arguments of all storage services.
type storageArgs struct {
	Path   string  `json:"path"`
	Prefix string  `json:"prefix"`
	From   string  `json:"from"`
	To     string  `json:"to"`
	Text   *string `json:"text"`
	Base64 *string `json:"base64"`
	Binary bool    `json:"binary"`
}

// storage answers the storage.* services inside the folder dir, out of which
// no name leads, and in which no link is followed.
func storage(dir, operation string, raw json.RawMessage) (any, error) {
	var a storageArgs
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, hostError("invalid", "The arguments of storage."+operation+" are not an object: "+err.Error())
	}
	folder, err := safefs.OpenOrMake(dir)
	if err != nil {
		return nil, hostError("failed", "The storage folder cannot be opened: "+err.Error())
	}
	defer folder.Close() //nolint:errcheck // nothing is buffered
	value, err := storageDo(folder, operation, a)
	return value, asHostError(err)
}

func storageDo(folder *safefs.Folder, operation string, a storageArgs) (any, error) {
	name, err := storagePath(a.Path)
	if err != nil {
		return nil, err
	}
	if name == "." && (operation == "read" || operation == "write" || operation == "delete") {
		return nil, hostError("invalid", "storage."+operation+" needs a path.")
	}
	switch operation {
	case "read":
		return storageRead(folder, name, a.Binary)
	case "write":
		data, err := a.data()
		if err != nil {
			return nil, err
		}
		return map[string]int{"bytes": len(data)}, folder.Write(name, data)
	case "delete":
		err := folder.Remove(name)
		return map[string]bool{"deleted": err == nil}, err
	case "exists":
		_, err := folder.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return map[string]bool{"exists": err == nil}, nil
	case "mkdir":
		return map[string]bool{}, folder.MakeFolder(name)
	case "stat":
		info, err := folder.Stat(name)
		if err != nil {
			return nil, err
		}
		return map[string]any{"size": info.Size(), "modified_ms": info.ModTime().UnixMilli(), "directory": info.IsDir()}, nil
	case "list":
		return storageList(folder, a.Prefix)
	case "move":
		from, err := storagePath(a.From)
		if err != nil {
			return nil, err
		}
		to, err := storagePath(a.To)
		if err != nil {
			return nil, err
		}
		return map[string]bool{}, folder.Rename(from, to)
	}
	return nil, hostError("unavailable", "storage."+operation+" is not available in Conclave.")
}

// storageRead reads a file that fits into an answer.
func storageRead(folder *safefs.Folder, name string, binary bool) (any, error) {
	data, size, err := folder.Read(name, maxStored)
	switch {
	case errors.Is(err, safefs.ErrNotFile):
		return nil, hostError("invalid", name+" is not a file.")
	case err != nil:
		return nil, err
	case size > maxStored:
		return nil,
			hostError("invalid", fmt.Sprintf("%s has %d bytes; at most %d can be read at once.", name, size, maxStored))
	case binary || !utf8.Valid(data):
		return map[string]string{"base64": base64.StdEncoding.EncodeToString(data)}, nil
	}
	return map[string]string{"text": string(data)}, nil
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
		return nil,
			hostError("invalid", fmt.Sprintf("A stored file may hold at most %d bytes; this has %d.", maxStored, len(data)))
	}
	return data, nil
}

// storageList returns the files below prefix, recursive, relative to it
// (contracts/spindle, section 5.4.6). A prefix that is no folder holds no files.
func storageList(folder *safefs.Folder, prefix string) (any, error) {
	base, err := storagePath(prefix)
	if err != nil {
		return nil, err
	}
	files := []string{}
	err = folder.Walk(base, func(name string, entry fs.DirEntry) error {
		if entry.Type().IsRegular() && !folder.IsPart(name) {
			if name, err := filepath.Rel(base, name); err == nil { // both are below the folder
				files = append(files, filepath.ToSlash(name))
			}
		}
		return nil
	})
	slices.Sort(files)
	return map[string]any{"files": files}, err
}

// storagePath makes a plugin's path relative and local. An empty path is the
// folder itself.
func storagePath(p string) (string, error) {
	slashed := strings.ReplaceAll(p, "\\", "/")
	name := filepath.FromSlash(cmp.Or(strings.TrimPrefix(path.Clean("/"+slashed), "/"), "."))
	if strings.HasPrefix(path.Clean(slashed), "..") || !filepath.IsLocal(name) {
		return "", hostError("invalid", "Path traversal is not allowed: "+p)
	}
	return name, nil
}

func asHostError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*wire.HostError](err); ok {
		return e
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return hostError("not_found", "File not found")
	case errors.Is(err, safefs.ErrLink):
		return hostError("invalid", "Path traversal is not allowed: there is a link on the way")
	}
	if strings.Contains(err.Error(), "escapes") {
		return hostError("invalid", "Path traversal is not allowed")
	}
	return hostError("failed", err.Error())
}

// hostError refuses or fails a host call; kind is one of docs/WIRE.md section 5.
func hostError(kind, message string) error { return &wire.HostError{Kind: kind, Message: message} }
