package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os/exec"

	"conclave/app/base/fault"
)

// DrawFlag has the window's program draw Markdown for another program instead of opening (render.Drawer.Answer).
const DrawFlag = "--draw"

// drawer has the window's program draw. The terminal's does not link what draws: each of its starts would
// initialise that.
type drawer struct {
	style string
	texts *json.Encoder
	drawn *json.Decoder
}

// startDrawer starts a drawer, which ends with the function returned.
func startDrawer(ctx context.Context) (*drawer, func(), error) {
	path, err := windowProgram(ctx)
	if err != nil {
		return nil, nil, noDrawer(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, path, DrawFlag)
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		cancel()
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, nil, noDrawer(err)
	}
	end := func() {
		_ = in.Close()
		cancel()
		_ = cmd.Wait()
	}
	d := &drawer{texts: json.NewEncoder(in), drawn: json.NewDecoder(out)}
	if err := d.drawn.Decode(&d.style); err != nil {
		end()
		return nil, nil, noDrawer(err)
	}
	return d, end, nil
}

// Style implements exchange.Drawer.
func (d *drawer) Style() string { return d.style }

// Draw implements exchange.Drawer.
func (d *drawer) Draw(markdown string) (html string, err error) {
	if err = d.texts.Encode(markdown); err == nil {
		err = d.drawn.Decode(&html)
	}
	if errors.Is(err, io.EOF) {
		err = noDrawer(io.ErrUnexpectedEOF)
	}
	return html, err
}

func noDrawer(err error) error {
	return fault.Wrap(fault.Unavailable, "chats.export",
		"A web page is drawn by the window's program, which cannot be used: "+fault.Of(err).Message,
		"Use --format md or --format json, or install Conclave with its window.", err)
}
