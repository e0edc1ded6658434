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

// storageFull is the error of a write by a plugin whose storage is full, for the plugin.
const storageFull = "the plugin's storage is full: it may hold 512 MiB and 10,000 files"

// storageOver tells the person that a plugin was stopped because of its storage.
const storageOver = "Its storage folder holds more than 512 MiB or 10,000 files, or folders that are too deep or " +
	"too locked to be counted, so it was stopped. Delete what it does not need, then reload it."

// quotaPause limits how long a count of a plugin's storage holds. What a plugin writes by
// itself is counted this often while its process lives, after calls, and before a
// process starts; one file is bounded by the system at any moment.
const quotaPause = time.Second

// quota is the last count of a plugin's storage.
type quota struct {
	mu    sync.Mutex // guards the fields below
	at    time.Time
	bytes int64
	files int64

	process sandbox.Process // whose deleted files were counted last, at looked
	looked  time.Time
	deleted int64
}

// full reports whether the plugin's storage holds more than it may, including files that its
// process, if one lives, deleted and still has open.
func (q *quota) full(dir string, process sandbox.Process) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if time.Since(q.at) >= quotaPause {
		q.bytes, q.files = stored(dir)
		q.at = time.Now()
	}
	var deleted int64
	if process != nil {
		if process != q.process || time.Since(q.looked) >= quotaPause {
			q.process, q.deleted = process, process.Deleted()
			q.looked = time.Now()
		}
		deleted = q.deleted
	}
	return q.bytes+deleted > limit.StorageBytes || q.files > limit.StorageFiles
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
		if files++; bytes > limit.StorageBytes || files > limit.StorageFiles {
			return fs.SkipAll
		}
		return nil
	})
	if errors.Is(err, safefs.ErrDeep) || errors.Is(err, fs.ErrPermission) {
		files = limit.StorageFiles + 1
	}
	return bytes, files
}

// fullProblem says so of a plugin that is not started.
func fullProblem(dir string) *plugin.Problem {
	return &plugin.Problem{Kind: "refused", Message: storageOver, Hint: "Its storage folder is " + dir + "."}
}
