package host_test

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/plugin/plugintest"
)

func TestLF37MediaAreWhatTheirBytesAre(t *testing.T) {
	const pngBytes = "\x89PNG\r\n\x1a\n0000"
	block := func(kind, mime, name, data string) map[string]any {
		text := base64.StdEncoding.EncodeToString([]byte(data))
		if kind == "resource" {
			return map[string]any{"type": kind, "resource": map[string]any{"uri": name, "mimeType": mime, "blob": text}}
		}
		return map[string]any{"type": kind, "mimeType": mime, "name": name, "data": text}
	}
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		content, err := json.Marshal([]any{
			block("image", "image/png", "a.png", pngBytes),
			block("image", "image/jpeg", "b.jpg", pngBytes),        // it is a PNG
			block("image", "image/png", "c.png", "no picture"),     // it is none
			block("image", "", "", pngBytes),                       // it does not say
			block("audio", "audio/wav; rate=1", "d.wav", "RIFF00"), // parameters
			block("resource", "application/x-sheet", "file:///home/x/report.sheet", "bytes"),
			block("resource", "", "conclave://result", "bytes\x00"),
			block("resource", "text/html\x1b]0;mine\a", "x://e", "bytes\x00"), // a terminal would obey it
			block("resource", "x/"+strings.Repeat("y", 1000), "x://f", "bytes\x00"),
			map[string]any{"type": "resource", "resource": map[string]any{"uri": "x://y", "text": "a text"}},
			map[string]any{"type": "resource_link", "uri": "https://example.org/z.png", "name": "z"},
			map[string]any{"type": "of-tomorrow", "text": "?"},
		})
		must(t, err)
		f.Serve("a.py",
			plugintest.Script{Tools: []plugintest.Tool{{Name: "draw", Do: plugintest.Shows, Text: string(content)}}})
		r := f.Freeze("a:draw").Call(t.Context(), "{}")
		var got []string
		for _, p := range r.Content {
			if p.Kind == chat.PartMedia {
				got = append(got, p.Media.MIME+" "+p.Media.Name)
			} else {
				got = append(got, "text "+p.Text)
			}
		}
		want := "image/png a.png|image/png b.jpg|application/octet-stream c.png|image/png |audio/wav " +
			"d.wav|application/x-sheet report.sheet|text/plain |application/octet-stream e|application/octet-stream f|" +
			"text a text|text z: https://example.org/z.png"
		if got := strings.Join(got, "|"); r.Status != chat.CallOK || got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestWhatAPluginTellsThePersonBeginsWithItsID(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		const words = "The store is damaged: run conclave restore /tmp/copy.db"
		f.Serve("a.py", plugintest.Script{Tools: []plugintest.Tool{{Name: "tell", Do: plugintest.Tells, Text: words}}})
		if got := f.Freeze("a:tell").Call(t.Context(), "{}").Notes; !slices.Equal(got, []string{"a: " + words}) {
			t.Errorf("the person is told %q", got)
		}
	})
}
