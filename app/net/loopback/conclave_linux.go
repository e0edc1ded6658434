package loopback

import (
	"debug/buildinfo"
	"strconv"
	"strings"
)

// Conclave reports whether the far end may be a program of Conclave: it is one, by the
// package that it was built from, or nobody can say what it is. Plugins reach none: it would
// take what they send for the person's.
func (p Peer) Conclave() bool {
	// A Conclave goes on listening, so whoever listens says it, also of a server that has
	// answered and closed its end by now; and is found once for many connections.
	if by, ok := listener(p.at); ok {
		p = by.peer()
	}
	switch p.Whose {
	case Unknown:
		return true
	case Services, Others, Untold: // a Conclave of another user answers that user alone
		return false
	case Mine:
	}
	program, _ := p.Program()
	return program.PID == 0 || program.conclave
}

// isConclave reports whether a process runs a program of Conclave.
func isConclave(pid int) bool {
	info, err := buildinfo.ReadFile("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return false // not a program of Go
	}
	switch strings.TrimSuffix(info.Path, ".test") {
	case "conclave", "conclave/app/cmd/conclave", "conclave/app/cmd/conclave-worker":
		return true
	}
	return false
}
