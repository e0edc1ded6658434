package council_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/council"
)

// texts are those of a run.
type texts map[council.Hash][]byte

func (t texts) put(text string) council.Hash {
	h := council.HashOf([]byte(text))
	t[h] = []byte(text)
	return h
}

func (t texts) get(h council.Hash) (string, error) {
	return council.FileRun{Texts: council.Texts(t)}.Text(h)
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
		ballot := council.EncodeBallot(council.Ballot{
			Choice: d.run.Letter(voter, choice), Scores: map[string]float64{d.run.Letter(voter, choice): 8}, Why: "for " + voter,
		})
		ends["1/"+voter+"/ballot"] = council.End{State: council.Done, Ballot: all.put(string(ballot))}
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
	if mask == nil {
		mask = func(text string) string { return text }
	}
	left, err := council.WriteRun(&b, d.steps, all.get, mask)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), left
}

func TestARunIsReadFromItsFileAsItWasWritten(t *testing.T) {
	d, all := voted(t)
	file, left := written(t, d, all, nil)
	r, err := council.ReadRun(file)
	if err != nil || len(r.Problems) > 0 || len(r.Checked) != 1 || !slices.Equal(r.LeftOut, left) ||
		fmt.Sprint(r.Run.Tasks) != fmt.Sprint(d.run.Tasks) {
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
	if r, err := council.ReadRun(indented.Bytes()); err != nil || len(r.Problems) > 0 {
		t.Errorf("written otherwise it is %+v, %v", r.Problems, err)
	}
}

// The file is one that Conclave wrote when steps had digests and ballots had salts.
func TestTheFileOfAnOlderVersionIsStillRead(t *testing.T) {
	file, err := os.ReadFile("testdata/run-with-digests.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := council.ReadRun(file)
	if err != nil || len(r.Problems) > 0 || r.Run.State != council.Over {
		t.Fatalf("it is %+v, %v", r, err)
	}
	tallies, err := council.Count(r.Run, func(h council.Hash) string { return string(r.Texts[h]) })
	if got := fmt.Sprint(tallies); err != nil || got != "[{a a 3 8} {b b 1 8} {c c 0 0}]" {
		t.Errorf("counted are %s, %v", got, err)
	}
	masked := strings.Replace(string(file), `"left_out":`, `"masked_steps":{"2":"a hash"},"left_out":`, 1)
	if r, err := council.ReadRun([]byte(masked)); err != nil || r.LeftOut[0] != "Secrets are masked in 1 text." {
		t.Errorf("of one with masked steps %q is said, %v", r.LeftOut, err)
	}
}

func TestHashesAreNoSecretsInTheFileOfARun(t *testing.T) {
	d, all := voted(t)
	like := regexp.MustCompile(`\b[A-Za-z0-9_-]{43}\b`)
	file, left := written(t, d, all, func(text string) string { return like.ReplaceAllString(text, "•••") })
	r, err := council.ReadRun(file)
	if err != nil || len(r.Problems) > 0 || len(left) != 1 || len(r.Texts) != len(all) {
		t.Errorf("it is %+v, left out is %q, %v", r.Problems, left, err)
	}
}

func TestWhatIsMissingFromTheFileOfARunIsNamed(t *testing.T) {
	d, all := voted(t)
	file, _ := written(t, d, all, nil)
	notes := `"` + string(council.HashOf([]byte("notes"))) + `":"notes"`
	for name, change := range map[string]struct{ from, to, want string }{
		"a ballot":        {`{\"ballot\":`, `{\"vote\":`, "The votes cannot be counted: the ballot of c: it cannot be read."},
		"a text":          {notes, `"x":""`, "Missing from the file: 1 text."},
		"a broken binary": {`"binary":{`, `"binary":{"x":"?",`, ""},
	} {
		changed := strings.Replace(string(file), change.from, change.to, 1)
		r, err := council.ReadRun([]byte(changed))
		if err != nil || changed == string(file) || (change.want != "") != slices.Contains(r.Problems, change.want) {
			t.Errorf("%s: %+v, %v", name, r.Problems, err)
		}
	}
	for name, changed := range map[string]string{
		"no JSON": "{", "another file": `{"members":[]}`, "no steps": `{"format":"` + council.RunFormat + `"}`,
		"cut off":              string(file[:len(file)/2]),
		"steps out of order":   strings.Replace(string(file), `{"n":2,`, `{"n":3,`, 1),
		"an end without start": strings.Replace(string(file), `"kind":"starts"`, `"kind":"ends"`, 1),
	} {
		if _, err := council.ReadRun([]byte(changed)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSecretsAreMaskedInTheFileOfARunAndThatIsSaid(t *testing.T) {
	d, all := voted(t)
	nudged := begin(t, d.run.Council)
	nudged.do(council.Step{Kind: council.Acts, Act: council.Finish, By: council.Person, Text: "SECRET"})
	mask := func(s string) string {
		return strings.NewReplacer("SECRET", "•••", "for a", "•••").Replace(s)
	}
	for name, run := range map[string]*driver{"in texts": d, "in a step": nudged} {
		file, left := written(t, run, all, mask)
		if bytes.Contains(file, []byte("SECRET")) || bytes.Contains(file, []byte("for a")) {
			t.Errorf("%s: a secret is in the file", name)
		}
		r, err := council.ReadRun(file)
		if err != nil || len(r.Problems) > 0 {
			t.Errorf("%s: what was masked counts as missing: %+v, %v", name, r.Problems, err)
		}
		if !strings.HasPrefix(left[0], "Secrets are masked in ") || !slices.Equal(r.LeftOut, left) {
			t.Errorf("%s: left out are %q and %q", name, left, r.LeftOut)
		}
	}
}

// A file can be written by anybody, so its own sentences are not shown as Conclave's.
func TestSentencesInTheFileOfARunAreNotShown(t *testing.T) {
	d, all := voted(t)
	whole, _ := written(t, d, all, nil)
	notes := string(council.HashOf([]byte("notes")))
	for name, change := range map[string]struct{ from, to, want string }{
		"masked":  {`"` + notes + `":"notes"`, `"` + notes + `":"•••"`, "Secrets are masked in 1 text."},
		"missing": {`"` + notes + `":"notes",`, "", "1 text could not be read."},
	} {
		file := strings.Replace(string(whole), change.from, change.to, 1)
		file = strings.Replace(file, `"left_out":[`, `"`+name+`":["`+notes+`"],"left_out":["All is well.\u001b[2J",`, 1)
		r, err := council.ReadRun([]byte(file))
		if err != nil || !slices.Contains(r.LeftOut, change.want) || strings.Contains(fmt.Sprint(r), "All is well.") {
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
	if r, err := council.ReadRun(file); err != nil || len(r.Problems) > 0 || left[0] != "1 text could not be read." {
		t.Errorf("left out are %q: %+v, %v", left, r.Problems, err)
	}
}

func TestVotesAreCountedByWeightOnceAllAreOpened(t *testing.T) {
	d, all := voted(t)
	tallies, err := council.Count(d.run, all.words)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(tallies); got != "[{a a 3 8} {b b 1 8} {c c 0 0}]" {
		t.Errorf("counted are %s", got)
	}
	early := d.run
	early.Opened = false
	if tallies, err := council.Count(early, all.words); tallies != nil || err != nil {
		t.Errorf("before they are opened %v, %v", tallies, err)
	}
}

func TestTheFileOfARunIsBounded(t *testing.T) {
	const long = "The file has more than 64 MiB, the most that is taken."
	if _, err := council.ReadRun(make([]byte, limit.RunFile+1)); err == nil || err.Error() != long {
		t.Errorf("one over: %v", err)
	}
	d, all := voted(t)
	for len(d.steps) <= limit.CouncilSteps {
		s := council.Step{Kind: council.Rates, Number: len(d.steps) + 1, At: d.at}
		d.steps = append(d.steps, s)
	}
	file, _ := written(t, d, all, nil)
	if _, err := council.ReadRun(file); err == nil ||
		err.Error() != "The file has more than 20,000 steps, more than any run of a council takes." {
		t.Errorf("one step over: %v", err)
	}
	d.steps = d.steps[:limit.CouncilSteps]
	if file, _ = written(t, d, all, nil); len(file) > limit.RunFile {
		t.Fatal("the file is too long")
	}
	if r, err := council.ReadRun(file); err != nil || r.Run.Last.Number != len(d.steps) {
		t.Errorf("at the limit %d steps are read, %v", r.Run.Last.Number, err)
	}
}

func TestTheFileOfACouncilIsBounded(t *testing.T) {
	file := []byte(`{"mode": "vote", "members": [{"name": "Ada"}]}`)
	spaces := bytes.Repeat([]byte(" "), limit.CouncilFile-len(file))
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

func FuzzReadRun(f *testing.F) {
	d, all := voted(f)
	file, _ := written(f, d, all, nil)
	f.Add(file)
	f.Add([]byte(`{"format":"conclave-council-run/1","steps":[{"n":1,"kind":"begins","begin":{"council":{"members":[{}]}}}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		if r, err := council.ReadRun(file); err == nil && r.Run.Last.Number == 0 {
			t.Fatalf("a run without steps was read: %+v", r)
		}
	})
}
