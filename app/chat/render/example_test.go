package render_test

import (
	"fmt"
	"strings"

	"conclave/app/chat/render"
)

// A streamed reply is appended as it arrives. Patches returns what changed since the last frame.
func ExampleStream() {
	var s render.Stream
	for _, delta := range []string{"# Hel", "lo\n\nSome *wor", "ds*"} {
		s.Append(delta)
		for _, p := range s.Patches() {
			fmt.Println(p.Block, p.Done, strings.TrimSpace(p.HTML))
		}
	}
	s.Finish()
	for _, p := range s.Patches() {
		fmt.Println(p.Block, p.Done, strings.TrimSpace(p.HTML))
	}
	// Output:
	// 0 false <h3>Hel</h3>
	// 0 true <h3>Hello</h3>
	// 1 false <p>Some *wor</p>
	// 1 false <p>Some <em>words</em></p>
	// 1 true <p>Some <em>words</em></p>
}
