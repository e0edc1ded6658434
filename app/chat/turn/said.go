package turn

import (
	"iter"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"
)

// said reads the text of an answer that is shown to nobody while it comes. Once it has more than most bytes it reads no
// further, and more is true.
func said(stream iter.Seq2[model.Event, error], most int) (text string, more bool, usage chat.Usage, err error) {
	var b strings.Builder
	for event, err := range stream {
		if err != nil {
			return "", false, usage, err
		}
		switch event.Kind {
		case model.Text:
			b.WriteString(event.Text)
		case model.Moved:
			if event.Text == string(model.Reasoning) {
				b.Reset() // it was thinking
			}
		case model.End:
			usage = event.Usage
		}
		if more = b.Len() > most; more {
			break
		}
	}
	return strings.TrimSpace(strings.ToValidUTF8(b.String(), "")), more, usage, nil
}
