package document

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/pattern"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// sampled is the number of bytes of a file an encoding is guessed from.
const sampled = 64 << 10

// utf8Name is the encoding that needs no mention.
const utf8Name = "UTF-8"

var (
	littleUTF16 = utf.UTF16(utf.LittleEndian, utf.IgnoreBOM)
	bigUTF16    = utf.UTF16(utf.BigEndian, utf.IgnoreBOM)
)

// marks are the byte order marks, the longer ones first.
var marks = []struct {
	mark, name string
	encoding   encoding.Encoding
}{
	{"\xff\xfe\x00\x00", "UTF-32", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)},
	{"\x00\x00\xfe\xff", "UTF-32", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)},
	{"\x84\x31\x95\x33", "GB18030", simplifiedchinese.GB18030},
	{"\xef\xbb\xbf", utf8Name, utf.UTF8},
	{"\xff\xfe", "UTF-16", littleUTF16},
	{"\xfe\xff", "UTF-16", bigUTF16},
}

// decode returns at most about most bytes of a file's text as UTF-8, the name of the
// encoding it was in, and whether there is more. Not ok: the bytes are no text.
//
// A byte order mark decides, then what the file says of itself, then a guess from
// which characters an encoding would make of it.
func decode(data []byte, most int) (text, name string, cut, ok bool) {
	e, name, skip := encodingOf(data)
	if e == nil {
		return "", "", false, false
	}
	data = data[skip:]
	// No encoding of these needs more than four bytes for what UTF-8 says in one.
	if raw := 4 * most; len(data) > raw {
		data, cut = data[:raw], true
	}
	decoded, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return "", "", false, false
	}
	if len(decoded) > most {
		end := most
		for end > 0 && !utf8.RuneStart(decoded[end]) {
			end--
		}
		decoded, cut = decoded[:end], true
	} else if cut { // the cut may lie within a character
		decoded = bytes.TrimRight(decoded, "\uFFFD")
	}
	return string(decoded), name, cut, true
}

// encodingOf returns the encoding of a text, its name, and the length of its byte order
// mark; nil where the bytes are no text.
func encodingOf(data []byte) (e encoding.Encoding, name string, skip int) {
	for _, m := range marks {
		if bytes.HasPrefix(data, []byte(m.mark)) {
			return m.encoding, m.name, len(m.mark)
		}
	}
	if bytes.IndexByte(data, 0) >= 0 {
		if e := unmarkedUTF16(data); e != nil {
			return e, "UTF-16", 0
		}
		return nil, "", 0
	}
	sample := data[:min(len(data), sampled)]
	if tooManyControls(sample) {
		return nil, "", 0
	}
	if utf8.Valid(data) {
		if e := iso2022(sample); e != nil {
			return e, "ISO-2022-JP", 0
		}
		return utf.UTF8, utf8Name, 0
	}
	if e, name := declared(data, sample); e != nil {
		return e, name, 0
	}
	if nearlyUTF8(sample) {
		return utf.UTF8, utf8Name, 0
	}
	e, name = guess(sample)
	return e, name, 0
}

// tooManyControls reports whether bytes hold more control characters than any text does.
func tooManyControls(sample []byte) bool {
	n := 0
	for _, c := range sample {
		switch {
		case c == 0x7f, c < 0x20 && !bytes.ContainsRune([]byte("\a\b\t\n\v\f\r\x1a\x1b"), rune(c)):
			n++
		}
	}
	return n > 2 && n > len(sample)/50
}

// unmarkedUTF16 returns the encoding of UTF-16 without a byte order mark, or nil: the
// zero bytes are at even places, or at odd ones, and every character can be printed.
func unmarkedUTF16(data []byte) encoding.Encoding {
	sample := data[:min(len(data), sampled)&^1]
	var zero [2]int
	for i, c := range sample {
		if c == 0 {
			zero[i%2]++
		}
	}
	var order binary.ByteOrder = binary.LittleEndian
	e := littleUTF16
	switch {
	case len(data)%2 != 0 || zero[0] == zero[1]:
		return nil
	case zero[0] > zero[1]:
		order, e = binary.BigEndian, bigUTF16
	}
	for i := 0; i < len(sample); i += 2 {
		r := rune(order.Uint16(sample[i:]))
		if surrogate := r >= 0xd800 && r < 0xe000; !surrogate && !unicode.IsGraphic(r) &&
			!strings.ContainsRune("\t\n\v\f\r\u200b\u200d\ufeff", r) {
			return nil
		}
	}
	return e
}

// iso2022 returns the encoding of old Japanese mail, which is ASCII with escapes, or nil.
func iso2022(sample []byte) encoding.Encoding {
	if !bytes.Contains(sample, []byte("\x1b$B")) && !bytes.Contains(sample, []byte("\x1b$@")) {
		return nil
	}
	if text, err := japanese.ISO2022JP.NewDecoder().Bytes(sample); err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return nil
	}
	return japanese.ISO2022JP
}

// declares finds what XML, HTML, CSS, Python and Emacs files say of their encoding.
// It is compiled when the first text is read: this package is part of the start of each plugin.
var declares = pattern.Lazy(`(?i)(?:encoding|charset|coding)\s*[=:]?\s*["']?([a-z0-9][a-z0-9_.:-]{2,30})`)

// declared returns the encoding that a text names at its beginning, where the text is in it.
func declared(data, sample []byte) (encoding.Encoding, string) {
	found := declares().FindSubmatch(data[:min(len(data), 1024)])
	if found == nil {
		return nil, ""
	}
	e, err := htmlindex.Get(string(found[1]))
	if err != nil {
		return nil, ""
	}
	name, err := htmlindex.Name(e)
	if err != nil || name == "replacement" || strings.HasPrefix(name, "utf-") || broken(e, sample) > 0 {
		return nil, ""
	}
	return e, name
}

// broken counts the characters that an encoding cannot make of a sample. The last bytes
// may be half a character.
func broken(e encoding.Encoding, sample []byte) int {
	text, err := e.NewDecoder().Bytes(sample)
	if err != nil {
		return len(sample)
	}
	if len(sample) == sampled {
		text = bytes.TrimRight(text, "\uFFFD")
	}
	return bytes.Count(text, []byte("\uFFFD"))
}

// nearlyUTF8 reports whether some bytes of UTF-8 are damaged, and most are not.
func nearlyUTF8(sample []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(sample); {
		r, size := utf8.DecodeRune(sample[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			if len(sample)-i >= utf8.UTFMax || len(sample) < sampled {
				bad++
			}
		case size > 1:
			good++
		}
		i += size
	}
	return good > 0 && good >= 4*bad
}

// The encodings that are guessed. Where two fit alike, the first counts.
var (
	single = []guessed{
		{"windows-1252", charmap.Windows1252, nil, "éèêàáâíîóôúûñçäöüßåæøëï", 0.5},
		{"windows-1250", charmap.Windows1250, nil, "ąćęłńóśźżčěřšžýáíéůúőűşţăâî", 0.35},
		{"windows-1251", charmap.Windows1251, nil, "оеаинтсрвлкмдпуя", 0.5},
		{"KOI8-R", charmap.KOI8R, nil, "оеаинтсрвлкмдпуя", 0.5},
		{"windows-1253", charmap.Windows1253, nil, "αοιετσνηυρπκμλςόάίέή", 0.5},
		{"windows-1255", charmap.Windows1255, nil, "יוהלאמרבתשנםעדק", 0.5},
		{"windows-1256", charmap.Windows1256, nil, "", 0.5},
		{"windows-874", charmap.Windows874, nil, "", 0.5},
	}
	double = []guessed{
		{"GB18030", simplifiedchinese.GB18030, gb, "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作" +
			"里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日" +
			"文名字价格产品数量合计姓地址电话备注测试内容中文标题", 1},
		{"Shift_JIS", japanese.ShiftJIS, shiftJIS, "日本人年月大中国会出行時分上生者事間名前住所電話東京価格品数", 1},
		{"EUC-JP", japanese.EUCJP, eucJP, "日本人年月大中国会出行時分上生者事間名前住所電話東京価格品数", 1},
		{"EUC-KR", korean.EUCKR, eucKR, "이다는을의에은가로하고지도를사자기인리어나시한대아해서정수부그있스일보들전장원상구주으과와년선국" +
			"동안유제공조만세미비연성치게라계방경양니오영신요위회관무소문여입당용간개생실음체름주소", 1},
		{"Big5", traditionalchinese.Big5, big5, "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作" +
			"裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日" +
			"文名字價格產品數量合計姓地址電話備註測試內容標題", 1},
	}
)

// guessed is an encoding that a text without a mark may be in.
type guessed struct {
	name     string
	encoding encoding.Encoding
	// weigh returns how common a character of two bytes is: 1 for those of daily writing, less
	// than nothing for those that hardly anybody writes. nil has characters of one byte.
	weigh  func(lead, trail byte) float64
	common string  // the most common characters
	more   float64 // what those weigh more
}

// guess returns the encoding that makes the likeliest text of bytes that are not UTF-8.
func guess(sample []byte) (encoding.Encoding, string) {
	best, most := single[0], oneByte(single[0], sample)
	for _, g := range single[1:] {
		if w := oneByte(g, sample); w > most {
			best, most = g, w
		}
	}
	for _, g := range double {
		if w := twoBytes(g, sample); w > most {
			best, most = g, w
		}
	}
	return best.encoding, best.name
}

// never is less than what any text weighs.
const never = -1000

// twoBytes weighs a sample as text of an encoding whose characters have two bytes: the
// mean of its bytes beyond ASCII.
func twoBytes(g guessed, sample []byte) float64 {
	sum, n := 0.0, 0
	decoder := g.encoding.NewDecoder()
	for i := 0; i < len(sample); i++ {
		lead := sample[i]
		if lead < 0x80 {
			continue
		}
		if kana := lead >= 0xa1 && lead <= 0xdf; kana && g.name == "Shift_JIS" {
			sum, n = sum-0.3, n+1 // of half the width, which lists in capitals have, and texts do not
			continue
		}
		if i+1 == len(sample) {
			if len(sample) < sampled { // half a character ends no text
				sum, n = sum-3, n+1
			}
			break
		}
		trail := sample[i+1]
		w := g.weigh(lead, trail)
		if r, err := decoder.Bytes(sample[i : i+2]); err != nil || bytes.ContainsRune(r, utf8.RuneError) {
			if g.name == "GB18030" && trail >= '0' && trail <= '9' && i+4 <= len(sample) { // one of four bytes
				i, n = i+3, n+4
				continue
			}
			w = -3
		} else if bytes.Contains([]byte(g.common), r) {
			w += g.more
		}
		sum, n = sum+2*w, n+2
		i++
	}
	if n == 0 {
		return never
	}
	return sum / float64(n)
}

func within(b, first, last byte) bool { return b >= first && b <= last }

func gb(lead, trail byte) float64 {
	switch {
	case trail < 0xa1 || lead < 0xa1:
		return -0.5 // the supplement
	case within(lead, 0xb0, 0xd7), within(lead, 0xa1, 0xa1), within(lead, 0xa3, 0xa3):
		return 1
	case within(lead, 0xd8, 0xf7):
		return 0.2
	}
	return 0
}

func big5(lead, trail byte) float64 {
	switch {
	case within(lead, 0xa4, 0xc6), within(lead, 0xa1, 0xa1):
		return 1
	case within(lead, 0xc9, 0xf9):
		return 0.2
	}
	return 0
}

func shiftJIS(lead, trail byte) float64 {
	switch {
	case lead == 0x82 && trail >= 0x9f, lead == 0x83 && trail <= 0x96:
		return 1.5 // Kana
	case within(lead, 0x88, 0x97), within(lead, 0x81, 0x82):
		return 1
	case within(lead, 0x98, 0x9f), within(lead, 0xe0, 0xea):
		return 0.2
	}
	return -0.5
}

func eucJP(lead, trail byte) float64 {
	switch {
	case within(lead, 0xa4, 0xa5):
		return 1.5 // Kana
	case within(lead, 0xb0, 0xcf), within(lead, 0xa1, 0xa1), within(lead, 0xa3, 0xa3):
		return 0.9
	case within(lead, 0xd0, 0xf4):
		return 0.2
	}
	return -0.5
}

func eucKR(lead, trail byte) float64 {
	switch {
	case trail < 0xa1 || lead < 0xa1:
		return -0.5 // syllables that hardly any word has
	case within(lead, 0xb0, 0xc8):
		return 1.1
	case within(lead, 0xa1, 0xa3):
		return 1
	}
	return -0.7 // Chinese characters
}

// oneByte weighs a sample as text of an encoding whose characters have one byte: the mean
// of its bytes beyond ASCII. Letters stand with letters of their script, small behind
// large, and marks stand around words, not in them.
func oneByte(g guessed, sample []byte) float64 {
	text, err := g.encoding.NewDecoder().Bytes(sample)
	if err != nil {
		return never
	}
	runes := bytes.Runes(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	sum, n := 0.0, 0
	for i, r := range runes {
		if r < 0x80 {
			continue
		}
		n++
		if strings.ContainsRune(g.common, r) {
			sum += g.more
		}
		before, after := at(i-1), at(i+1)
		switch {
		case r == utf8.RuneError || unicode.IsControl(r):
			sum -= 3
		case unicode.IsLetter(r) && unicode.IsUpper(r) && unicode.IsLower(before):
			sum--
		case unicode.Is(unicode.Latin, r):
			switch {
			case ascii(before) || ascii(after):
				sum++
			case unicode.IsLetter(before) || unicode.IsLetter(after): // two in a row are rare, three rarer
				sum -= 0.3
			}
		case unicode.IsLetter(r) || unicode.IsMark(r):
			switch {
			case ascii(before) || ascii(after):
				sum--
			case alike(r, before) || alike(r, after):
				sum++
			}
		case strings.ContainsRune(usual, r) && before < 0x80 && after < 0x80:
			sum++
		case unicode.IsLetter(before) && unicode.IsLetter(after):
			sum--
		default:
			sum += 0.2
		}
	}
	if n == 0 {
		return never
	}
	return sum / float64(n)
}

// usual are marks beyond ASCII that stand in texts which are ASCII otherwise.
const usual = "“”‘’„«»–—…•€£§©®°±×·½¼²³µ¿¡ªº"

func ascii(r rune) bool { return r < 0x80 && unicode.IsLetter(r) }

// alike reports whether two letters beyond ASCII are of one script.
func alike(r, other rune) bool {
	for _, script := range []*unicode.RangeTable{
		unicode.Cyrillic, unicode.Greek, unicode.Hebrew, unicode.Arabic, unicode.Thai,
	} {
		if unicode.Is(script, r) {
			return unicode.Is(script, other)
		}
	}
	return false
}
