// Command icon draws Conclave's icon: `go run ./build/icon` in the project's
// folder writes every file of it below build.
//
// The mark is an open ring in five parts, a council at its table, and a dot in
// the opening: the person, who has the last word. It is drawn from distances and
// not by a renderer of SVG, so that whoever has Go can draw it again. Sizes up to
// 32 pixels have a mark of their own: without the cuts, larger, and without a
// margin.
package main

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
)

// mark is a drawing of the icon in a square of 1024.
type mark struct {
	margin, corner float64 // of the tile
	ring, stroke   float64 // radius of the ring's middle, and its width
	opening        float64 // degrees from the middle of the opening to each end
	cut            float64 // width of what parts the members; 0 is none
	person         float64 // radius of the dot
}

var (
	large = mark{margin: 64, corner: 212, ring: 264, stroke: 138, opening: 47, cut: 30, person: 86}
	small = mark{margin: 0, corner: 240, ring: 284, stroke: 160, opening: 54, person: 112}
)

const (
	side    = 1024.0
	members = 5
	// lastSmall is the largest size in pixels that is drawn as small.
	lastSmall = 32
)

var (
	tileTop    = color.NRGBA{0x41, 0x80, 0x6d, 0xff}
	tileBottom = color.NRGBA{0x2b, 0x57, 0x4a, 0xff}
	council    = color.NRGBA{0xf6, 0xf3, 0xea, 0xff}
	person     = color.NRGBA{0xf4, 0xb4, 0x55, 0xff}
)

// sizes are those of the icon theme of Linux desktops.
var sizes = []int{16, 22, 24, 32, 48, 64, 96, 128, 256, 512}

// windowsSizes are those of the .ico file.
var windowsSizes = []int{16, 20, 24, 32, 40, 48, 64, 128, 256}

func main() {
	if err := write("build"); err != nil {
		fmt.Fprintln(os.Stderr, "icon:", err)
		os.Exit(1)
	}
}

// write writes all files of the icon below a folder.
func write(folder string) error {
	files, err := draw()
	if err != nil {
		return err
	}
	for name, data := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// draw returns the icon's files by their names below build.
func draw() (map[string][]byte, error) {
	files := map[string][]byte{
		"appicon.svg":       large.svg(),
		"appicon-small.svg": small.svg(),
		"linux/icons/hicolor/scalable/apps/conclave.svg": large.svg(),
	}
	for _, size := range sizes {
		data, err := encode(size)
		if err != nil {
			return nil, err
		}
		files[fmt.Sprintf("linux/icons/hicolor/%dx%d/apps/conclave.png", size, size)] = data
	}
	appicon, err := encode(side) // what Wails makes the .icns of macOS from
	if err != nil {
		return nil, err
	}
	files["appicon.png"] = appicon
	ico, err := windowsIcon()
	if err != nil {
		return nil, err
	}
	files["windows/icon.ico"] = ico
	return files, nil
}

// of returns the mark that is drawn at a size.
func of(size int) mark {
	if size <= lastSmall {
		return small
	}
	return large
}

func encode(size int) ([]byte, error) {
	var b bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	err := encoder.Encode(&b, of(size).image(size))
	return b.Bytes(), err
}

// image draws the mark in a square of size pixels.
func (m mark) image(size int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	scale := side / float64(size)
	for y := range size {
		for x := range size {
			px, py := (float64(x)+0.5)*scale, (float64(y)+0.5)*scale
			img.SetNRGBA(x, y, m.at(px, py, scale))
		}
	}
	return img
}

// at returns the colour of a pixel that is wide units wide around a point.
func (m mark) at(x, y, wide float64) color.NRGBA {
	share := func(distance float64) float64 { return min(max(0.5-distance/wide, 0), 1) }
	c := blend(tileTop, tileBottom, (y-m.margin)/(side-2*m.margin))
	dx, dy := x-side/2, y-side/2
	c = blend(c, council, share(m.councilDistance(dx, dy)))
	c = blend(c, person, share(math.Hypot(dx-m.ring, dy)-m.person))
	c.A = uint8(math.Round(255 * share(m.tileDistance(dx, dy))))
	return c
}

// tileDistance is how far a point, seen from the middle, is outside of the tile;
// negative is inside.
func (m mark) tileDistance(dx, dy float64) float64 {
	inner := side/2 - m.margin - m.corner
	qx, qy := math.Abs(dx)-inner, math.Abs(dy)-inner
	return math.Hypot(max(qx, 0), max(qy, 0)) + min(max(qx, qy), 0) - m.corner
}

// councilDistance is how far a point, seen from the middle, is outside of the
// ring.
func (m mark) councilDistance(dx, dy float64) float64 {
	angle := math.Abs(math.Atan2(dy, dx)) * 180 / math.Pi // both halves are alike
	distance := math.Abs(math.Hypot(dx, dy) - m.ring)
	if angle < m.opening { // beyond an end, which is round
		ex, ey := m.on(m.opening)
		distance = math.Hypot(dx-ex, math.Abs(dy)-ey)
	}
	distance -= m.stroke / 2
	for _, at := range m.cuts() {
		sin, cos := math.Sincos(at * math.Pi / 180)
		if along := dx*cos + dy*sin; along > 0 {
			distance = max(distance, m.cut/2-math.Abs(dx*sin-dy*cos))
		}
	}
	return distance
}

// on returns the point of the ring's middle at an angle in degrees.
func (m mark) on(angle float64) (x, y float64) {
	sin, cos := math.Sincos(angle * math.Pi / 180)
	return m.ring * cos, m.ring * sin
}

// cuts returns the angles at which the ring is cut.
func (m mark) cuts() []float64 {
	if m.cut == 0 {
		return nil
	}
	var angles []float64
	for i := 1; i < members; i++ {
		angles = append(angles, m.opening+float64(i)*(360-2*m.opening)/members)
	}
	return angles
}

// svg writes the same drawing as SVG.
func (m mark) svg() []byte {
	var b bytes.Buffer
	middle, edge := side/2, side-2*m.margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g">`+"\n", side, side)
	fmt.Fprintf(&b,
		`  <linearGradient id="tile" x1="0" y1="0" x2="0" y2="1"><stop stop-color="%s"/><stop offset="1" stop-color="%s"/></linearGradient>`+"\n",
		hex(tileTop), hex(tileBottom))
	masked := ""
	if cuts := m.cuts(); cuts != nil {
		masked = ` mask="url(#seats)"`
		fmt.Fprintf(&b,
			`  <mask id="seats" maskUnits="userSpaceOnUse" x="0" y="0" width="%g" height="%g"><path fill="#fff" d="M0 0H%g V%g H0Z"/><path stroke="#000" stroke-width="%g" d="`,
			side, side, side, side, m.cut)
		for _, at := range cuts {
			x, y := m.on(at)
			fmt.Fprintf(&b, "M%g %g L%.1f %.1f ", middle, middle, middle+2*x, middle+2*y)
		}
		b.WriteString(`"/></mask>` + "\n")
	}
	fmt.Fprintf(&b, `  <rect x="%g" y="%g" width="%g" height="%g" rx="%g" fill="url(#tile)"/>`+"\n", m.margin, m.margin,
		edge, edge, m.corner)
	x, y := m.on(m.opening)
	fmt.Fprintf(&b,
		`  <path d="M%.1f %.1f A%g %g 0 1 1 %.1f %.1f" fill="none" stroke="%s" stroke-width="%g" stroke-linecap="round"%s/>`+"\n",
		middle+x, middle+y, m.ring, m.ring, middle+x, middle-y, hex(council), m.stroke, masked)
	fmt.Fprintf(&b, `  <circle cx="%g" cy="%g" r="%g" fill="%s"/>`+"\n</svg>\n", middle+m.ring, middle, m.person,
		hex(person))
	return b.Bytes()
}

// windowsIcon returns an .ico file that holds a PNG of each size.
func windowsIcon() ([]byte, error) {
	type entry struct {
		Width, Height, Colours, Zero uint8 // 256 is written as 0
		Planes, Bits                 uint16
		Length, Offset               uint32
	}
	var head, pictures bytes.Buffer
	_ = binary.Write(&head, binary.LittleEndian, [3]uint16{0, 1, uint16(len(windowsSizes))})
	offset := 6 + 16*len(windowsSizes)
	for _, size := range windowsSizes {
		data, err := encode(size)
		if err != nil {
			return nil, err
		}
		e := entry{
			Width: uint8(size % 256), Height: uint8(size % 256), Planes: 1, Bits: 32, Length: uint32(len(data)),
			Offset: uint32(offset + pictures.Len()),
		}
		_ = binary.Write(&head, binary.LittleEndian, e)
		pictures.Write(data)
	}
	return append(head.Bytes(), pictures.Bytes()...), nil
}

// blend mixes a share of b into a, whose transparency stays.
func blend(a, b color.NRGBA, share float64) color.NRGBA {
	share = min(max(share, 0), 1)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), cmp.Or(a.A, 255)}
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }
