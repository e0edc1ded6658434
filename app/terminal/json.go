package terminal

import (
	"bytes"
	"encoding/json"
	"io"

	"conclave/app/base/jsonobject"
	"conclave/app/tool"
)

// writeJSON writes one value and a line end, without escaping < and >.
func writeJSON(w io.Writer, value any) error { return encodeJSON(w, value, false) }

func encodeJSON(w io.Writer, value any, indented bool) error {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	text := raw.Bytes()
	if indented {
		text = []byte(tool.Indented(text))
	}
	_, err := w.Write(jsonobject.Inert(text))
	return err
}
