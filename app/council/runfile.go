package council

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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

// WriteRun writes a run as a file: its steps, and every text that they name. mask removes secrets from
// a text. left says in sentences what the file leaves out.
func WriteRun(w io.Writer, steps []Step, text ReadText, mask func(string) string) (left []string, err error) {
	if len(steps) == 0 {
		return nil, errors.New("a run without steps cannot be written")
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
		shown := masked(string(raw), names, mask)
		if shown != string(raw) {
			f.MaskedSteps[s.Number] = true
		}
		f.Steps = append(f.Steps, json.RawMessage(shown))
	}
	files := 0
	for _, one := range texts {
		switch {
		case one.err != nil:
			f.Missing = append(f.Missing, one.hash)
			continue
		case !utf8.ValidString(one.text):
			f.Binary[one.hash] = base64.StdEncoding.EncodeToString([]byte(one.text))
			continue
		case one.ours:
			f.Texts[one.hash] = masked(one.text, names, mask)
			files += filesIn(one.text)
		default:
			f.Texts[one.hash] = mask(one.text)
		}
		if f.Texts[one.hash] != one.text {
			f.Masked = append(f.Masked, one.hash)
		}
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

// masked returns a step, a ballot or a list of blocks with its secrets masked. Each string is masked by
// itself, so that the result stays JSON. names are the hashes of texts, which look like keys and are
// not.
func masked(raw string, names map[Hash]bool, mask func(string) string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return raw
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
	if shown, err := json.Marshal(v); err == nil && changed {
		return string(shown)
	}
	return raw
}

// namedText is a text that steps name, or the error of reading it.
type namedText struct {
	hash Hash
	text string
	err  error
	ours bool // JSON of the council's: a list of blocks, or a ballot
}

// named reads every text that steps name, once, and those that lists of blocks name. names are the
// hashes of all of them, and those that steps compare a chat by.
func named(steps []Step, text ReadText) (texts []namedText, names map[Hash]bool) {
	names = map[Hash]bool{"": true}
	one := func(h Hash, ours bool) string {
		if names[h] {
			return ""
		}
		names[h] = true
		found, err := text(h)
		texts = append(texts, namedText{h, found, err, ours})
		return found
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

// TextsOf reads the texts that the steps of a run name, without those that it does not have.
func TextsOf(steps []Step, text ReadText) (Texts, error) {
	all := Texts{}
	named, _ := named(steps, text)
	for _, one := range named {
		switch {
		case one.err == nil:
			all[one.hash] = []byte(one.text)
		case fault.KindOf(one.err) != fault.NotFound:
			return nil, one.err
		}
	}
	return all, nil
}

// blocksIn reads a list of blocks; none where the text is something else.
func blocksIn(text string) (blocks []Block) {
	if json.Unmarshal([]byte(text), &blocks) != nil {
		return nil
	}
	return blocks
}

// filesIn counts the attached files that a list of blocks names.
func filesIn(text string) (n int) {
	for _, b := range blocksIn(text) {
		if b.Source == FromFile && b.Why == "" {
			n++
		}
	}
	return n
}

// FileRun is a run that was read from a file, and what the file lacks. The sentences say nothing of
// whether the run is genuine: anybody can write such a file.
type FileRun struct {
	ID       RunID    `json:"run"`
	Run      Run      `json:"-"`
	Texts    Texts    `json:"-"`
	Checked  []string `json:"checked"`  // what was read: “41 steps and 57 texts can be read.”
	Problems []string `json:"problems"` // what is missing or cannot be read
	LeftOut  []string `json:"left_out"` // what was left out when the file was written
}

// Text is a ReadText.
func (r FileRun) Text(h Hash) (string, error) {
	text, there := r.Texts[h]
	if !there && h != "" {
		return "", NoText("council.read_run", h)
	}
	return string(text), nil
}

// ReadRun reads the file of a run. A file that is not one, or whose steps cannot be replayed, is an
// error of kind invalid; texts that are missing are Problems.
func ReadRun(file []byte) (FileRun, error) {
	refuse := func(why string, err error) (FileRun, error) {
		return FileRun{}, fault.Wrap(fault.Invalid, "council.read_run", why,
			"Choose a file that conclave council export, or the council's panel, wrote.", err)
	}
	if err := bounded(file, limit.RunFile); err != nil {
		return FileRun{}, err
	}
	var f runFile
	if err := json.Unmarshal(file, &f); err != nil || f.Format != RunFormat {
		return refuse("This file is not a council run.", nil)
	}
	if len(f.Steps) > limit.CouncilSteps {
		return refuse("The file has more than 20,000 steps, more than any run of a council takes.", nil)
	}
	r := FileRun{Texts: Texts{}, Problems: []string{}}
	steps, err := r.replay(f)
	if err != nil {
		return refuse("The steps of this run cannot have happened in this order.", err)
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
	if _, err := Count(r.Run, ReadText(r.Text).Words); err != nil {
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
	missing, skipped, files := 0, 0, 0
	texts, _ := named(steps, r.Text)
	for _, one := range texts {
		switch {
		case one.err == nil && one.ours:
			files += filesIn(one.text)
		case one.err == nil:
		case slices.Contains(f.Missing, one.hash):
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
