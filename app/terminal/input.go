package terminal

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
)

// readFile reads a regular file of at most most bytes. A device or a pipe is refused: it may have
// no end, or block for ever. name is the file as the person wrote it, for the error: of kind
// not_found where it cannot be read, else invalid.
func readFile(op, path, name string, most int64) ([]byte, error) {
	if err := ordinary(op, path, name); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, unreadable(op, name, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	return readAtMost(op, "The file "+name, file, most)
}

// ordinary refuses everything but regular files.
func ordinary(op, path, name string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return unreadable(op, name, err)
	case info.IsDir():
		return unreadable(op, name, syscall.EISDIR)
	case !info.Mode().IsRegular():
		return fault.New(fault.Invalid, op, name+" is not an ordinary file.",
			"Save it to a file first, and name that.")
	}
	return nil
}

// sendPart is the hint for what is too much to send.
const sendPart = "Send a part of it."

// readAtMost reads r to its end, at most most bytes. what begins the error's sentence: "The text".
func readAtMost(op, what string, r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, op, what+" could not be read to its end.", "Try again.", err)
	}
	if int64(len(data)) > most {
		return nil, fault.New(fault.Invalid, op, fmt.Sprintf("%s has more than %s, the most that is taken.", what,
			limit.Size(most)),
			sendPart)
	}
	return data, nil
}
