package watch

import "sync"

// maxLooks bounds the looks that a Looker remembers, of one file or folder each.
const maxLooks = 8192

// Looker computes [Digest] and does not read a file again that has not changed. The
// zero value is ready. It is safe for concurrent use.
type Looker struct {
	mu    sync.Mutex // guards the fields below
	trees map[string]*tree
	read  int64
}

// Read returns how many files it has read so far.
func (l *Looker) Read() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read
}

// Digest returns what the function of that name does.
func (l *Looker) Digest(path string) (string, []string, error) {
	l.mu.Lock()
	before := l.trees[path]
	l.mu.Unlock()
	t, err := scan(path, before, nil)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		delete(l.trees, path)
		return "", nil, err
	}
	if l.trees == nil || len(l.trees) >= maxLooks {
		l.trees = map[string]*tree{}
	}
	l.trees[path] = t
	l.read += t.read
	return t.digest(), t.names(), nil
}
