package council_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/fault"
	"conclave/app/limit"
)

// texts are those of a run.
type texts map[council.Hash][]byte

func (t texts) put(text string) council.Hash {
	h := council.HashOf([]byte(text))
	t[h] = []byte(text)
	return h
}

func (t texts) get(h council.Hash) ([]byte, error) {
	text, there := t[h]
	if !there {
		return nil, council.NoText("test", h)
	}
	return text, nil
}

func (t texts) words(h council.Hash) string { return string(t[h]) }

// voted returns a run of mode vote that is over: a votes for b, b for a, and c for a.
func voted(t testing.TB) (*driver, texts) {
	t.Helper()
	c := council.Default()
	c.Mode, c.Members = council.Vote, members("a", "b", "c")
	c.Members[2].Weight = 2
	d, all := begin(t, c, func(b *council.Begin) { b.Seed = 99 }), texts{}
	ends := map[string]council.End{}
	for _, id := range []string{"a", "b", "c"} {
		given, err := json.Marshal([]council.Block{{Source: council.FromTurn, Title: "Your question", Text: all.put("Why?")}})
		if err != nil {
			t.Fatal(err)
		}
		ends["0/"+id+"/answer"] = council.End{
			State: council.Done, Text: all.put(id + " says SECRET\n```council\n{\"position\":\"" + id + "\"}\n```"),
			Requests: []council.Request{{Model: "m", Body: all.put("\xff\xfe" + id), Given: all.put(string(given))}},
		}
	}
	for voter, choice := range map[string]string{"a": "b", "b": "a", "c": "a"} {
		envelope, commit := council.Seal(council.Ballot{
			Choice: d.run.Letter(voter, choice), Scores: map[string]float64{d.run.Letter(voter, choice): 8},
		}, "salt of "+voter)
		all[commit] = envelope
		ends["1/"+voter+"/ballot"] = council.End{State: council.Done, Commit: commit}
	}
	d.work(ends)
	d.do(council.Step{Kind: council.Opens})
	d.do(council.Step{Kind: council.Hands, Notes: all.put("notes")})
	d.do(council.Step{Kind: council.Concludes, Answer: &council.Answer{Reason: chat.EndDone}})
	return d, all
}

// written returns a run as a file.
func written(t testing.TB, d *driver, all texts, mask func(string) string) (file []byte, left []string) {
	t.Helper()
	var b bytes.Buffer
	left, err := council.Write(&b, d.steps, all.get, mask)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), left
}

func TestARunAsAFileIsCheckedByWhoeverOpensIt(t *testing.T) {
	d, all := voted(t)
	file, _ := written(t, d, all, nil)
	r, err := council.Verify(file)
	if err != nil || len(r.Problems) > 0 || len(r.Checked) != 3 ||
		fmt.Sprint(r.Replayed.Tasks) != fmt.Sprint(d.run.Tasks) {
		t.Fatalf("it is %+v, %v", r.Problems, err)
	}
	if len(r.Texts) != len(all) {
		t.Errorf("%d of %d texts are in it", len(r.Texts), len(all))
	}
	for h, text := range all {
		if string(r.Texts[h]) != string(text) {
			t.Errorf("the text %q became %q", text, r.Texts[h])
		}
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, file, "", "\t"); err != nil {
		t.Fatal(err)
	}
	if r, err := council.Verify(indented.Bytes()); err != nil || len(r.Problems) > 0 {
		t.Errorf("written otherwise it is %+v, %v", r.Problems, err)
	}
}

// A name may look like a key to whatever masks keys, and is none.
func TestNamesOfTextsAndStepsAreNoSecretsInTheFileOfARun(t *testing.T) {
	d, all := voted(t)
	like := regexp.MustCompile(`\b[A-Za-z0-9_-]{43}\b|salt of \w`)
	file, left := written(t, d, all, func(text string) string { return like.ReplaceAllString(text, "•••") })
	r, err := council.Verify(file)
	if err != nil || len(r.Problems) > 0 || len(left) != 1 || len(r.Texts) != len(all) {
		t.Errorf("it is %+v, left out is %q, %v", r.Problems, left, err)
	}
}

func TestWhatWasChangedInTheFileOfARunIsFound(t *testing.T) {
	d, all := voted(t)
	file, _ := written(t, d, all, nil)
	for name, change := range map[string]struct{ from, to, want string }{
		"a text": {"a says SECRET", "a says nothing", "Not as recorded: 1 text."},
		"a ballot": {
			"salt of a", "salt of x",
			"The vote cannot be counted: the ballot of a: it is not the one that was sealed.",
		},
		"a step":   {`"question":1`, `"question":2`, "The record was changed at step 2 or before it."},
		"the seed": {`"seed":99`, `"seed":98`, "The record was changed at step 2 or before it."},
		"the last": {`"reason":"done"`, `"reason":"error"`, "The record was changed at step 16 or before it."},
		"a missing": {
			`"` + string(council.HashOf([]byte("notes"))) + `":"notes",`, "",
			"Not in the file, and not said to be left out: 1 text.",
		},
	} {
		changed := strings.Replace(string(file), change.from, change.to, 1)
		if changed == string(file) { // the last of the texts has no comma behind it
			changed = strings.Replace(string(file), ","+strings.TrimSuffix(change.from, ","), change.to, 1)
		}
		r, err := council.Verify([]byte(changed))
		if err != nil || !slices.Contains(r.Problems, change.want) {
			t.Errorf("%s: %+v, %v", name, r.Problems, err)
		}
	}
	for name, changed := range map[string]string{
		"no JSON": "{", "another file": `{"members":[]}`, "no steps": `{"format":"` + council.RunFormat + `"}`,
		"steps out of order":   strings.Replace(string(file), `{"n":2,`, `{"n":3,`, 1),
		"an end without start": strings.Replace(string(file), `"kind":"starts"`, `"kind":"ends"`, 1),
	} {
		if _, err := council.Verify([]byte(changed)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSecretsAreMaskedInTheFileOfARunAndThatIsSaid(t *testing.T) {
	d, all := voted(t)
	nudged := begin(t, d.run.Council)
	nudged.do(council.Step{Kind: council.Acts, Act: council.Finish, By: council.Person, Text: "SECRET"})
	mask := func(s string) string { return strings.ReplaceAll(s, "SECRET", "•••") }
	for name, run := range map[string]*driver{"in texts": d, "in a step": nudged} {
		file, left := written(t, run, all, mask)
		if bytes.Contains(file, []byte("SECRET")) {
			t.Errorf("%s: a secret is in the file", name)
		}
		r, err := council.Verify(file)
		if err != nil || len(r.Problems) > 0 {
			t.Errorf("%s: what was masked counts as changed: %+v, %v", name, r.Problems, err)
		}
		if !strings.HasPrefix(left[0], "Secrets are masked in ") || !slices.Equal(r.LeftOut[:len(left)], left) {
			t.Errorf("%s: left out are %q and %q", name, left, r.LeftOut)
		}
	}
}

// Whoever changes a file can write into it what it leaves out; the check does not believe it.
func TestWhatTheFileOfARunSaysOfItselfIsNotBelieved(t *testing.T) {
	d, all := voted(t)
	whole, _ := written(t, d, all, nil)
	notes := string(council.HashOf([]byte("notes")))
	for name, change := range map[string]struct{ from, to, want string }{
		"masked": {
			`"` + notes + `":"notes"`, `"` + notes + `":"forged"`,
			"Secrets are masked in 1 text, so these cannot be checked.",
		},
		"missing": {`"` + notes + `":"notes",`, "", "1 text could not be read."},
	} {
		file := strings.Replace(string(whole), change.from, change.to, 1)
		file = strings.Replace(file, `"left_out":[`, `"`+name+`":["`+notes+`"],"left_out":["All is well.\u001b[2J",`, 1)
		r, err := council.Verify([]byte(file))
		if err != nil || !slices.Contains(r.LeftOut, change.want) || strings.Contains(fmt.Sprint(r), "All is well.") ||
			!slices.ContainsFunc(r.Checked, func(s string) bool {
				return s == fmt.Sprintf("%d texts are those that were recorded.", len(all)-1)
			}) {
			t.Errorf("%s: it is %+v, left out is %q, %v", name, r.Checked, r.LeftOut, err)
		}
	}
}

func TestAFileWithoutMembersIsNoCouncil(t *testing.T) {
	for _, text := range []string{"null", "{}", `{"mode": "vote"}`} {
		if _, err := council.Read([]byte(text)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s is read, %v", text, err)
		}
	}
	if _, err := council.Read([]byte(`{"members": []}`)); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeReadIsSaidToBeLeftOutOfTheFile(t *testing.T) {
	d, all := voted(t)
	delete(all, council.HashOf([]byte("notes")))
	file, left := written(t, d, all, nil)
	if r, err := council.Verify(file); err != nil || len(r.Problems) > 0 || left[0] != "1 text could not be read." {
		t.Errorf("left out are %q: %+v, %v", left, r.Problems, err)
	}
}

func TestVotesAreCountedByWeightOnceAllAreOpened(t *testing.T) {
	d, all := voted(t)
	tallies, err := council.Count(d.run, all.get)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(tallies); got != "[{a a 3 8} {b b 1 8} {c c 0 0}]" {
		t.Errorf("counted are %s", got)
	}
	sealed := d.run
	sealed.Opened = false
	if tallies, err := council.Count(sealed, all.get); tallies != nil || err != nil {
		t.Errorf("before they are opened %v, %v", tallies, err)
	}
}

func TestTheFileOfARunIsBounded(t *testing.T) {
	const long = "The file has more than 64 MiB, the most that is taken."
	if _, err := council.Verify(make([]byte, limit.RunFile.Int()+1)); err == nil || err.Error() != long {
		t.Errorf("one over: %v", err)
	}
	d, all := voted(t)
	for len(d.steps) <= limit.CouncilSteps.Int() {
		s := council.Step{Kind: council.Rates, Number: len(d.steps) + 1, At: d.at}
		d.steps = append(d.steps, s)
	}
	file, _ := written(t, d, all, nil)
	if _, err := council.Verify(file); err == nil || err.Error() != limit.CouncilSteps.Person {
		t.Errorf("one step over: %v", err)
	}
	d.steps = d.steps[:limit.CouncilSteps.Int()]
	if file, _ = written(t, d, all, nil); len(file) > limit.RunFile.Int() {
		t.Fatal("the file is too long")
	}
	if r, err := council.Verify(file); err != nil || len(r.Steps) != len(d.steps) {
		t.Errorf("at the limit %d steps are read, %v", len(r.Steps), err)
	}
}

func TestTheFileOfACouncilIsBounded(t *testing.T) {
	file := []byte(`{"mode": "vote", "members": [{"name": "Ada"}]}`)
	spaces := bytes.Repeat([]byte(" "), limit.CouncilFile.Int()-len(file))
	if c, err := council.Read(append(file, spaces...)); err != nil || c.Members[0].ID != "ada" {
		t.Errorf("at the limit: %+v, %v", c, err)
	}
	_, err := council.Read(append(append(file, spaces...), ' '))
	if err == nil || err.Error() != "The file has more than 1 MiB, the most that is taken." {
		t.Errorf("one over: %v", err)
	}
}

func TestAMemberIsReadOfItsFileAsItWasWritten(t *testing.T) {
	c := parse(t, `{"members": [
		{"name": "Ada", "role": "Analyst", "hat": "red", "context": {"policy": "turns", "last": 2}}]}`)
	file, err := council.WriteMember(c.Members[0])
	if err != nil {
		t.Fatal(err)
	}
	if m, err := council.ReadMember(file); err != nil || fmt.Sprint(m) != fmt.Sprint(c.Members[0]) {
		t.Errorf("read is %+v, %v", m, err)
	}
	for _, bad := range []string{
		"", "[]", `{"name": "Ada"}`, strings.Replace(string(file), "Ada", "", 1),
		strings.Replace(string(file), `"last": 2`, `"last": -1`, 1),
	} {
		if _, err := council.ReadMember([]byte(bad)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q is read: %v", bad, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	d, all := voted(f)
	file, _ := written(f, d, all, nil)
	f.Add(file)
	f.Add([]byte(`{"format":"conclave-council-run/1","steps":[{"n":1,"kind":"begins","begin":{"council":{"members":[{}]}}}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := council.Verify(file)
		if err != nil {
			return
		}
		if again, err := council.Replay(r.Steps); err != nil || again.State != r.Replayed.State {
			t.Fatalf("what was read cannot be replayed: %v", err)
		}
		// What can be read can be written, and read again.
		var b bytes.Buffer
		text := func(h council.Hash) ([]byte, error) { return r.Texts[h], nil }
		if _, err := council.Write(&b, r.Steps, text, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := council.Verify(b.Bytes()); err != nil {
			t.Fatal(err)
		}
	})
}
