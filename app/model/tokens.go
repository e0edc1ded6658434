package model

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"conclave/app/chat"
)

// Tokens estimates how many tokens a text has: one for four letters, and one for each
// character of a script whose characters are words or syllables. Tokenizers differ by more than the
// estimate is off.
func Tokens(text string) int64 {
	letters, syllables := int64(0), int64(0)
	for text != "" {
		n := latin(text)
		letters += int64(n)
		if text = text[n:]; text == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		if r > unicode.MaxLatin1 && isSyllable(r) {
			syllables++
		} else {
			letters++
		}
	}
	return syllables + (letters+3)/4
}

// latin returns how many bytes of ASCII a text begins with. It looks at eight at once, since it reads whole
// chats.
func latin(text string) int {
	n := 0
	for ; len(text)-n >= 8; n += 8 {
		if b := text[n : n+8]; b[0]|b[1]|b[2]|b[3]|b[4]|b[5]|b[6]|b[7] >= utf8.RuneSelf {
			break
		}
	}
	for n < len(text) && text[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// isSyllable reports whether a character is a word or a syllable. The first two ranges are most of these.
func isSyllable(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FA5 || r >= 0xAC00 && r <= 0xD7A3 ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
}

// leastCut is the smallest request, in tokens, for which a person gets a note that a server read
// only a part.
const leastCut = 2000

// TextTokens estimates how many tokens the texts of a request have, without its tools, which each
// server writes in its own way, and without pictures and thinking.
func TextTokens(r Request) int64 {
	n := Tokens(r.System)
	for _, m := range r.Messages {
		n += messageTokens(m)
	}
	return n
}

func messageTokens(m Message) (n int64) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Kind == chat.PartText:
			n += Tokens(p.Text)
		case p.Call != nil:
			n += Tokens(string(p.Call.Arguments))
		case p.Result != nil:
			n += Tokens(p.Result.Text())
		}
	}
	return n
}

// TextBytes counts the bytes of the texts of a request, which is no longer than its body, and the texts.
func TextBytes(r Request) (bytes, texts int64) {
	add := func(text string) { bytes, texts = bytes+int64(len(text)), texts+1 }
	add(r.System)
	for _, m := range r.Messages {
		for i := range m.Parts {
			p := &m.Parts[i]
			add(p.Text)
			switch {
			case p.Call != nil:
				bytes, texts = bytes+int64(len(p.Call.Arguments)), texts+1
			case p.Result != nil:
				for _, c := range p.Result.Content {
					if c.Kind == chat.PartText {
						add(c.Text)
					}
				}
			}
		}
	}
	return bytes, texts
}

// CutNote returns a sentence for a person where the server says that it read far less than it was
// sent, and "" elsewhere. read is what it says, 0 for nothing; window is how much the model was
// loaded to read, 0 where that is not known. encoded made the request's body, or is nil.
func CutNote(r Request, read, window int64, encoded *Encoded) string {
	bytes, texts := TextBytes(r)
	most := bytes/3 + 2*texts // characters that are a token each have three bytes; a text's last token, and its line
	if most < leastCut || window > 0 && most <= window || window <= 0 && (read == 0 || read*2 >= most) {
		return "" // for sure, without looking at each character of a long chat
	}
	sent := encoded.Tokens(r)
	cut := read > 0 && read*2 < sent // estimates are off by less
	if window > 0 {
		cut = sent > window && (read == 0 || read <= window && read*4 < sent*3)
	}
	if !cut || sent < leastCut {
		return ""
	}
	what := fmt.Sprintf("only %d", read)
	if read == 0 {
		what = fmt.Sprintf("at most %d", window)
	}
	return fmt.Sprintf("The model was sent about %d tokens, and its server let it read %s: it seems to cut what is "+
		"longer, and may have left out the instructions, the tools or the beginning of the chat. Give the model a "+
		"larger context in its server (Ollama: OLLAMA_CONTEXT_LENGTH, or num_ctx), or start a new chat.", sent, what)
}

// PictureTokens is assumed for a picture in a request: vendors count some 85 to 1,600, by its size.
const PictureTokens = 1_000

// PartTokens estimates how many tokens parts of a message take in a request: texts, thinking, calls, results
// and pictures.
func PartTokens(parts []chat.Part) (n int64) {
	for i := range parts {
		switch p := &parts[i]; {
		case p.Kind == chat.PartMedia:
			n += PictureTokens
		case p.Call != nil:
			n += Tokens(p.Call.Tool) + Tokens(string(p.Call.Arguments))
		case p.Result != nil:
			n += PartTokens(p.Result.Content)
		default:
			n += Tokens(p.Text)
		}
	}
	return n
}
