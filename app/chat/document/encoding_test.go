package document

import (
	"bytes"
	"crypto/sha256"
	"os"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// texts are short texts as people have them in files, by language.
var texts = map[string][]string{
	"ja": {
		"品名,価格\nりんご,42\n", "名前,住所\n山田太郎,東京都千代田区\n", "こんにちは", "これはテストです。設定ファイルを確認してください。",
		"商品コード,数量\r\nA1,3\r\n", "日本語",
	},
	"zh": {
		"品名,价格\n苹果,42\n", "你好", "中文测试", "姓名,地址\n张三,北京市海淀区\n", "这是一个测试文件，里面有中文内容。", "# 配置\nname = 测试\n",
		"欢迎使用本软件！请先阅读说明书，然后再进行安装。",
	},
	"zh-TW": {"品名,價格\n蘋果,42\n", "你好", "這是一個測試檔案，裡面有中文內容。", "姓名,地址\n張三,台北市\n", "歡迎使用本軟體！請先閱讀說明書。"},
	"ko":    {"안녕하세요", "이름,주소\n홍길동,서울시\n", "이것은 한국어 텍스트 파일입니다.", "품명,가격\n사과,42\n", "테스트"},
	"latin": {
		"Müller,3 €\nGröße,5\n", "Café, señor, façade – “quoted”", "naïve", "Où est-ce ? À côté de l’hôtel.", "10 °C",
		"El niño comió piña; ¿qué?", "Ærø, Ålesund, Øresund", "price: £5\n", "é", "MÜLLER STRASSE", "Prénom;Été",
	},
	"pl": {"Zażółć gęślą jaźń", "książka, łódź, święto"},
	"ru": {"Привет, мир", "Имя,Адрес\nИван,Москва\n", "Это обычный текст. В нём несколько слов."},
	"el": {"Καλημέρα κόσμε", "Όνομα, Διεύθυνση"},
	"he": {"שלום עולם"},
	"th": {"สวัสดีชาวโลก"},
}

func TestTheEncodingOfATextIsFoundInItsBytes(t *testing.T) {
	for _, c := range []struct {
		name     string
		encoding encoding.Encoding
		of       string
	}{
		{"Shift_JIS", japanese.ShiftJIS, "ja"},
		{"EUC-JP", japanese.EUCJP, "ja"},
		{"ISO-2022-JP", japanese.ISO2022JP, "ja"},
		{"GB18030", simplifiedchinese.GBK, "zh"},
		{"GB18030", simplifiedchinese.GB18030, "zh"},
		{"Big5", traditionalchinese.Big5, "zh-TW"},
		{"EUC-KR", korean.EUCKR, "ko"},
		{"windows-1252", charmap.Windows1252, "latin"},
		{"windows-1250", charmap.Windows1250, "pl"},
		{"windows-1251", charmap.Windows1251, "ru"},
		{"KOI8-R", charmap.KOI8R, "ru"},
		{"windows-1253", charmap.Windows1253, "el"},
		{"windows-1255", charmap.Windows1255, "he"},
		{"windows-874", charmap.Windows874, "th"},
	} {
		for _, text := range texts[c.of] {
			check(t, c.name, c.encoding, text)
			check(t, c.name, c.encoding, strings.Repeat(text+"\nid = 17; // x\n", 400))
		}
	}
	for _, list := range texts {
		for _, text := range list {
			for name, e := range map[string]encoding.Encoding{
				"UTF-8": utf.UTF8, "UTF-8 ": utf.UTF8BOM,
				"UTF-16": utf.UTF16(utf.LittleEndian, utf.UseBOM), "UTF-16 ": utf.UTF16(utf.BigEndian, utf.UseBOM),
				"UTF-32": utf32.UTF32(utf32.LittleEndian, utf32.UseBOM),
			} {
				check(t, strings.TrimSpace(name), e, text)
			}
			// without a mark it must hold something of ASCII to be told from other bytes
			check(t, "UTF-16", utf.UTF16(utf.LittleEndian, utf.IgnoreBOM), text+"\r\nx = 1\r\n")
			check(t, "UTF-16", utf.UTF16(utf.BigEndian, utf.IgnoreBOM), text+"\r\nx = 1\r\n")
		}
	}
}

func check(t *testing.T, name string, e encoding.Encoding, text string) {
	t.Helper()
	raw, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatalf("%q is not in %s: %v", text, name, err)
	}
	if got, found, cut, ok := decode([]byte(raw), 1<<20); !ok || cut || got != text || found != name {
		t.Errorf("%.60q in %s is read as %s %v: %.60q", text, name, found, ok, got)
	}
}

func TestBytesThatAreNoTextAreNotSent(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	noise := sha256.Sum256(nil)
	var packed []byte // without a zero byte
	for range 100 {
		noise = sha256.Sum256(noise[:])
		packed = append(packed, bytes.ReplaceAll(noise[:], []byte{0}, nil)...)
	}
	for name, data := range map[string]string{
		"a program": string(binary), "what is packed": string(packed), "a zero": "a\x00b",
		"zeros": "\x00\x00\x00\x00", "controls": "\x01\x02\x03\x04\x05 abc",
	} {
		if text, encoding, _, ok := decode([]byte(data), 1<<20); ok {
			t.Errorf("%s is read as %s: %.80q", name, encoding, text)
		}
	}
}

func TestWhatATextSaysOfItsEncodingCounts(t *testing.T) {
	for name, c := range map[string]struct {
		encoding encoding.Encoding
		text     string
	}{
		"xml":    {charmap.ISO8859_2, `<?xml version="1.0" encoding="ISO-8859-2"?><a>žluťoučký kůň</a>`},
		"html":   {charmap.Windows1251, `<html><meta charset=windows-1251><p>Ы</p>`},
		"python": {japanese.EUCJP, "# -*- coding: euc-jp -*-\nx = '字'\n"},
	} {
		raw, err := c.encoding.NewEncoder().String(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _, ok := decode([]byte(raw), 1<<20); !ok || got != c.text {
			t.Errorf("%s: %q", name, got)
		}
	}
	// One that is not true does not.
	lie := []byte("# coding: shift_jis\n# Gr\xfc\xdfe an M\xfcller\n")
	if got, encoding, _, _ := decode(lie, 1<<20); !strings.Contains(got, "Grüße") {
		t.Errorf("read as %s: %q", encoding, got)
	}
}

func TestATextIsCutBetweenTwoCharacters(t *testing.T) {
	long := strings.Repeat("りんごを食べる。", 4000)
	for _, e := range []encoding.Encoding{utf.UTF8, japanese.ShiftJIS, utf.UTF16(utf.LittleEndian, utf.UseBOM)} {
		raw, err := e.NewEncoder().Bytes([]byte(long))
		if err != nil {
			t.Fatal(err)
		}
		for most := 3000; most < 3006; most++ {
			got, _, cut, ok := decode(raw, most)
			if !ok || !cut || len(got) > most || len(got) < most-3 || !strings.HasPrefix(long, got) {
				t.Errorf("%v cut at %d: %d bytes, %v, ends %q", e, most, len(got), cut, got[max(0, len(got)-9):])
			}
		}
	}
	damaged := strings.Repeat("größer ", 100) + "\xff" + strings.Repeat("größer ", 100)
	if got, encoding, _, ok := decode([]byte(damaged), 1<<20); !ok || encoding != "UTF-8" ||
		!strings.Contains(got, "größer \uFFFDgrößer") {
		t.Errorf("one damaged byte in UTF-8: %s, %.80q", encoding, got)
	}
}
