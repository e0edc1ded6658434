package council

import (
	"encoding/json"
	"strings"

	"conclave/app/fault"
	"conclave/app/limit"
)

// MemberFormat marks the file of a member.
const MemberFormat = "conclave-council-member/1"

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
