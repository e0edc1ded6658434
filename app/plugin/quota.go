package plugin

import (
	"io/fs"
	"sync"
	"time"

	"conclave/app/limit"
	"conclave/app/plugin/place"
)

// quotaPause is how long a count of a plugin's storage holds. What a plugin writes by
// itself is counted this often while a call is open, after calls, and before a
// process starts; one file is bounded by the system at any moment.
const quotaPause = time.Second

// quota is the last count of a plugin's storage.
type quota struct {
	mu   sync.Mutex // guards the fields below
	at   time.Time
	full bool
}

// full reports whether the plugin's storage holds more than it may.
func (e *entry) full() bool {
	e.quota.mu.Lock()
	defer e.quota.mu.Unlock()
	if time.Since(e.quota.at) >= quotaPause {
		e.quota.full = overQuota(e.h.storage(e.id))
		e.quota.at = time.Now()
	}
	return e.quota.full
}

// overQuota counts a storage folder, and stops counting once it is too much.
func overQuota(dir string) bool {
	folder, err := place.Open(dir)
	if err != nil {
		return false // there is none, or nothing can be done with it
	}
	defer folder.Close() //nolint:errcheck // only looked at
	var bytes, files int64
	_ = folder.Walk(".", func(_ string, entry fs.DirEntry) error {
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		if files++; bytes > limit.StorageBytes.Value || files > limit.StorageFiles.Value {
			return fs.SkipAll
		}
		return nil
	})
	return bytes > limit.StorageBytes.Value || files > limit.StorageFiles.Value
}

// fullProblem says so of a plugin that is not started.
func fullProblem(dir string) *Problem {
	return &Problem{Kind: "refused", Message: limit.StorageBytes.Person, Hint: "It is " + dir + "."}
}
