package spindle

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/spindle/job"
)

// Bounds of what is kept of built TypeScript.
const (
	maxKeptFiles   = 64       // of one version of a plugin
	maxKeptBytes   = 16 << 20 // the same
	maxKeptVersion = 2        // versions of one plugin: the one that serves, and one that is edited
	maxKeptInAll   = 64 << 20 // of all plugins
)

// keptFolder is where what was built of a plugin lies. A worker is believed only
// for the very files it was started from: what a version had kept is shown to no
// other, neither an update of the same plugin nor another plugin.
func keptFolder(runtime, id, code string) string {
	return filepath.Join(runtime, "built", id, code)
}

var (
	keptName = pattern.Lazy(`^[0-9a-f]{64}$`)
	keptID   = pattern.Lazy(`^[A-Za-z0-9_-]+$`)
)

// keep is the service build.keep {name, text, map}: it keeps what a worker built of a
// large TypeScript file, so that the next start need not. runtime is StartOptions.Runtime.
func keep(runtime string) plugin.Service {
	k := &buildCache{root: filepath.Join(runtime, "built")}
	return plugin.Service{Do: func(_ context.Context, by plugin.Caller, raw json.RawMessage) (any, error) {
		var built struct {
			Name string `json:"name"`
			job.Built
		}
		if json.Unmarshal(raw, &built) != nil || !keptName().MatchString(built.Name) ||
			len(built.Text)+len(built.Map) > job.MaxKept {
			return nil, fault.New(fault.Invalid, "spindle.keep", "What was built cannot be kept.", "")
		}
		if by.Dialect != Name || !keptName().MatchString(by.Code) || !keptID().MatchString(by.Plugin) {
			return nil, fault.New(fault.Unavailable, "spindle.keep", "Nothing is kept of this plugin.", "")
		}
		return struct{}{}, k.put(keptFolder(runtime, by.Plugin, by.Code), built.Name, built.Seal())
	}}
}

// buildCache writes built texts to files, one at a time, and deletes those that nobody
// uses.
type buildCache struct {
	mu   sync.Mutex
	root string
}

func (k *buildCache) put(dir, name string, text []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	there, size := weigh(dir)
	if there >= maxKeptFiles || size+int64(len(text)) > maxKeptBytes {
		return fault.New(fault.Unavailable, "spindle.keep", "Enough is kept of this plugin.", "")
	}
	file, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = cmp.Or(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(file.Name()) // left behind at worst
		return err
	}
	k.prune(dir)
	return nil
}

// weigh counts the files of a folder, and their bytes.
func weigh(dir string) (files int, size int64) {
	entries, _ := os.ReadDir(dir) // one that cannot be read holds nothing
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files, size = files+1, size+info.Size()
		}
	}
	return files, size
}

// prune removes what was kept longest ago: versions of the same plugin, and of
// any plugin when there is too much in all. now stays.
func (k *buildCache) prune(now string) {
	type version struct {
		dir  string
		size int64
		at   time.Time
	}
	var all []version
	plugins, _ := os.ReadDir(k.root)
	for _, p := range plugins {
		versions, _ := os.ReadDir(filepath.Join(k.root, p.Name()))
		for _, v := range versions {
			dir := filepath.Join(k.root, p.Name(), v.Name())
			if info, err := v.Info(); err == nil && dir != now {
				_, size := weigh(dir)
				all = append(all, version{dir, size, info.ModTime()})
			}
		}
	}
	slices.SortFunc(all, func(a, b version) int { return b.at.Compare(a.at) })
	_, total := weigh(now)
	own := 1
	for _, v := range all {
		same := filepath.Dir(v.dir) == filepath.Dir(now)
		if total += v.size; total > maxKeptInAll || same && own >= maxKeptVersion {
			_ = os.RemoveAll(v.dir) // left behind at worst
			total -= v.size
			continue
		}
		if same {
			own++
		}
	}
}
