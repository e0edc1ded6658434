package window_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
)

// drawn returns a PNG of one colour.
func drawn(t *testing.T, width, height int) []byte {
	t.Helper()
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			picture.Set(x, y, color.NRGBA{200, 40, 90, 255})
		}
	}
	var out bytes.Buffer
	must(t, png.Encode(&out, picture))
	return out.Bytes()
}

// withText puts words into a PNG, behind its header.
func withText(picture []byte, words string) []byte {
	const header = 8 + 25
	chunk := append([]byte("tEXt"), words...)
	var text bytes.Buffer
	_ = binary.Write(&text, binary.BigEndian, uint32(len(words)))
	text.Write(chunk)
	_ = binary.Write(&text, binary.BigEndian, crc32.ChecksumIEEE(chunk))
	return append(append(bytes.Clone(picture[:header]), text.Bytes()...), picture[header:]...)
}

func TestThePictureOfAMemberIsBoundedAndDrawnAnew(t *testing.T) {
	w := open(t)
	put := func(raw []byte) (string, error) {
		return w.Council.Avatar(base64.StdEncoding.EncodeToString(raw))
	}
	id, err := put(withText(drawn(t, 128, 96), "Place\x00at home"))
	must(t, err)
	kept, err := w.core.Store.Media.Media(t.Context(), id)
	must(t, err)
	size, err := png.DecodeConfig(bytes.NewReader(kept))
	if err != nil || size.Width != 128 || size.Height != 96 || bytes.Contains(kept, []byte("at home")) {
		t.Errorf("kept is %+v, %v, %d bytes", size, err, len(kept))
	}
	full := withText(drawn(t, 8, 8), strings.Repeat("a", limit.Avatar-len(drawn(t, 8, 8))-12))
	if len(full) != limit.Avatar {
		t.Fatalf("the picture has %d bytes", len(full))
	}
	_, err = put(full)
	must(t, err)
	_, err = put(append(full, 0))
	kind(t, "one byte over", err, fault.Invalid, "The picture of a member has more than 128 KiB.")
	for _, size := range [][2]int{{129, 1}, {1, 129}} {
		_, err = put(drawn(t, size[0], size[1]))
		kind(t, "a pixel over", err, fault.Invalid,
			"The picture of a member has more than 128 pixels in one direction.")
	}
	for name, raw := range map[string][]byte{
		"no picture": []byte("<svg onload='x()'/>"), "nothing": nil, "half of one": drawn(t, 64, 64)[:60],
	} {
		_, err = put(raw)
		kind(t, name, err, fault.Invalid, "could not be read")
	}
	_, err = w.Council.Avatar("%%%")
	kind(t, "no base64", err, fault.Invalid, "could not be read")
}
