// Command patches records what app/chat/render sends the window while a reply streams:
// it reads Markdown and writes {"text","chunk","deltas":[{"patches":[…]}]}, which
// frontend/bench streams into the window's page.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	"conclave/app/chat/render"
)

type delta struct {
	Patches []patch `json:"patches"`
}

// patch is a render.Patch as the window gets it: without the beginning that it has.
type patch struct {
	Block int    `json:"block"`
	HTML  string `json:"html"`
	Keep  int    `json:"keep"` // UTF-16 units
	Done  bool   `json:"done"`
}

type recording struct {
	Text   string  `json:"text"`
	Chunk  int     `json:"chunk"` // characters of a delta
	Deltas []delta `json:"deltas"`
}

func main() {
	chunk := flag.Int("chunk", 24, "characters of a delta")
	flag.Parse()
	if err := run(os.Stdin, os.Stdout, max(1, *chunk)); err != nil {
		fmt.Fprintln(os.Stderr, "patches:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer, chunk int) error {
	raw, err := io.ReadAll(in)
	if err != nil {
		return fmt.Errorf("read the reply: %w", err)
	}
	return json.NewEncoder(out).Encode(record(string(raw), chunk))
}

// record streams text in pieces of chunk characters and keeps what each changed.
func record(text string, chunk int) recording {
	r := recording{Text: text, Chunk: chunk}
	var s render.Stream
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(chunk, len(runes))
		s.Append(string(runes[:n]))
		runes = runes[n:]
		if len(runes) == 0 {
			s.Finish()
		}
		d := delta{Patches: []patch{}}
		for _, p := range s.Patches() {
			d.Patches = append(d.Patches, patch{p.Block, p.HTML[p.Same:], p.SameUTF16, p.Done})
		}
		r.Deltas = append(r.Deltas, d)
	}
	return r
}
