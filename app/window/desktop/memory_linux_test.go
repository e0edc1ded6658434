package desktop

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestTheStartIsTakenOutOfMemoryAndTheProgramGoesOn(t *testing.T) {
	own, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	before := mapped(t, own)
	if err := forgetFile(); err != nil {
		t.Fatal(err)
	}
	if after := mapped(t, own); after >= before {
		t.Errorf("%d kB of the program are in memory, %d before", after, before)
	}
}

// mapped returns how much of a file's mappings that nobody writes is in memory, in kB.
func mapped(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	sum, ours := 0, false
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) >= 5 && strings.Contains(fields[0], "-") {
			ours = strings.HasSuffix(strings.TrimSpace(line), " "+file) && !strings.Contains(fields[1], "w")
		}
		if ours && fields[0] == "Rss:" {
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
	}
	return sum
}
