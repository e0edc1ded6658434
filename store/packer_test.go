package store

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestWhatRequestsShareIsPackedOnceAndEachIsReadWhole(t *testing.T) {
	var p packer
	at := time.Unix(1, 2)
	check := func(want string, last bool, body ...string) {
		t.Helper()
		pieces := make([][]byte, len(body))
		for i, piece := range body {
			pieces[i] = []byte(piece)
		}
		packed, err := p.pack(sentRequest{at: at, body: pieces}, last)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed[timeLength:])))
		if err != nil || string(got) != want || !bytes.Equal(packed[:timeLength], timeKey(at)) {
			t.Errorf("%d bytes are read, %v; want %d", len(got), err, len(want))
		}
	}
	var long strings.Builder
	for i := range sharedFrom / 4 {
		fmt.Fprint(&long, i, " words ")
	}
	first := long.String()
	check("short", false, "short")
	check(first+"end", false, first, "end")
	check(first+"end", false, first, "end")
	check(first+"more, other end", false, first+"more", ", other end")
	check("another chat", false, "another ", "chat")
	check(first+"more and more", false, first+"more", " and more")
	check(first, false, first)
	check("0"+first+"x", false, "0"+first, "x")
	check("0"+first+"y", true, "0"+first, "y")
	if p.begun != nil || p.first != nil || p.packed.Len() > 0 {
		t.Error("what the requests of a turn share is not forgotten with its last one")
	}
	check(first+"x", true, first, "x")
	check(first+"y", false, first, "y")
}
