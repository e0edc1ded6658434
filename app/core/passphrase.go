package core

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"conclave/app/terminal"

	"golang.org/x/term"
)

// ownTerminal marks the context of a command of this program, whose person is at
// this program's terminal. One that runs here for another program has none: its
// person is elsewhere.
type ownTerminal struct{}

// askPassphrase asks the person at the terminal for the passphrase of the
// encrypted file of keys. It speaks with the terminal itself, since standard
// input may be the key that is to be kept. An empty answer means that nobody can
// be asked.
func askPassphrase(ctx context.Context, fresh, again bool) (string, error) {
	if ctx.Value(ownTerminal{}) == nil || !term.IsTerminal(int(os.Stderr.Fd())) {
		return "", nil
	}
	name := "/dev/tty"
	if runtime.GOOS == "windows" {
		name = "CONIN$"
	}
	tty, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return "", nil //nolint:nilerr // there is no terminal to ask at
	}
	fd := int(tty.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return "", tty.Close()
	}
	w := terminal.Plain(os.Stderr)
	switch {
	case again:
		fmt.Fprint(w, "That was not the passphrase of your keys. Again: ")
	case fresh:
		fmt.Fprint(w, "This computer has no keychain. Choose a passphrase for the file that your keys are kept in: ")
	default:
		fmt.Fprint(w, "The passphrase of your keys: ")
	}
	type typed struct {
		text []byte
		err  error
	}
	done := make(chan typed, 1)
	go func() { // ends with the line, or with the program: a read of a terminal cannot be called back
		text, err := term.ReadPassword(fd)
		done <- typed{text, err}
	}()
	select {
	case t := <-done:
		fmt.Fprintln(w)
		_ = tty.Close()
		return string(t.text), t.err
	case <-ctx.Done():
		fmt.Fprintln(w)
		_ = term.Restore(fd, state) // the letters are seen again
		return "", context.Cause(ctx)
	}
}
