package store

import (
	"bytes"
	"compress/flate"
	"sync"
)

// sharedFrom is the length in bytes from which the beginning of a request is packed once for all
// requests that share it. Below it a second compressor costs more.
const sharedFrom = 64 << 10

// packer makes the records of requests. Those of a turn begin alike: the first piece of one begins with that
// of the one before it. It is packed once, as its own blocks of DEFLATE, and each record is these
// blocks and those of the rest. The zero value is ready. It is safe for concurrent use.
type packer struct {
	mu     sync.Mutex // guards the fields below
	begun  []byte     // the first piece that is packed; nil for none
	packed bytes.Buffer
	first  *flate.Writer // into packed; nil before the first
	rest   *flate.Writer
}

// pack returns the record of a request. last forgets what the next one could share.
func (p *packer) pack(r sentRequest, last bool) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last {
		defer func() { p.begun, p.packed, p.first, p.rest = nil, bytes.Buffer{}, nil, nil }()
	}
	out := bytes.NewBuffer(timeKey(r.at))
	body := r.body
	if shares := len(body) > 1 && len(body[0]) >= sharedFrom; shares && (!last || p.begun != nil) {
		if err := p.begin(body[0]); err != nil {
			return nil, err
		}
		_, _ = out.Write(p.packed.Bytes()) // it does not fail
		body = body[1:]
	}
	if err := reset(&p.rest, out); err != nil {
		return nil, err
	}
	for _, piece := range body {
		if _, err := p.rest.Write(piece); err != nil {
			return nil, err
		}
	}
	err := p.rest.Close()
	return out.Bytes(), err
}

// begin packs the first piece of a request, as far as that of the one before it does not do.
func (p *packer) begin(first []byte) error {
	if p.begun == nil || !bytes.HasPrefix(first, p.begun) {
		p.begun = nil
		p.packed.Reset()
		if err := reset(&p.first, &p.packed); err != nil {
			return err
		}
	}
	if len(first) == len(p.begun) {
		return nil
	}
	if _, err := p.first.Write(first[len(p.begun):]); err != nil {
		return err
	}
	p.begun = first
	return p.first.Flush() // to the end of a byte, so that blocks of another writer may follow
}

// reset has a compressor write to out, and makes it if there is none.
func reset(w **flate.Writer, out *bytes.Buffer) (err error) {
	if *w == nil {
		*w, err = flate.NewWriter(out, flate.BestSpeed)
		return err
	}
	(*w).Reset(out)
	return nil
}

// length returns the length of a body in pieces.
func length(body [][]byte) int {
	n := 0
	for _, piece := range body {
		n += len(piece)
	}
	return n
}
