package core

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/document"
	"conclave/app/chat/document/pdfprocess"
	"conclave/app/chat/document/pdftest"
	"conclave/app/chat/turn"
	"conclave/app/model/modeltest"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/sandbox"
)

// reading opens a core whose processes are real ones, and may take as long as a busy machine needs.
func reading(t *testing.T) *whole {
	t.Helper()
	w := &whole{t: t, data: t.TempDir()}
	w.open()
	w.pdfs.Time = patience
	return w
}

// attach says something with a file, and returns what the model is told and the
// person's notes.
func (w *whole) attach(name, mime string, data []byte) (told string, notes []string) {
	w.t.Helper()
	model := modeltest.New([]modeltest.Step{modeltest.Say("ok")})
	file := chat.Part{Kind: chat.PartMedia, Media: &chat.Media{Name: name, MIME: mime, Data: data, Size: int64(len(data))}}
	out, err := w.Conversations.Run(w.t.Context(), turn.Request{
		Conversation: w.chat(), Text: "What does it say?", Attachments: []chat.Part{file}, Model: model,
	}, func(e chat.Event) {
		if e.Kind == chat.EventNoted {
			notes = append(notes, e.Note)
		}
	})
	if err != nil || out.Reason != chat.EndDone {
		w.t.Fatalf("%s: %+v, %v", name, out, err)
	}
	for _, m := range model.Requests()[0].Messages {
		told += chat.TextOf(m.Parts)
	}
	return told, notes
}

func TestAModelGetsTheTextOfAPDF(t *testing.T) {
	w := reading(t)
	good := pdftest.Saying("The answer is 42", "and more")
	for _, c := range []struct {
		name, mime   string
		data         []byte
		told, person string
	}{
		{"a.pdf", "application/pdf", good, "File a.pdf, its text:\n\n[page 1]\nThe answer is 42\n[page 2]\nand more", ""},
		{"B.PDF", "application/octet-stream", good, "The answer is 42", ""},
		{
			"scan.pdf", "application/pdf", pdftest.Scanned(),
			"[file scan.pdf, application/pdf, SIZE bytes: it cannot be read, since it has no text, " +
				"only pictures such as scanned pages]",
			"scan.pdf is not read: it has no text, only pictures such as scanned pages.",
		},
		{
			"secret.pdf", "application/pdf", pdftest.Encrypted(),
			"[file secret.pdf, application/pdf, SIZE bytes: it cannot be read, since it is encrypted]",
			"secret.pdf is not read: it is encrypted.",
		},
		{
			"half.pdf", "application/pdf", good[:300],
			"[file half.pdf, application/pdf, SIZE bytes: it cannot be read, since it is damaged]",
			"half.pdf is not read: it is damaged.",
		},
		{
			"long.pdf", "application/pdf", pdftest.Saying(strings.Repeat("x", limit.DocumentText)),
			"xxx\n[the rest of long.pdf is left out: a model gets at most 256 KiB of a document]",
			"Only the first 256 KiB of the text of long.pdf are sent; the rest is left out.",
		},
	} {
		told, notes := w.attach(c.name, c.mime, c.data)
		if want := strings.ReplaceAll(c.told, "SIZE", fmt.Sprint(len(c.data))); !strings.Contains(told, want) {
			t.Errorf("%s: the model is told %.300q, not %q", c.name, told, want)
		}
		if strings.Join(notes, "|") != c.person {
			t.Errorf("%s: the person is told %q", c.name, notes)
		}
	}
}

func TestAPDFBeyondABoundIsSaid(t *testing.T) {
	w := reading(t)
	good := pdftest.Saying("largest")
	largest := append(good, make([]byte, limit.PDF-len(good))...)
	if told, notes := w.attach("largest.pdf", "application/pdf", largest); !strings.HasSuffix(told, "\nlargest") ||
		len(notes) > 0 {
		t.Errorf("the largest: %.300q, %q", told, notes)
	}
	told, notes := w.attach("huge.pdf", "application/pdf", append(largest, 0))
	if !strings.HasSuffix(told,
		fmt.Sprintf("[file huge.pdf, application/pdf, %d bytes: it is larger than 32 MiB, more than is read]",
			limit.PDF+1)) || len(notes) != 1 || notes[0] != "huge.pdf is not read: a PDF may have at most 32 MiB." {
		t.Errorf("one byte more: %.300q, %q", told, notes)
	}
}

func TestAHostilePDFEndsItsOwnProcessAlone(t *testing.T) {
	w := reading(t)
	p := pdfprocess.New(w.launcher, w.Log)
	if p.Time != 10*time.Second {
		t.Errorf("a process has %s", p.Time)
	}
	for name, c := range map[string]struct {
		data []byte
		want error
		time time.Duration
	}{
		"tables in a circle":           {pdftest.Circle(), document.ErrTooMuch, time.Second},
		"one that unpacks to too much": {pdftest.Bomb(400 << 20), document.ErrTooMuch, patience},
		"one nested deep":              {pdftest.Nested(20 << 20), document.ErrNoText, patience},
	} {
		if len(c.data) > 1<<20 {
			t.Fatalf("%s has %d bytes", name, len(c.data))
		}
		p.Time = c.time
		if said, err := p.Read(t.Context(), c.data); !errors.Is(err, c.want) || said.Text != "" {
			t.Errorf("%s: %q, %v", name, said.Text, err)
		}
		p.Time = patience
		if said, err := p.Read(t.Context(), pdftest.Saying(name)); err != nil || !strings.Contains(said.Text, name) {
			t.Errorf("after %s: %q, %v", name, said.Text, err)
		}
	}
	counted := &plugintest.Counted{Launcher: w.launcher}
	w.pdfs.Launcher, w.pdfs.Time = counted, time.Second // in place of the ten that the words name
	told, notes := w.attach("circle.pdf", "application/pdf", pdftest.Circle())
	if !strings.Contains(told, "reading it takes more than 10 s or 256 MiB of memory]") || len(notes) != 1 ||
		notes[0] != "circle.pdf is not read: reading it takes more than 10 s or 256 MiB of memory." {
		t.Errorf("%q, %q", told, notes)
	}
	if w.attach("again.pdf", "application/pdf", pdftest.Circle()); counted.Started() != 1 {
		t.Errorf("%d processes read the same file", counted.Started())
	}
}

func TestTheProcessThatReadsAPDFIsBehindWalls(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the walls are Linux's")
	}
	w := reading(t)
	process, err := w.launcher.Start(t.Context(), sandbox.Spec{Kind: "pdf", Memory: limit.PDFMemory})
	must(t, err)
	defer process.Kill()
	// More than a pipe holds: it is written once the process reads, which is once
	// the walls are up. The last byte lacks, so that it waits.
	if _, err := fmt.Fprintf(process.Wire(), "%d\n%s", 1<<20, make([]byte, 1<<20-1)); err != nil {
		t.Fatal(err, process.Stderr())
	}
	of := func(file string) string {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", process.(interface{ Pid() int }).Pid(), file))
		must(t, err)
		return strings.Join(strings.Fields(string(data)), " ")
	}
	for _, want := range []string{"NoNewPrivs: 1", "Seccomp: 2"} {
		if status := of("status"); !strings.Contains(status, want) {
			t.Errorf("not %s: %s", want, status)
		}
	}
	if limits := of("limits"); !strings.Contains(limits, fmt.Sprintf("Max data size %d ", limit.PDFMemory)) {
		t.Error(limits)
	}
	if environment := of("environ"); strings.Contains(environment, "HOME=") {
		t.Errorf("it has the person's environment: %s", environment)
	}
}
