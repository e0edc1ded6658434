package council

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/fault"
	"conclave/app/limit"
)

// The forms of files.
const (
	RunFormat    = "conclave-council-run/1"
	MemberFormat = "conclave-council-member/1"
)

// runFile is a run as a file.
type runFile struct {
	Format string `json:"format"`
	// Steps are as they are stored, each chained to the one before; Head is the hash of the
	// last.
	Steps []json.RawMessage `json:"steps"`
	Head  Hash              `json:"head"`
	// Texts are those that the steps name, by hash; Binary those that are no text, in base64.
	Texts  map[Hash]string `json:"texts"`
	Binary map[Hash]string `json:"binary,omitempty"`
	// Masked names the texts, and MaskedSteps the steps, in which secrets were masked. Their
	// hashes are those of what they were before, which MaskedSteps has by the number of the step.
	Masked      []Hash       `json:"masked,omitempty"`
	MaskedSteps map[int]Hash `json:"masked_steps,omitempty"`
	Missing     []Hash       `json:"missing,omitempty"` // texts that could not be read
	LeftOut     []string     `json:"left_out"`          // sentences
}

// Write writes a run as a file: its steps, and every text that they name. mask takes
// secrets out of a text; nil takes out none. left says in sentences what of the run is not
// in the file.
func Write(w io.Writer, steps []Step, text func(Hash) ([]byte, error), mask func(string) string) (left []string,
	err error,
) {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	f := runFile{
		Format: RunFormat, Texts: map[Hash]string{}, Binary: map[Hash]string{}, MaskedSteps: map[int]Hash{},
		LeftOut: []string{},
	}
	texts, names, err := named(steps, text)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		raw, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		f.Head = HashOf(raw)
		names[f.Head] = true
		if shown := masked(raw, names, mask); shown != nil {
			f.MaskedSteps[s.Number] = f.Head
			raw = shown
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
		case !utf8.Valid(one.raw):
			f.Binary[one.hash] = base64.StdEncoding.EncodeToString(one.raw)
		case shown != string(one.raw):
			f.Masked = append(f.Masked, one.hash)
			f.Texts[one.hash] = shown
		default:
			f.Texts[one.hash] = shown
		}
	}
	f.LeftOut = leftOut(len(f.Masked)+len(f.MaskedSteps), len(f.Missing), files)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return f.LeftOut, e.Encode(f)
}

// leftOut says what the file of a run does not hold: of so many texts and steps their
// secrets, so many texts, and attached files.
func leftOut(masked, missing, files int) []string {
	var all []string
	if masked > 0 {
		all = append(all, fmt.Sprintf("Secrets are masked in %s, so these cannot be checked.", limit.Counted(masked, "text")))
	}
	if missing > 0 {
		all = append(all, fmt.Sprintf("%s could not be read.", limit.Counted(missing, "text")))
	}
	if files > 0 {
		all = append(all, "Attached files are named, but not in it by themselves.")
	}
	return append(all, "The chat, the answer of the main model and the records of tool calls stay where they are.")
}

// masked returns a step, or a list of blocks, with its secrets masked, or nil where it holds
// none. The words in it are masked one by one, so that it stays JSON; names of texts and
// steps may look like keys, and are none.
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

// namedText is a text that steps name, or why it cannot be read.
type namedText struct {
	hash Hash
	raw  []byte
	err  error
	ours bool // JSON of the council's own: a list of blocks, or a ballot
}

// named reads every text that steps name, once: also those that lists of blocks name. names
// are their hashes, and the salts of ballots.
func named(steps []Step, text func(Hash) ([]byte, error)) (texts []namedText, names map[Hash]bool, err error) {
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
		var sealed SealedBallot
		if json.Unmarshal(one(e.Commit, true), &sealed) == nil {
			names[Hash(sealed.Salt)] = true
		}
		for _, r := range e.Requests {
			one(r.Body, false)
			var blocks []Block
			if json.Unmarshal(one(r.Given, true), &blocks) == nil {
				for _, b := range blocks {
					one(b.Text, false)
				}
			}
		}
	}
	if len(steps) == 0 {
		return nil, nil, errors.New("a run without steps cannot be written")
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
	return texts, names, nil
}

// filesIn counts the attached files that a list of blocks names.
func filesIn(raw []byte) int {
	var blocks []Block
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &blocks) != nil {
		return 0
	}
	n := 0
	for _, b := range blocks {
		if b.Source == FromFile && b.Why == "" {
			n++
		}
	}
	return n
}

// Report says what Verify found in the file of a run, in sentences.
type Report struct {
	Run      RunID           `json:"run"`
	Replayed Run             `json:"-"`
	Steps    []Step          `json:"-"`
	Texts    map[Hash][]byte `json:"-"`        // those that are in the file; masked ones too
	Checked  []string        `json:"checked"`  // what agrees: “All 41 steps follow one another.”
	Problems []string        `json:"problems"` // what does not
	LeftOut  []string        `json:"left_out"` // what the file does not hold
}

// Verify checks the file of a run: that its steps follow one another, that texts and
// ballots are those that were recorded, and that rolls and votes come out the same. It
// cannot tell who wrote the file. The error says that it is none, or that nothing of it
// can be shown; its kind is invalid.
func Verify(file []byte) (Report, error) {
	const op, hint = "council.verify", "Choose a file that conclave council export, or the council's panel, wrote."
	if err := bounded(file, limit.RunFile); err != nil {
		return Report{}, err
	}
	var f runFile
	if err := json.Unmarshal(file, &f); err != nil || f.Format != RunFormat {
		return Report{}, fault.New(fault.Invalid, op, "This is no run of a council that can be read here.", hint)
	}
	r := Report{Texts: map[Hash][]byte{}, Checked: []string{}, Problems: []string{}, LeftOut: []string{}}
	if len(f.Steps) > limit.CouncilSteps.Int() {
		return Report{}, fault.New(fault.Invalid, op, limit.CouncilSteps.Person, hint)
	}
	if err := r.steps(f); err != nil {
		return Report{}, fault.Wrap(fault.Invalid, op, "The steps of this run cannot have happened in this order.", hint, err)
	}
	r.Run = r.Replayed.Run
	r.texts(f)
	r.rolls()
	r.votes(f)
	return r, nil
}

func (r *Report) check(ok bool, yes, no string) {
	if ok {
		r.Checked = append(r.Checked, yes)
	} else {
		r.Problems = append(r.Problems, no)
	}
}

// steps replays the run and checks the chain of its steps.
func (r *Report) steps(f runFile) error {
	broken, before := 0, Hash("")
	for _, raw := range f.Steps {
		var s Step
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		if s.Prev != before && broken == 0 {
			broken = s.Number
		}
		again, err := json.Marshal(s)
		if err != nil {
			return err
		}
		if before = HashOf(again); f.MaskedSteps[s.Number] != "" {
			before = f.MaskedSteps[s.Number]
		}
		if s.Begin != nil {
			if err := s.Begin.Council.bounds(); err != nil {
				return err
			}
		}
		if err := r.Replayed.Apply(s); err != nil {
			return fmt.Errorf("step %d: %w", s.Number, err)
		}
		r.Steps = append(r.Steps, s)
	}
	if len(r.Steps) == 0 {
		return ErrStep
	}
	if broken == 0 && before != f.Head {
		broken = len(r.Steps)
	}
	r.check(broken == 0, fmt.Sprintf("All %d steps follow one another.", len(r.Steps)),
		fmt.Sprintf("The record was changed at step %d or before it.", broken))
	return nil
}

// texts checks every text against its hash, and says what the file leaves out: by what is
// in it, since what it says of itself could be anybody's.
func (r *Report) texts(f runFile) {
	wrong, masked := 0, 0
	take := func(h Hash, raw []byte) {
		r.Texts[h] = raw
		switch {
		case HashOf(raw) == h:
		case slices.Contains(f.Masked, h):
			masked++
		default:
			wrong++
		}
	}
	for h, text := range f.Texts {
		take(h, []byte(text))
	}
	for h, text := range f.Binary {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			wrong++
			continue
		}
		take(h, raw)
	}
	missing, unread, files := 0, 0, 0
	texts, _, _ := named(r.Steps, r.text) // there are steps
	for _, one := range texts {
		switch {
		case one.err == nil:
			if one.ours {
				files += filesIn(one.raw)
			}
		case slices.Contains(f.Missing, one.hash):
			unread++
		default:
			missing++
		}
	}
	whole := fmt.Sprintf("All %d texts are those that were recorded.", len(r.Texts))
	if masked+unread > 0 {
		whole = fmt.Sprintf("%s are those that were recorded.", limit.Counted(len(r.Texts)-masked, "text"))
	}
	r.check(wrong == 0, whole, fmt.Sprintf("Not as recorded: %s.", limit.Counted(wrong, "text")))
	if missing > 0 {
		r.check(false, "", fmt.Sprintf("Not in the file, and not said to be left out: %s.", limit.Counted(missing, "text")))
	}
	r.LeftOut = append(leftOut(masked+len(f.MaskedSteps), unread, files), r.LeftOut...)
}

func (r *Report) text(h Hash) ([]byte, error) {
	raw, there := r.Texts[h]
	if !there {
		return nil, NoText("council.verify", h)
	}
	return raw, nil
}

// rolls says that what was thrown follows of the seed: the run could not be replayed
// otherwise, since a member whose roll keeps it out has no tasks that could start.
func (r *Report) rolls() {
	thrown := 0
	for _, s := range r.Replayed.Seats {
		if s.Roll != nil {
			thrown++
		}
	}
	if thrown > 0 {
		r.check(true, fmt.Sprintf("Who took part follows of the seed: %s.", limit.Counted(thrown, "roll")), "")
	}
}

// votes checks that each ballot is the one that was sealed before any was opened, and
// counts them again.
func (r *Report) votes(f runFile) {
	ballots := 0
	for _, t := range r.Replayed.Tasks {
		if t.Kind != Cast || t.State != Done {
			continue
		}
		if ballots++; slices.Contains(f.Masked, t.End.Commit) {
			r.LeftOut = append(r.LeftOut, "A ballot holds a masked secret, so the votes cannot be checked.")
			return
		}
	}
	if ballots == 0 || !r.Replayed.Opened {
		return
	}
	_, err := Count(r.Replayed, r.text)
	r.check(err == nil,
		fmt.Sprintf("All %s are as they were sealed before the first was opened.", limit.Counted(ballots, "ballot")),
		fmt.Sprintf("The vote cannot be counted: %v.", err))
}

// WriteMember returns a member as a file.
func WriteMember(m Member) ([]byte, error) {
	return json.MarshalIndent(struct {
		Format string `json:"format"`
		Member Member `json:"member"`
	}{MemberFormat, m}, "", "  ")
}

// ReadMember reads the file of a member.
func ReadMember(file []byte) (Member, error) {
	const hint = "Choose a file that was saved from a member's card."
	var f struct {
		Format string  `json:"format"`
		Member *Member `json:"member"`
	}
	if err := bounded(file, limit.CouncilFile); err != nil {
		return Member{}, err
	}
	if err := json.Unmarshal(file, &f); err != nil || f.Format != MemberFormat || f.Member == nil {
		return Member{}, invalid("This is no member of a council that can be read here.", hint)
	}
	one := Council{Mode: Opinions, Members: []Member{*f.Member}, Tool: Default().Tool}
	one.name()
	return one.Members[0], one.Check()
}

// Read reads a council of a file, of Conclave or of Lumiverse, and checks it.
func Read(file []byte) (Council, error) {
	if err := bounded(file, limit.CouncilFile); err != nil {
		return Council{}, err
	}
	var c Council
	if err := json.Unmarshal(file, &c); err != nil {
		return Council{}, fault.Wrap(fault.Invalid, "council.read", "This is no council that can be read here.",
			"It is a JSON object with members.", err)
	}
	if err := c.Check(); err != nil {
		return c, err
	}
	return c, HasMembers(file)
}

// HasMembers refuses the JSON of a council that says nothing of members, as a file of
// something else would: it would take away those that are set.
func HasMembers(file []byte) error {
	if has(file, "members") {
		return nil
	}
	return invalid("This is no council: it says nothing of members.",
		"Write \"members\": [] where there are to be none.")
}

// bounded refuses a file that is too long to be read.
func bounded(file []byte, most *limit.Limit) error {
	if int64(len(file)) <= most.Value {
		return nil
	}
	what, hint, _ := strings.Cut(strings.ReplaceAll(most.Person, " FILE", ""), ". ")
	return invalid(what+".", hint)
}
