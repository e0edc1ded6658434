package search

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/maphash"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"conclave/app/chat"
)

// file is the file of an index: a line that names its form and the history that it follows, and
// frames, each of which adds entries. Nothing is written over: a later entry of a message replaces
// an earlier one. The first frame that is not whole ends the file, so no write has to be waited for.
//
//	frame: size of the entries uint32, CRC-32C of what follows uint32, change uint64, entries
//	entry: size of what follows uint32, role byte, created int64, seq uint64, words uint32,
//	       size of the id uint16, id, text
//
// Numbers are little-endian. The change is the one up to which the file knows all.
type file struct {
	*os.File
	frames  []frame
	size    int64 // of what is whole
	done    uint64
	entries int
	words   int
	newest  map[uint64]int64 // the place of the newest entry of a message, by key
	old     map[int64]bool   // the places of the other entries of messages
	gone    map[string]int64 // the place of the entry that says that a conversation is gone
	seed    maphash.Seed
}

// frame is a part of a file with entries.
type frame struct {
	at   int64 // where its entries begin
	size int
}

// entry is a message or a title as it is searched.
type entry struct {
	role    byte // an index of roles
	created int64
	seq     chat.MessageSeq
	words   int
	id      []byte
	text    []byte // its words, see foldText
}

// change is an entry and the change of the store that it came from.
type change struct {
	entry
	n uint64
}

// The roles of entries. What is gone has no text.
var roles = []chat.Role{"title", "gone", chat.RoleUser, chat.RoleAssistant, chat.RoleSystem, chat.RoleTool, "other"}

const (
	roleTitle = 0
	roleGone  = 1
)

const (
	frameHead = 16
	entryHead = 27 // with its own size
	// frameSize is from how many bytes of entries on a frame is written: what a search reads at once.
	frameSize = 1 << 20
	// maxFrame bounds a frame, in bytes: the last entry of one may be a text of maxText whose letters come
	// apart into eleven times as many bytes.
	maxFrame = 16 << 20
)

var table = crc32.MakeTable(crc32.Castagnoli)

// errBroken marks an index whose file is damaged.
var errBroken = errors.New("the search index is broken")

// header begins a file of this form. A change of words.go or of what is indexed needs another form.
func header(lineage string) string { return "conclave search 2 " + lineage + "\n" }

// createFile makes an empty file in place of whatever stands at its folder.
func createFile(path, lineage string) (*file, error) {
	dir := filepath.Dir(path)
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	n, err := f.WriteString(header(lineage))
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return newFile(f, n), nil
}

// newFile is a file that has a header of so many bytes, and no entries.
func newFile(f *os.File, header int) *file {
	return &file{
		File: f, size: int64(header), newest: map[uint64]int64{}, old: map[int64]bool{}, gone: map[string]int64{},
		seed: maphash.MakeSeed(),
	}
}

// errOther says that a file follows another history or has another form.
var errOther = errors.New("it belongs to another store, or to another version of Conclave")

// errNoFile says that a link, a pipe or a folder stands in the place of a file.
var errNoFile = errors.New("it is no file")

// openFile opens a file and reads what it holds, up to the first frame that is not whole.
func openFile(path, lineage string) (*file, error) {
	switch info, err := os.Lstat(path); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNoFile
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	head := header(lineage)
	out := newFile(f, len(head))
	in := bufio.NewReaderSize(f, frameSize)
	first := make([]byte, len(head))
	if _, err := io.ReadFull(in, first); err != nil || string(first) != head {
		return nil, errors.Join(errOther, f.Close())
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	var whole []byte
	for {
		var start [frameHead]byte
		if _, err := io.ReadFull(in, start[:]); err != nil {
			return out, nil // the end, or a cut
		}
		size := int64(binary.LittleEndian.Uint32(start[:]))
		if size > min(maxFrame, info.Size()-out.size-frameHead) {
			return out, nil
		}
		whole = append(slices.Grow(whole[:0], int(size)+8), start[8:]...)[:size+8]
		if _, err := io.ReadFull(in, whole[8:]); err != nil ||
			crc32.Checksum(whole, table) != binary.LittleEndian.Uint32(start[4:]) {
			return out, nil
		}
		if err := out.take(whole); err != nil { // somebody else wrote it
			return nil, errors.Join(err, f.Close())
		}
	}
}

// take adds a frame, from its change on, that stands behind the others.
func (f *file) take(frame []byte) error {
	entries := frame[8:]
	at := f.size + frameHead
	err := eachEntry(entries, func(place int, e entry) { f.learn(at+int64(place), e) })
	f.add(len(entries), binary.LittleEndian.Uint64(frame))
	return err
}

func (f *file) add(size int, done uint64) {
	f.frames = append(f.frames, frame{f.size + frameHead, size})
	f.size += frameHead + int64(size)
	f.done = max(f.done, done)
}

// learn notes the place of an entry.
func (f *file) learn(at int64, e entry) {
	f.entries++
	f.words += e.words
	if e.seq == 0 && e.role == roleGone {
		f.gone[string(e.id)] = at
		return
	}
	key := f.key(e)
	if before, ok := f.newest[key]; ok {
		f.old[before] = true
	}
	f.newest[key] = at
}

// key is a number of the message that an entry is of.
func (f *file) key(e entry) uint64 {
	var h maphash.Hash
	h.SetSeed(f.seed)
	_, _ = h.Write(e.id)
	maphash.WriteComparable(&h, e.seq)
	return h.Sum64()
}

// stands reports whether an entry is the newest of its message, and its conversation is there.
func (f *file) stands(at int64, e entry) bool {
	return e.role != roleGone && !f.old[at] && f.gone[string(e.id)] < at
}

// eachEntry passes the entries of a frame, with their places in it.
func eachEntry(entries []byte, fn func(place int, e entry)) error {
	for place := 0; place < len(entries); {
		rest := entries[place:]
		if len(rest) < entryHead {
			return errBroken
		}
		size, id := int(binary.LittleEndian.Uint32(rest))+4, int(binary.LittleEndian.Uint16(rest[25:]))
		if size < entryHead+id || size > len(rest) || int(rest[4]) >= len(roles) {
			return errBroken
		}
		fn(place, entry{
			role: rest[4], created: int64(binary.LittleEndian.Uint64(rest[5:])),
			seq:   chat.MessageSeq(binary.LittleEndian.Uint64(rest[13:])),
			words: int(binary.LittleEndian.Uint32(rest[21:])),
			id:    rest[entryHead : entryHead+id], text: rest[entryHead+id : size],
		})
		place += size
	}
	return nil
}

// appendEntry writes an entry behind others.
func appendEntry(to []byte, e entry) []byte {
	size := entryHead - 4 + len(e.id) + len(e.text)
	to = binary.LittleEndian.AppendUint32(to, uint32(size))
	to = append(to, e.role)
	to = binary.LittleEndian.AppendUint64(to, uint64(e.created))
	to = binary.LittleEndian.AppendUint64(to, uint64(e.seq))
	to = binary.LittleEndian.AppendUint32(to, uint32(e.words))
	to = binary.LittleEndian.AppendUint16(to, uint16(len(e.id)))
	return append(append(to, e.id...), e.text...)
}

// append writes entries, oldest change first.
func (f *file) append(changes []change) error {
	buf := make([]byte, frameHead, frameHead+frameSize)
	for i, c := range changes {
		buf = appendEntry(buf, c.entry)
		if len(buf) < frameSize && i+1 < len(changes) {
			continue
		}
		if err := f.write(buf, c.n); err != nil {
			return err
		}
		buf = buf[:frameHead]
	}
	return nil
}

// write writes a frame, for whose head buf has room.
func (f *file) write(buf []byte, done uint64) error {
	binary.LittleEndian.PutUint32(buf, uint32(len(buf)-frameHead))
	binary.LittleEndian.PutUint64(buf[8:], done)
	binary.LittleEndian.PutUint32(buf[4:], crc32.Checksum(buf[8:], table))
	if _, err := f.WriteAt(buf, f.size); err != nil {
		return err
	}
	return f.take(buf[8:])
}

// read returns the entries of a frame, in buf where it is large enough.
func (f *file) read(of frame, buf []byte) ([]byte, error) {
	buf = slices.Grow(buf[:0], of.size)[:of.size]
	if _, err := f.ReadAt(buf, of.at); err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return buf, nil
}

// stale reports whether the file holds what is gone, or more old entries than new ones.
func (f *file) stale() bool { return len(f.gone) > 0 || len(f.old) > len(f.newest)+100 }

// compact has the file at path hold only what stands. After an error it goes on as it is.
func (f *file) compact(path, lineage string) error {
	_ = os.Remove(path + ".new") // of a program that was killed
	next, err := os.OpenFile(path+".new", os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	out, err := f.copyTo(next, lineage)
	if err = errors.Join(err, next.Close()); err == nil {
		_ = f.Close() // some systems replace no file that is open
		if err = os.Rename(path+".new", path); err == nil {
			*f = *out
		}
		var closed error
		f.File, closed = os.OpenFile(path, os.O_RDWR, 0)
		err = errors.Join(err, closed)
	}
	if err != nil {
		_ = os.Remove(path + ".new") // it takes room
	}
	return err
}

// copyTo writes what stands into an empty file.
func (f *file) copyTo(next *os.File, lineage string) (*file, error) {
	n, err := next.WriteString(header(lineage))
	out := newFile(next, n)
	var buf, kept []byte
	for i, of := range f.frames {
		if err != nil {
			break
		}
		if buf, err = f.read(of, buf); err != nil {
			break
		}
		kept = append(kept[:0], make([]byte, frameHead)...)
		err = eachEntry(buf, func(place int, e entry) {
			if f.stands(of.at+int64(place), e) {
				kept = appendEntry(kept, e)
			}
		})
		done := uint64(0) // a file that is cut before its end knows nothing
		if i == len(f.frames)-1 {
			done = f.done
		}
		if err == nil {
			err = out.write(kept, done)
		}
	}
	return out, err
}

// worth returns how much a word counts that an entry of so many words has so often: each further
// time less, and less in a long text (BM25 without the rarity of words, since all must be there).
func (f *file) worth(times, words int) float64 {
	mean := float64(f.words) / float64(max(f.entries, 1))
	const k, b = 1.2, 0.75
	n := float64(times)
	return n / (n + k*(1-b+b*float64(words)/math.Max(mean, 1)))
}
