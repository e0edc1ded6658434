package council

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
)

// RunFormat marks the file of a run.
const RunFormat = "conclave-council-run/1"

// runFile is a run as a file. Files of older versions hold more, which is ignored.
type runFile struct {
	Format string            `json:"format"`
	Steps  []json.RawMessage `json:"steps"`
	// Texts are those that the steps name, by hash; Binary holds those that are not UTF-8, in base64.
	Texts  map[Hash]string `json:"texts"`
	Binary map[Hash]string `json:"binary,omitempty"`
	// Masked lists the texts in which secrets were masked, MaskedSteps the numbers of such steps.
	Masked      []Hash      `json:"masked,omitempty"`
	MaskedSteps map[int]any `json:"masked_steps,omitempty"`
	Missing     []Hash      `json:"missing,omitempty"` // texts that could not be read
	LeftOut     []string    `json:"left_out"`          // sentences
}

// WriteRun writes a run as a file: its steps, and every text that they name. mask removes
// secrets from a text; nil masks nothing. left says in sentences what the file leaves out.
func WriteRun(w io.Writer, steps []Step, text func(Hash) ([]byte, error), mask func(string) string) (left []string,
	err error,
) {
	if len(steps) == 0 {
		return nil, errors.New("a run without steps cannot be written")
	}
	if mask == nil {
		mask = func(s string) string { return s }
	}
	f := runFile{
		Format: RunFormat, Texts: map[Hash]string{}, Binary: map[Hash]string{}, MaskedSteps: map[int]any{},
		LeftOut: []string{},
	}
	texts, names := named(steps, text)
	for _, s := range steps {
		raw, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		if shown := masked(raw, names, mask); shown != nil {
			f.MaskedSteps[s.Number], raw = true, shown
		}
		f.Steps = append(f.Steps, raw)
	}
	files := 0
	for _, one := range texts {
		shown := mask(string(one.raw))
		if one.ours {
			shown = cmp.Or(string(masked(one.raw, names, mask)), string(one.raw))
			files += filesIn(one.raw)
		}
		switch {
		case one.err != nil:
			f.Missing = append(f.Missing, one.hash)
			continue
		case !utf8.Valid(one.raw):
			f.Binary[one.hash] = base64.StdEncoding.EncodeToString(one.raw)
			continue
		case shown != string(one.raw):
			f.Masked = append(f.Masked, one.hash)
		}
		f.Texts[one.hash] = shown
	}
	f.LeftOut = leftOut(len(f.Masked)+len(f.MaskedSteps), len(f.Missing), files)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return f.LeftOut, e.Encode(f)
}

// leftOut returns sentences for what the file of a run leaves out: secrets in so many texts and
// steps, texts that could not be read, and attached files.
func leftOut(masked, missing, files int) []string {
	var all []string
	if masked > 0 {
		all = append(all, fmt.Sprintf("Secrets are masked in %s.", limit.Counted(masked, "text")))
	}
	if missing > 0 {
		all = append(all, fmt.Sprintf("%s could not be read.", limit.Counted(missing, "text")))
	}
	if files > 0 {
		all = append(all, "Attached files are named, but their content is not included.")
	}
	return append(all, "The chat, the main model's answer and the records of tool calls are not included.")
}

// masked returns a step, a ballot or a list of blocks with its secrets masked, or nil where it
// holds none. Each string is masked by itself, so that the result stays JSON. names are the hashes of
// texts, which look like keys and are not.
func masked(raw []byte, names map[Hash]bool, mask func(string) string) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	changed := false
	var walk func(any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			if names[Hash(v)] {
				return v
			}
			shown := mask(v)
			changed = changed || shown != v
			return shown
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		}
		return v
	}
	v = walk(v)
	if !changed {
		return nil
	}
	shown, err := json.Marshal(v)
	if err != nil { // it was JSON before
		return nil
	}
	return shown
}

// namedText is a text that steps name, or the error of reading it.
type namedText struct {
	hash Hash
	raw  []byte
	err  error
	ours bool // JSON of the council's: a list of blocks, or a ballot
}

// named reads every text that steps name, once, and those that lists of blocks name. names are the
// hashes of all of them, and those that steps compare a chat by.
func named(steps []Step, text func(Hash) ([]byte, error)) (texts []namedText, names map[Hash]bool) {
	names = map[Hash]bool{"": true}
	one := func(h Hash, ours bool) []byte {
		if names[h] {
			return nil
		}
		names[h] = true
		raw, err := text(h)
		texts = append(texts, namedText{h, raw, err, ours})
		return raw
	}
	end := func(e End) {
		one(e.Text, false)
		one(e.Ballot, true)
		for _, r := range e.Requests {
			one(r.Body, false)
			for _, b := range blocksIn(one(r.Given, true)) {
				one(b.Text, false)
			}
		}
	}
	for _, s := range steps {
		one(s.Notes, false)
		if s.End != nil {
			end(*s.End)
		}
		if s.Answer != nil {
			one(s.Answer.Groups, false)
		}
		if s.Begin != nil {
			for _, kept := range s.Begin.Kept {
				end(kept)
			}
			names[s.Begin.Path], names[s.Begin.Window] = true, true
		}
	}
	return texts, names
}

// blocksIn reads a list of blocks; none where raw is something else.
func blocksIn(raw []byte) (blocks []Block) {
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	return blocks
}

// filesIn counts the attached files that a list of blocks names.
func filesIn(raw []byte) (n int) {
	for _, b := range blocksIn(raw) {
		if b.Source == FromFile && b.Why == "" {
			n++
		}
	}
	return n
}

// FileRun is a run that was read from a file, and what the file lacks. The sentences say nothing of
// whether the run is genuine: anybody can write such a file.
type FileRun struct {
	ID       RunID           `json:"run"`
	Run      Run             `json:"-"`
	Texts    map[Hash][]byte `json:"-"`
	Checked  []string        `json:"checked"`  // what was read: “41 steps and 57 texts can be read.”
	Problems []string        `json:"problems"` // what is missing or cannot be read
	LeftOut  []string        `json:"left_out"` // what was left out when the file was written
}

// ReadRun reads the file of a run. A file that is not one, or whose steps cannot be replayed, is an
// error of kind invalid; texts that are missing are Problems.
func ReadRun(file []byte) (FileRun, error) {
	const op, hint = "council.read_run", "Choose a file that conclave council export, or the council's panel, wrote."
	const order = "The steps of this run cannot have happened in this order."
	if err := bounded(file, limit.RunFile); err != nil {
		return FileRun{}, err
	}
	var f runFile
	if err := json.Unmarshal(file, &f); err != nil || f.Format != RunFormat {
		return FileRun{}, fault.New(fault.Invalid, op, "This file is not a council run.", hint)
	}
	if len(f.Steps) > limit.CouncilSteps {
		return FileRun{}, fault.New(fault.Invalid, op,
			"The file has more than 20,000 steps, more than any run of a council takes.", hint)
	}
	r := FileRun{Texts: map[Hash][]byte{}, Problems: []string{}}
	steps, err := r.replay(f)
	if err != nil {
		return FileRun{}, fault.Wrap(fault.Invalid, op, order, hint, err)
	}
	r.ID = r.Run.Run
	for h, text := range f.Texts {
		r.Texts[h] = []byte(text)
	}
	for h, text := range f.Binary {
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil { // else it counts as missing
			r.Texts[h] = raw
		}
	}
	r.Checked = []string{fmt.Sprintf("%s and %s can be read.", limit.Counted(len(steps), "step"),
		limit.Counted(len(r.Texts), "text"))}
	r.missing(f, steps)
	if _, err := Count(r.Run, func(h Hash) string { return string(r.Texts[h]) }); err != nil {
		r.Problems = append(r.Problems, fmt.Sprintf("The votes cannot be counted: %v.", err))
	}
	return r, nil
}

// replay replays the steps of the file.
func (r *FileRun) replay(f runFile) ([]Step, error) {
	steps := make([]Step, len(f.Steps))
	for i, raw := range f.Steps {
		s := &steps[i]
		if err := json.Unmarshal(raw, s); err != nil {
			return nil, err
		}
		if s.Begin != nil {
			if err := s.Begin.Council.bounds(); err != nil {
				return nil, err
			}
		}
		if err := r.Run.Apply(*s); err != nil {
			return nil, fmt.Errorf("step %d: %w", s.Number, err)
		}
	}
	if len(steps) == 0 {
		return nil, ErrStep
	}
	return steps, nil
}

// missing fills Problems with the texts that are not there although the file does not name them as
// missing, and LeftOut from what the file holds: a sentence in it could be anybody's.
func (r *FileRun) missing(f runFile, steps []Step) {
	unread := map[Hash]bool{}
	for _, h := range f.Missing {
		unread[h] = true
	}
	missing, skipped, files := 0, 0, 0
	texts, _ := named(steps, func(h Hash) ([]byte, error) {
		raw, there := r.Texts[h]
		if !there {
			return nil, NoText("council.read_run", h)
		}
		return raw, nil
	})
	for _, one := range texts {
		switch {
		case one.err == nil:
			if one.ours {
				files += filesIn(one.raw)
			}
		case unread[one.hash]:
			skipped++
		default:
			missing++
		}
	}
	if missing > 0 {
		r.Problems = append(r.Problems, fmt.Sprintf("Missing from the file: %s.", limit.Counted(missing, "text")))
	}
	r.LeftOut = leftOut(len(f.Masked)+len(f.MaskedSteps), skipped, files)
}
