package engine

import (
	"io"
	"os"
	"path/filepath"

	"conclave/app/plugin/dialect/spindle/job"
)

// builtBy is part of the name of what Conclave keeps: another esbuild, or other
// options in transform, may build something else. Change it with either.
const builtBy = "esbuild v0.28.2, 1"

// built holds what was built of one file and is not kept yet.
type built struct {
	Name string `json:"name"`
	job.Built
}

// transformed is transform, with what Conclave kept of an earlier start.
func (l *loader) transformed(name, text string) (string, *sourceMap, error) {
	if l.kept == "" || !isTypeScript(name) || len(text) < job.KeepFrom {
		return transform(name, text)
	}
	key := job.BuiltName(builtBy, name, text)
	if kept, ok := readKept(filepath.Join(l.kept, key)); ok {
		return kept.Text, newSourceMap([]byte(kept.Map)), nil
	}
	js, back, err := transform(name, text)
	if err == nil && len(js)+len(back.raw) <= job.MaxKept {
		l.fresh = append(l.fresh, built{key, job.Built{Text: js, Map: string(back.raw)}})
	}
	return js, back, err
}

// readKept reads what was kept. What is missing or damaged is built again.
func readKept(path string) (job.Built, bool) {
	file, err := os.Open(path)
	if err != nil {
		return job.Built{}, false
	}
	defer func() { _ = file.Close() }() // only read
	sealed, err := io.ReadAll(io.LimitReader(file, 2*job.MaxKept))
	if err != nil {
		return job.Built{}, false
	}
	return job.Unseal(sealed)
}

// keep hands Conclave what was built at this start. That it cannot keep it is no
// harm: it is built again.
func (w *worker) keep(fresh []built) {
	for _, each := range fresh {
		if _, err := w.host.Call(w.ctx, "build.keep", each, ""); err != nil {
			return
		}
	}
}
