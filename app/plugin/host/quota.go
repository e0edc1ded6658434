package host

import (
	"errors"
	"io/fs"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/sandbox"
)

// quotaPause is how long a count of a plugin's storage holds. What a plugin writes by
// itself is counted this often while its process lives, after calls, and before a
// process starts; one file is bounded by the system at any moment.
const quotaPause = time.Second

// quota is the last count of a plugin's storage.
type quota struct {
	mu    sync.Mutex // guards the fields below
	at    time.Time
	bytes int64
	files int64
}

// full reports whether the plugin's storage holds more than it may, files that its
// process, if one lives, deleted and still has open among it.
func (e *entry) full(process sandbox.Process) bool {
	var deleted int64
	if process != nil {
		deleted = process.Deleted()
	}
	e.quota.mu.Lock()
	defer e.quota.mu.Unlock()
	if time.Since(e.quota.at) >= quotaPause {
		e.quota.bytes, e.quota.files = stored(e.h.storage(e.id))
		e.quota.at = time.Now()
	}
	return e.quota.bytes+deleted > limit.StorageBytes.Value || e.quota.files > limit.StorageFiles.Value
}

// stored counts a storage folder, until it is too much; what cannot be counted is.
func stored(dir string) (bytes, files int64) {
	folder, err := safefs.Open(dir)
	if err != nil {
		return 0, 0 // there is none, or nothing can be done with it
	}
	defer folder.Close() //nolint:errcheck // only looked at
	err = folder.Walk(".", func(_ string, entry fs.DirEntry) error {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		if files++; bytes > limit.StorageBytes.Value || files > limit.StorageFiles.Value {
			return fs.SkipAll
		}
		return nil
	})
	if errors.Is(err, safefs.ErrDeep) || errors.Is(err, fs.ErrPermission) {
		files = limit.StorageFiles.Value + 1
	}
	return bytes, files
}

// fullProblem says so of a plugin that is not started.
func fullProblem(dir string) *plugin.Problem {
	return &plugin.Problem{Kind: "refused", Message: limit.StorageBytes.Person, Hint: "It is " + dir + "."}
}
