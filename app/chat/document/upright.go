package document

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"sync"
)

// maxTurned is the most pixels of a picture that is turned: phones make 12 megapixels, and
// a hostile file of twice as many takes 300 MB and a second.
const maxTurned = 25_000_000

// turning is held while a picture is turned, so that the memory for it is needed once.
var turning sync.Mutex

// upright returns a picture as a person sees it. Cameras note in a JPEG how it was held,
// and servers of models that do not look at that note see the picture lying. Not ok: it
// has too many pixels to be turned, and is returned as it is.
func upright(data []byte) (turned []byte, ok bool) {
	how := orientation(data)
	if how < 2 || how > 8 {
		return data, true
	}
	size, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return data, true // whoever is shown it says what is wrong
	}
	if size.Width*size.Height > maxTurned {
		return data, false
	}
	turning.Lock()
	defer turning.Unlock()
	lying, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return data, true
	}
	// Quality falls until the picture fits where the one before did.
	for quality := 90; quality >= 50; quality -= 20 {
		var out bytes.Buffer
		if jpeg.Encode(&out, turn(lying, how), &jpeg.Options{Quality: quality}) != nil {
			break
		}
		if out.Len() <= MaxPicture {
			return out.Bytes(), true
		}
	}
	return data, true
}

// turn returns a picture turned and mirrored as a note of EXIF says (2 to 8).
func turn(lying image.Image, how int) image.Image {
	b := lying.Bounds()
	w, h := b.Dx(), b.Dy()
	if how >= 5 {
		w, h = h, w
	}
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			fx, fy := x, y // where the pixel lies before the turn
			switch how {
			case 2:
				fx = w - 1 - x
			case 3:
				fx, fy = w-1-x, h-1-y
			case 4:
				fy = h - 1 - y
			case 5:
				fx, fy = y, x
			case 6:
				fx, fy = y, w-1-x
			case 7:
				fx, fy = h-1-y, w-1-x
			case 8:
				fx, fy = h-1-y, x
			}
			fx, fy = fx+b.Min.X, fy+b.Min.Y
			var r, g, bl uint8
			if p, ok := lying.(*image.YCbCr); ok { // as most are; without an allocation for each pixel
				c := p.YCbCrAt(fx, fy)
				r, g, bl = color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
			} else {
				c := color.RGBAModel.Convert(lying.At(fx, fy)).(color.RGBA)
				r, g, bl = c.R, c.G, c.B
			}
			i := out.PixOffset(x, y)
			out.Pix[i], out.Pix[i+1], out.Pix[i+2], out.Pix[i+3] = r, g, bl, 0xff
		}
	}
	return out
}

// orientation returns how a JPEG was held, from 1 for upright to 8, as its EXIF data say
// (CIPA DC-008, 4.6.5), or 0 where they do not.
func orientation(data []byte) int {
	if !bytes.HasPrefix(data, []byte("\xff\xd8")) {
		return 0
	}
	for data = data[2:]; len(data) >= 4 && data[0] == 0xff; {
		if data[1] == 0xff { // filling
			data = data[1:]
			continue
		}
		length := int(binary.BigEndian.Uint16(data[2:]))
		if data[1] == 0xda || length < 2 || len(data) < 2+length { // the picture itself
			return 0
		}
		if exif, ok := bytes.CutPrefix(data[4:2+length], []byte("Exif\x00\x00")); ok && data[1] == 0xe1 {
			return orientationIn(exif)
		}
		data = data[2+length:]
	}
	return 0
}

// orientationIn reads the first directory of the TIFF structure that EXIF data are.
func orientationIn(exif []byte) int {
	if len(exif) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(exif[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(exif[4:]))
	if at+2 > int64(len(exif)) {
		return 0
	}
	entries := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(entries) < 12 {
			return 0
		}
		const tag, short = 0x0112, 3
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == short {
			return int(order.Uint16(entries[8:]))
		}
		entries = entries[12:]
	}
	return 0
}
