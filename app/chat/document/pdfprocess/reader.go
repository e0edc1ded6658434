// Package pdfprocess reads PDFs, each in its own process, since a hostile file can take all
// memory or end the program that parses it. The process links app/chat/document/pdf; this package
// does not. Read Reader.Read first.
package pdfprocess

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat/document"
	"conclave/app/plugin/sandbox"
)

// remembered bounds the texts that stay in memory: those of a chat, so that a file is not read again for
// every request. One takes at most limit.DocumentText.
const remembered = 32

// maxReply bounds the reply of a process: the text of a PDF, which JSON can make six times as long.
const maxReply = 8 * limit.DocumentText

// Reader reads PDFs, each in its own process, one at a time. Use New. It is safe for concurrent
// use once its fields are set.
type Reader struct {
	Launcher sandbox.Launcher
	Time     time.Duration // how long a PDF may take

	log  *slog.Logger
	turn chan struct{} // whose holder reads

	mu    sync.Mutex // guards the fields below
	known map[[sha256.Size]byte]pdfText
	order [][sha256.Size]byte // of known, the oldest first
}

// pdfText is the result of reading one.
type pdfText struct {
	said document.PDF
	err  error
}

// New returns a reader that starts its processes with l.
func New(l sandbox.Launcher, log *slog.Logger) *Reader {
	return &Reader{
		Launcher: l, log: log, Time: limit.PDFTime,
		turn: make(chan struct{}, 1), known: map[[sha256.Size]byte]pdfText{},
	}
}

// Read returns the text of a PDF. The error is one of app/chat/document, or why no process could
// read it, or the cause of ctx's end.
func (p *Reader) Read(ctx context.Context, data []byte) (document.PDF, error) {
	if int64(len(data)) > limit.PDF {
		return document.PDF{}, document.ErrTooLarge
	}
	key := sha256.Sum256(data)
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return document.PDF{}, context.Cause(ctx)
	}
	if t, ok := p.find(key); ok {
		return t.said, t.err
	}
	said, err := p.ask(ctx, data)
	if err == nil || isVerdict(err) {
		p.remember(key, pdfText{said, err})
	} else {
		p.log.Info("a PDF was not read", "err", err)
	}
	return said, err
}

// isVerdict reports whether an error is about the file, and not about the moment.
func isVerdict(err error) bool {
	return errors.Is(err, document.ErrDamaged) || errors.Is(err, document.ErrEncrypted) ||
		errors.Is(err, document.ErrNoText) || errors.Is(err, document.ErrTooMuch)
}

func (p *Reader) find(key [sha256.Size]byte) (pdfText, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.known[key]
	return t, ok
}

func (p *Reader) remember(key [sha256.Size]byte, t pdfText) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[key], p.order = t, append(p.order, key)
	if len(p.order) > remembered {
		delete(p.known, p.order[0])
		p.order = p.order[1:]
	}
}

// ask has a process read a PDF, which may end in any way.
func (p *Reader) ask(ctx context.Context, data []byte) (document.PDF, error) {
	process, err := p.Launcher.Start(ctx, sandbox.Spec{Kind: "pdf", Memory: limit.PDFMemory})
	if err != nil {
		return document.PDF{}, err
	}
	timed, cancel := context.WithTimeoutCause(ctx, p.Time, document.ErrTooMuch)
	defer cancel()
	stop := context.AfterFunc(timed, process.Kill)
	defer stop()
	defer func() { // it is of no further use
		process.Kill()
		<-process.Done()
	}()
	said, err := exchange(process.Wire(), data)
	if err == nil {
		return said, troubleOf(said)
	}
	if ctx.Err() != nil {
		return document.PDF{}, context.Cause(ctx)
	}
	if timed.Err() != nil {
		return document.PDF{}, document.ErrTooMuch
	}
	process.Kill()
	<-process.Done()
	last := process.Stderr()
	p.log.Info("the process that reads a PDF died", "exit", process.Exit(), "said", firstLine(last))
	return document.PDF{}, whyDead(process.Exit(), last)
}

// troubleOf returns the error that a process reports.
func troubleOf(said document.PDF) error {
	if err := document.Troubles[said.Trouble]; err != nil || said.Trouble == "" {
		return err
	}
	return document.ErrDamaged
}

// whyDead returns the error of a process that ended: the file took all memory, or the parser crashed
// on it, or the process never ran.
func whyDead(exit, last string) error {
	switch {
	case strings.Contains(last, "out of memory"), strings.Contains(last, "cannot allocate memory"),
		strings.Contains(exit, sandbox.TooMuchMemory):
		return document.ErrTooMuch
	case strings.HasPrefix(exit, "exit 2"), strings.HasPrefix(exit, "ended: "): // Go's own end of a program
		return document.ErrDamaged
	}
	return fmt.Errorf("the process that reads PDFs ended with %s: %s", exit, firstLine(last))
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// exchange sends a PDF and reads what is said of it.
func exchange(w io.ReadWriter, data []byte) (said document.PDF, err error) {
	if _, err := fmt.Fprintf(w, "%d\n", len(data)); err != nil {
		return said, err
	}
	if _, err := w.Write(data); err != nil {
		return said, err
	}
	line, err := bufio.NewReader(io.LimitReader(w, maxReply)).ReadBytes('\n')
	if err != nil {
		return said, err
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return document.PDF{}, err
	}
	if len(said.Text) > limit.DocumentText {
		return document.PDF{}, errors.New("more text than asked for")
	}
	said.Text = strings.ToValidUTF8(said.Text, "")
	return said, nil
}
