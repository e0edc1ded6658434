package sandbox

import "strings"

// Wall is one limit of a plugin's process, and what of the system is to keep it.
type Wall struct {
	Of string // "folders", "network", "programs", "memory"
	By string
}

// untried are the walls of the systems on which nobody has run the attack suite (make
// attack) yet, by GOOS, as plugin/worker/walls puts them into words of the system. A
// system leaves this table, and gets a level of its own in [Confinement], when somebody
// has run the suite there and it held.
var untried = map[string][]Wall{
	"darwin": {
		{"folders", "a seatbelt profile"}, {"network", "a seatbelt profile"}, {"programs", "a seatbelt profile"},
	},
	"windows": {
		{"folders", "an AppContainer or a restricted token"}, {"network", "an AppContainer"},
		{"programs", "a job object"}, {"memory", "a job object"},
	},
}

// Unproven returns what is to be said of the sandbox of a system on which nobody has
// tried the walls: that nothing holds a process, as far as anybody knows, and which
// walls were written. Such a system never has a level of which more is shown.
func Unproven(goos string) Confinement {
	c := Confinement{Level: "none", Sentence: "Runs as you, not isolated.", Untried: untried[goos]}
	c.Network = "Its connections are to go through Conclave, but this system does not hold it to that: " +
		"it could connect elsewhere, unseen."
	c.Ports = NoPorts
	if len(c.Untried) == 0 {
		return c
	}
	c.Sentence = "Take it as running as you, not isolated. Written, not tried here: " + inWords(c.Untried) + "."
	return c
}

// inWords lists walls, those that one thing is to keep together: "folders and network by
// a seatbelt profile, memory by a job object".
func inWords(walls []Wall) string {
	var said []string
	for i := 0; i < len(walls); {
		by, of := walls[i].By, []string{}
		for ; i < len(walls) && walls[i].By == by; i++ {
			of = append(of, walls[i].Of)
		}
		last := len(of) - 1
		list := of[last]
		if last > 0 {
			list = strings.Join(of[:last], ", ") + " and " + list
		}
		said = append(said, list+" by "+by)
	}
	return strings.Join(said, "; ")
}
