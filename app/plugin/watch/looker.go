package watch

import "sync"

// maxLooks bounds the looks that a Looker remembers, of one file or folder each.
const maxLooks = 8192

// Looker is [Digest] for whoever asks about the same paths again: a file that is as
// it was is not read again. The zero value has seen nothing. It is safe for
// concurrent use.
type Looker struct {
	mu    sync.Mutex // guards trees
	trees map[string]*tree
}

// Digest is as the function of that name.
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
	return t.digest(), t.names(), nil
}
