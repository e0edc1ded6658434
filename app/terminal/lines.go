package terminal

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
)

// lines reads lines from a stream that cannot be interrupted, on its own goroutine, which
// ends with the stream (a terminal's: with the program). A line that nobody waits for goes
// to the next reader.
type lines struct {
	next chan lineRead // closed at the end of the stream
	err  error         // why it ended before; may be read once next is closed
}

// lineRead is one line. behind means that it arrived together with the one before, which
// typed lines do not.
type lineRead struct {
	text   string
	behind bool
}

func readLines(in io.Reader) *lines {
	l := &lines{next: make(chan lineRead)}
	go func() {
		defer close(l.next)
		r := bufio.NewReader(in)
		var line []byte
		behind := false
		for {
			if len(line) == 0 {
				behind = r.Buffered() > 0
			}
			part, err := r.ReadSlice('\n')
			if line = append(line, part...); len(line) > limit.MessageText {
				l.err = tooLong()
				return
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if len(line) > 0 {
				l.next <- lineRead{strings.TrimRight(string(line), "\r\n"), behind}
			}
			if line = line[:0]; err != nil {
				return
			}
		}
	}()
	return l
}

// tooLong is the error of a message over the limit.
func tooLong() error {
	return fault.New(fault.Invalid, "cli.message", "The text has more than 16 MiB, the most that is taken.", sendPart)
}
