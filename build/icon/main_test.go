package main

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/test/testkit"
)

var must = testkit.Must

// The files below build are those that are drawn now. Pictures are compared by
// their pixels: how they are compressed is the Go version's affair.
func TestTheIconsAreThoseThatAreDrawn(t *testing.T) {
	files, err := draw()
	must(t, err)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Errorf("%v; run go run ./build/icon", err)
			continue
		}
		same := bytes.Equal(got, want)
		switch path.Ext(name) {
		case ".png":
			same = samePixels(t, got, want)
		case ".ico":
			same = slices.EqualFunc(pictures(t, got), pictures(t, want), func(a, b []byte) bool { return samePixels(t, a, b) })
		}
		if !same {
			t.Errorf("build/%s is another drawing; run go run ./build/icon", name)
		}
	}
}

// Each picture has the size that its name or entry says, reaches its edges or
// keeps its margin, and can be told from a light and from a dark ground.
func TestTheIconIsReadableAtEverySize(t *testing.T) {
	for _, size := range append(slices.Clone(windowsSizes), sizes...) {
		data, err := encode(size)
		must(t, err)
		img := decode(t, data)
		if b := img.Bounds(); b.Dx() != size || b.Dy() != size {
			t.Errorf("%d pixels: it is %v", size, b)
		}
		middle := img.NRGBAAt(size/2, size/2)
		if middle.A != 255 {
			t.Errorf("%d pixels: the middle is %v, and lets the ground through", size, middle)
		}
		if corner := img.NRGBAAt(0, 0); corner.A > 128 {
			t.Errorf("%d pixels: the corner is %v, and not round", size, corner)
		}
		var pale, warm, green int
		for y := range size {
			for x := range size {
				switch c := img.NRGBAAt(x, y); {
				case c == council:
					pale++
				case c == person:
					warm++
				case c.A == 255 && c.G > c.R:
					green++
				}
			}
		}
		// Full colours, not the half tones of edges: that is what an eye sees.
		if whole := size * size; pale*10 < whole || warm*100 < whole || green*4 < whole {
			t.Errorf("%d pixels: %d are of the council, %d of the person, %d of the tile", size, pale, warm, green)
		}
	}
}

// The file that Windows reads has a picture for each size of its bars.
func TestTheFileOfWindowsHoldsItsSizes(t *testing.T) {
	data, err := os.ReadFile("../windows/icon.ico")
	must(t, err)
	var found []int
	for _, picture := range pictures(t, data) {
		found = append(found, decode(t, picture).Bounds().Dx())
	}
	if !slices.Equal(found, windowsSizes) {
		t.Errorf("icon.ico holds %v, want %v", found, windowsSizes)
	}
	for _, name := range []string{"../appicon.svg", "../appicon-small.svg"} {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), `viewBox="0 0 1024 1024"`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pictures returns the PNG files in an .ico file.
func pictures(t *testing.T, ico []byte) [][]byte {
	t.Helper()
	if len(ico) < 6 {
		t.Fatalf("an .ico file of %d bytes", len(ico))
	}
	var found [][]byte
	for i := range int(binary.LittleEndian.Uint16(ico[4:])) {
		entry := ico[6+16*i:]
		length, offset := binary.LittleEndian.Uint32(entry[8:]), binary.LittleEndian.Uint32(entry[12:])
		found = append(found, ico[offset:offset+length])
	}
	return found
}

func samePixels(t *testing.T, a, b []byte) bool {
	t.Helper()
	one, two := decode(t, a), decode(t, b)
	return one.Bounds() == two.Bounds() && bytes.Equal(one.Pix, two.Pix)
}

func decode(t *testing.T, data []byte) *image.NRGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	must(t, err)
	nrgba, ok := img.(*image.NRGBA)
	if !ok {
		t.Fatalf("a picture of %T", img)
	}
	return nrgba
}
