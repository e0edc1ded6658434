package loopback

import "strconv"

// Program is a program of this computer, as far as the system tells.
type Program struct {
	Name string // with what it runs, where that says more: "python3 weather.py"
	PID  int    // 0 where only its user is known
	Mine bool   // it runs as the user that Conclave runs as
}

// String is the program as a person reads it: “python3 weather.py (process 123)”.
func (p Program) String() string {
	if p.PID == 0 {
		return p.Name
	}
	return p.Name + " (process " + strconv.Itoa(p.PID) + ")"
}
