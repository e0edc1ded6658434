package host

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/limit"
	"conclave/app/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What is kept of the background jobs of one process that failed, and of each in bytes.
const (
	maxJobs     = 8
	maxJobName  = 100
	maxJobError = 300
)

// jobs are the background jobs of one process that failed and have not worked since: timers,
// tasks and threads of the plugin. It is safe for concurrent use.
type jobs struct {
	mu     sync.Mutex
	failed []failedJob // the one that failed last is last
}

type failedJob struct {
	name, why string
	times     int
	last      time.Time
}

// heard takes in what a line of the log says of a job (docs/WIRE.md, section 7): that it works,
// or why it failed. It reports whether that is news for the card.
func (j *jobs) heard(name, why string, failed bool, now time.Time) bool {
	if name = line(name, maxJobName); name == "" {
		return false
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	one := failedJob{name: name}
	i := slices.IndexFunc(j.failed, func(f failedJob) bool { return f.name == name })
	if i >= 0 {
		one = j.failed[i]
		j.failed = slices.Delete(j.failed, i, i+1)
	}
	if !failed {
		return i >= 0
	}
	one.why, one.last = line(why, maxJobError), now
	one.times++
	j.failed = append(j.failed, one)
	j.failed = j.failed[max(0, len(j.failed)-maxJobs):]
	return true
}

// notes are the sentences for the plugin's card.
func (j *jobs) notes() (notes []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.failed {
		how, last := "failed", ", "
		if f.times > 1 {
			how, last = fmt.Sprintf("failed %s since it was started", limit.Counted(f.times, "time")), ", last "
		}
		why := f.why
		if why != "" {
			why = ": " + strings.TrimSuffix(why, ".")
		}
		notes = append(notes, "Its "+f.name+" "+how+last+"at "+f.last.Local().Format("15:04 on 2 January")+why+
			". Its log has more.")
	}
	return notes
}

// line is the beginning of a text of a plugin's, cleaned and in one line.
func line(text string, most int) string {
	text, _ = tool.Clean(text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// heardJob reads what a line of the process's log says about a job.
func (s *session) heardJob(meta mcp.Meta) {
	name, _ := meta["conclave/job"].(string)
	why, failed := meta["conclave/failure"].(string)
	if s.jobs.heard(s.r.e.redactor.text(name), s.r.e.redactor.text(why), failed, time.Now()) {
		s.r.h.o.Bus.Changed(bus.Plugins, "")
	}
}
