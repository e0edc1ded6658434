package worker

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheTailKeepsTheEnd(t *testing.T) {
	tail := newTail()
	var all strings.Builder
	for i := range 20000 {
		line := fmt.Sprintf("line %d é\n", i)
		all.WriteString(line)
		tail.write([]byte(line))
	}
	got := tail.text()
	if len(got) < tailBytes-1 || len(got) > tailBytes+2 || !strings.HasSuffix(all.String(), got[4:]) {
		t.Errorf("the tail has %d bytes and ends with %q", len(got), got[len(got)-20:])
	}
}

func TestALongLineIsCutForFollowers(t *testing.T) {
	tail := newTail()
	var got []string
	tail.follow(func(line string) { got = append(got, line) })
	for range 10 {
		tail.write([]byte(strings.Repeat("x", 2000)))
	}
	tail.write([]byte("\nshort\r\n"))
	tail.close()
	if len(got) != 2 || len(got[0]) != maxLogLine+len(" …") || got[1] != "short" {
		t.Errorf("got %d lines: %.100q", len(got), got)
	}
}

func TestASlowFollowerLearnsWhatItMissed(t *testing.T) {
	tail := newTail()
	release := make(chan struct{})
	var got []string
	tail.follow(func(line string) {
		<-release
		got = append(got, line)
	})
	for i := range 5000 {
		tail.write(fmt.Appendf(nil, "%d\n", i))
	}
	close(release)
	tail.close()
	told, missed := 0, 0
	for _, line := range got {
		var n int
		if _, err := fmt.Sscanf(line, "… %d lines left out", &n); err == nil {
			missed += n
		} else {
			told++
		}
	}
	if told+missed != 5000 || missed == 0 || told > 2*maxQueued {
		t.Errorf("%d lines were told and %d said to be left out, of 5000", told, missed)
	}
}

func TestALateFollowerHearsWhatIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tail := newTail()
		tail.write([]byte("one\ntwo\nthr"))
		var got []string
		tail.follow(func(line string) { got = append(got, line) })
		tail.write([]byte("ee\n"))
		tail.close()
		if strings.Join(got, "|") != "one|two|three" {
			t.Errorf("got %q", got)
		}
		got = nil
		tail.follow(func(line string) { got = append(got, line) }) // after the end
		synctest.Wait()
		if strings.Join(got, "|") != "one|two|three" {
			t.Errorf("after the end: %q", got)
		}
	})
}

func TestTheMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rate{bytes: 100, burstBytes: 1000, lines: 10, burstLines: 50}
		m := newMeter(r, time.Now)
		if m.over(make([]byte, 1000)) {
			t.Error("the burst was not granted")
		}
		if !m.over(make([]byte, 1)) {
			t.Error("more than the burst was granted")
		}
		for range 100 { // for ever at the rate
			time.Sleep(time.Second)
			if m.over(make([]byte, 99)) {
				t.Fatal("what is within the rate was refused")
			}
		}
		time.Sleep(time.Hour)
		if m.over([]byte(strings.Repeat("\n", 50))) {
			t.Error("the burst of lines was not granted")
		}
		if !m.over([]byte("\n\n")) {
			t.Error("more lines than the burst were granted")
		}
	})
}
