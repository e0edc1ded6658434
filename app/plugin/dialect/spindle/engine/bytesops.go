package engine

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/hmac"
	"crypto/sha1" // the platform has it; a plugin decides what for
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"hash"
	"io"
)

// maxInflated bounds what one compressed stream may become: a quarter of a
// plugin's heap, since it is held in the worker besides.
const maxInflated = 16 << 20

// bytesArgs holds the arguments of the operations on bytes (lazy/crypto.js and
// lazy/pipes.js). All bytes travel as base64.
type bytesArgs struct {
	Kind string // of hash, or of compression
	Key  []byte
	Data []byte
}

// bytesAnswer holds their answer.
type bytesAnswer struct {
	Data  []byte `json:"data"`
	Error string `json:"error,omitempty"`
}

// bytesOp hashes, signs and compresses.
func bytesOp(op, text string) string {
	var in bytesArgs
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return toJSON(bytesAnswer{Error: "The bytes cannot be read."})
	}
	data, err := workBytes(op, in)
	if err != nil {
		return toJSON(bytesAnswer{Error: err.Error()})
	}
	return toJSON(bytesAnswer{Data: data})
}

func workBytes(op string, in bytesArgs) ([]byte, error) {
	switch op {
	case "digest", "hmac":
		fresh, ok := hashes[in.Kind]
		if !ok {
			return nil, fmt.Errorf("the hash %q is not known", in.Kind)
		}
		h := fresh()
		if op == "hmac" {
			h = hmac.New(fresh, in.Key)
		}
		h.Write(in.Data) // never fails
		return h.Sum(nil), nil
	case "deflate":
		return deflate(in.Kind, in.Data)
	default:
		return inflate(in.Kind, in.Data)
	}
}

var hashes = map[string]func() hash.Hash{
	"SHA-1": sha1.New, "SHA-256": sha256.New, "SHA-384": sha512.New384, "SHA-512": sha512.New,
}

func deflate(kind string, data []byte) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch kind {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	default:
		w, err = flate.NewWriter(&out, flate.DefaultCompression)
	}
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func inflate(kind string, data []byte) ([]byte, error) {
	in := bytes.NewReader(data)
	var r io.Reader
	var err error
	switch kind {
	case "gzip":
		r, err = gzip.NewReader(in)
	case "deflate":
		r, err = zlib.NewReader(in)
	default:
		r = flate.NewReader(in)
	}
	if err != nil {
		return nil, fmt.Errorf("the data is not %s", kind)
	}
	out, err := io.ReadAll(io.LimitReader(r, maxInflated+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the data is not %s", kind)
	case len(out) > maxInflated:
		return nil, fmt.Errorf("the data becomes larger than %d MB", maxInflated>>20)
	}
	return out, nil
}
