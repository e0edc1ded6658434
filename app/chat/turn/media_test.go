package turn_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/tool"
)

// aPNG is how a picture begins, which is enough to be one where nobody looks at it.
const aPNG = "\x89PNG\r\n\x1a\n"

func TestLF37PicturesOfAToolAreBoundedInNumberSizeAndKind(t *testing.T) {
	media := func(name, mime string, data []byte) chat.Part {
		return chat.Part{Kind: chat.PartMedia, Media: &chat.Media{MIME: mime, Name: name, Data: data, Size: int64(len(data))}}
	}
	var wide bytes.Buffer
	must(t, png.Encode(&wide, image.NewGray(image.Rect(0, 0, 9000, 1))))
	draw := func(context.Context, tool.Call) tool.Result {
		r := tool.Result{Status: chat.CallOK}
		for n := range 19 {
			r.Content = append(r.Content, media(fmt.Sprintf("%d.png", n), "image/png", fmt.Append(nil, aPNG, n)))
		}
		return r
	}
	odd := func(context.Context, tool.Call) tool.Result {
		return tool.Result{Status: chat.CallOK, Content: []chat.Part{
			media("big.png", "image/png", append([]byte(aPNG), make([]byte, 4_000_000-len(aPNG))...)),
			media("wide.png", "image/png", wide.Bytes()), media("a.svg", "image/svg+xml", []byte("<svg/>")),
			media("a.wav", "audio/wav", []byte("RIFF\x00\x00\x00\x00WAVEfmt ")),
			media("x.png", "image/png", []byte(aPNG+"x")), media("y.png", "image/png", []byte(aPNG+"y")),
		}}
	}
	b := newBench(t, tools{"draw": draw, "odd": odd})
	m := scriptedModel(calls(call("draw", `{}`)), calls(call("odd", `{}`)), says("Seen."))
	m.info.Can.Vision = true
	b.say(m)
	var pictures []string
	said := ""
	for _, message := range m.requests[2].Messages {
		for _, p := range message.Parts {
			if p.Result == nil {
				continue
			}
			for _, c := range p.Result.Content {
				if c.Kind == chat.PartMedia {
					pictures = append(pictures, c.Media.Name)
				} else {
					said += c.Text + "\n"
				}
			}
		}
	}
	// wide.png takes a place before it is looked into.
	if got, want := strings.Join(pictures,
		" "), "2.png "+
		"3.png 4.png 5.png 6.png 7.png 8.png 9.png 10.png 11.png 12.png 13.png 14.png 15.png 16.png 17.png 18.png "+
		"x.png y.png"; got != want {
		t.Errorf("sent  %s\nwant %s", got, want)
	}
	for _, want := range []string{
		"[picture 0.png, image/png, 9 bytes: left out, since 20 newer ones are shown]",
		"[picture big.png, image/png, 4000000 bytes: a model can be shown at most 3750000]",
		"[picture wide.png, image/png,", "more than 8000 pixels a side",
		"File a.svg:\n\n<svg/>",
		"[file a.wav, audio/wave, 16 bytes: this model cannot be shown it]",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said in\n%s", want, said)
		}
	}
	if n := len(b.log.Calls()[1].Attachments); n != 6 {
		t.Errorf("%d attachments are on record", n)
	}
}

func TestWhatAFileLosesIsSaidAndKeptWithTheMessage(t *testing.T) {
	b := newBench(t, nil)
	attach := func(name, mime, data string) func(*turn.Request) {
		return func(r *turn.Request) {
			r.Attachments = append(r.Attachments, chat.Part{
				Kind: chat.PartMedia, Media: &chat.Media{MIME: mime, Name: name, Data: []byte(data)},
			})
		}
	}
	notes := func() string {
		said := ""
		for _, e := range b.heard(chat.EventNoted) {
			said += e.Note + "|"
		}
		b.mu.Lock()
		b.events = nil
		b.mu.Unlock()
		return said
	}
	long := strings.Repeat("a line\n", 50_000)
	const cut = "Only the first 256 KiB of the text of long.log are sent; the rest is left out."
	m := scriptedModel(says("ok"), says("ok"), says("ok"), says("ok"))
	b.say(m, attach("long.log", "text/x-log", long), attach("all.yaml", "application/x-yaml", "a: 1"),
		attach("a.png", "image/jpeg", aPNG))
	if got := notes(); got != cut+"|a.png is not shown: the model test/m is not known to see pictures.|" {
		t.Errorf("the person is told %s", got)
	}
	for i, want := range []string{cut, "a.png is not shown: the model test/m is not known to see pictures."} {
		if kept := b.path()[i].Notes; len(kept) != 1 || kept[0].Text != want {
			t.Errorf("with message %d is kept %+v", i+1, kept)
		}
	}
	if kept := b.path()[0].Parts[3].Media; kept.MIME != "image/png" {
		t.Errorf("a PNG is kept as %s", kept.MIME)
	}
	// It is said once.
	b.say(m)
	if got := notes(); got != "" {
		t.Errorf("the next turn says %s", got)
	}
	// Another model sees.
	m.info.ID, m.info.Can.Vision = "sees", true
	b.say(m)
	if sent := m.requests[2].Messages[0].Parts[3].Media; sent == nil || sent.MIME != "image/png" {
		t.Errorf("sent as %+v", sent)
	}
	m.info.ID, m.info.Can.Vision = "m", false
	b.say(m)
	if got := notes(); got != "a.png is not shown: the model test/m is not known to see pictures.|" {
		t.Errorf("to another model, the person is told %s", got)
	}
}

func TestANameOfAFileIsOneLineThatHidesNothing(t *testing.T) {
	b := newBench(t, nil)
	m := scriptedModel(says("ok"))
	b.say(m, func(r *turn.Request) {
		r.Attachments = []chat.Part{
			{Kind: chat.PartMedia, Media: &chat.Media{Name: "new\nline\u202etxt.exe", Data: []byte("x")}},
		}
	})
	if got := m.requests[0].Messages[0].Parts[1].Text; got != "File new\\nline\\u{202e}txt.exe:\n\nx" {
		t.Errorf("the model is told %q", got)
	}
	media, err := turn.NewAttachment("a\r\nb\u200b.txt", []byte("x"))
	if must(t, err); media.Name != `a\r\nb\u{200b}.txt` {
		t.Errorf("attached as %q", media.Name)
	}
}
