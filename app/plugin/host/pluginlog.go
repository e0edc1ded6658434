package host

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// journalLines limits how many lines of one plugin are held in memory: enough to read
// what led to a failure, little enough that 200 plugins stay under 100 MB at
// worst.
const (
	journalLines    = 1000
	journalLineSize = 4 << 10
)

// journalPace is how many bytes of one plugin's log are written to the disk
// within a minute: a plugin that prints without end must not wear it out.
const journalPace = 1 << 20

// pluginLog keeps the last lines a plugin logged or printed, in memory, and in a
// file that the next start of Conclave reads. It is safe for concurrent use.
type pluginLog struct {
	path     string    // of the file; empty: nothing is kept
	redactor *redactor // what must not be in it

	mu     sync.Mutex       // guards the fields below
	lines  []plugin.LogLine // of this start
	next   uint64
	loaded bool             // lines of earlier starts were read
	old    []plugin.LogLine // these, numbered below journalLines+1
	file   *os.File         // nil before the first line, and once it cannot be written
	begun  bool             // the file was opened
	before int64            // its size then
	size   int64
	minute time.Time // since when paced counts
	paced  int64
}

// newPluginLog returns a log that is kept at path; empty keeps nothing.
func newPluginLog(path string, redactor *redactor) *pluginLog {
	return &pluginLog{path: path, redactor: redactor, next: journalLines + 1}
}

// olderOf is where the lines lie that no longer fit into the file at path.
func olderOf(path string) string { return path + ".1" }

func (j *pluginLog) add(level, text, call string) {
	text = strings.TrimRight(logged(j.redactor, text), "\n")
	if len(text) > journalLineSize {
		text = strings.ToValidUTF8(text[:journalLineSize], "") + " …"
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	line := plugin.LogLine{N: j.next, Time: time.Now(), Level: level, Text: text, Call: call}
	j.next++
	j.store(line)
	j.lines = append(j.lines[max(0, len(j.lines)+1-journalLines):], line)
}

// lineEnds are those of every system: text after a lone carriage return would be
// printed over what is before it.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// logged is foreign text as a log has it: what a terminal obeys and what nobody sees
// is taken out, and then the secrets, which hidden characters may have parted.
func logged(secrets *redactor, text string) string {
	text, _ = tool.Strip(lineEnds.Replace(secrets.text(text)))
	return secrets.text(text)
}

// store writes a line to the file, if the plugin writes within its pace. A log
// that cannot be written is no reason to stop: it is in memory. The caller holds
// mu.
func (j *pluginLog) store(line plugin.LogLine) {
	raw, err := json.Marshal(line)
	if err != nil || j.path == "" || !j.within(int64(len(raw)), line.Time) || !j.open() {
		return
	}
	if j.size+int64(len(raw)) >= limit.PluginLog/2 && !j.rotate(line.Time) {
		return
	}
	j.write(raw)
}

func (j *pluginLog) write(raw []byte) {
	n, _ := j.file.Write(append(raw, '\n'))
	j.size += int64(n)
}

// within reports whether n more bytes are within the pace of this minute.
func (j *pluginLog) within(n int64, now time.Time) bool {
	if now.Sub(j.minute) >= time.Minute {
		j.minute, j.paced = now, 0
	}
	j.paced += n
	return j.paced <= journalPace
}

// open opens the file at the first line.
func (j *pluginLog) open() bool {
	if j.begun {
		return j.file != nil
	}
	j.begun = true
	if os.MkdirAll(filepath.Dir(j.path), 0o700) != nil {
		return false
	}
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return false
	}
	if info, err := f.Stat(); err == nil {
		j.before, j.size = info.Size(), info.Size()
	}
	j.file = f
	return true
}

// rotate moves a full file aside, over the one moved before, and begins another.
func (j *pluginLog) rotate(now time.Time) bool {
	j.load()
	_ = j.file.Close()
	j.file = nil
	if os.Rename(j.path, olderOf(j.path)) != nil {
		return false
	}
	f, err := os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	j.file, j.size = f, 0
	if raw, err := json.Marshal(plugin.LogLine{
		Time: now, Level: "info",
		Text: "Older lines of this log are not kept: it holds 1 MiB.",
	}); err == nil {
		j.write(raw)
	}
	return true
}

// load reads the lines of earlier starts, once.
func (j *pluginLog) load() {
	if j.loaded || j.path == "" {
		return
	}
	j.loaded = true
	var all []plugin.LogLine
	for _, path := range []string{olderOf(j.path), j.path} {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if path == j.path && j.begun {
			raw = raw[:min(j.before, int64(len(raw)))]
		}
		for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
			var line plugin.LogLine
			if json.Unmarshal(lines.Bytes(), &line) == nil {
				line.Text = logged(j.redactor, line.Text) // of a Conclave that did not clean it
				all = append(all, line)
			}
		}
	}
	j.old = all[max(0, len(all)-journalLines):]
	for i := range j.old {
		j.old[i].N = journalLines - uint64(len(j.old)) + uint64(i) + 1
	}
}

// since returns the lines with N > n, oldest first, those of earlier starts among
// them.
func (j *pluginLog) since(n uint64) []plugin.LogLine {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.load()
	out := []plugin.LogLine{}
	for _, line := range slices.Concat(j.old, j.lines) {
		if line.N > n {
			out = append(out, line)
		}
	}
	return out
}

// close closes the file. What is added later is in memory alone.
func (j *pluginLog) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file != nil {
		_ = j.file.Close()
	}
	j.file, j.begun = nil, true
}

// forget removes what is kept.
func (j *pluginLog) forget() {
	j.close()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.path != "" {
		_, _ = os.Remove(j.path), os.Remove(olderOf(j.path))
	}
}
