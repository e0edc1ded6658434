package council

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
)

// MemberFormat marks the file of a member.
const MemberFormat = "conclave-council-member/1"

type memberFile struct {
	Format string  `json:"format"`
	Member *Member `json:"member"`
}

// WriteMember returns the file of a member.
func WriteMember(m Member) ([]byte, error) {
	return json.MarshalIndent(memberFile{MemberFormat, &m}, "", "  ")
}

// ReadMember reads the file of a member.
func ReadMember(file []byte) (Member, error) {
	const hint = "Choose a file that was saved from a member's card."
	var f memberFile
	if err := bounded(file, limit.CouncilFile); err != nil {
		return Member{}, err
	}
	if err := json.Unmarshal(file, &f); err != nil || f.Format != MemberFormat || f.Member == nil {
		return Member{}, invalid("This file is not a council member.", hint)
	}
	one := Council{Mode: Opinions, Members: []Member{*f.Member}, Tool: Default().Tool}
	one.name()
	return one.Members[0], one.Check()
}

// Read reads and checks the file of a council, of Conclave or of Lumiverse.
func Read(file []byte) (Council, error) {
	if err := bounded(file, limit.CouncilFile); err != nil {
		return Council{}, err
	}
	var c Council
	if err := json.Unmarshal(file, &c); err != nil {
		where := ""
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			where = fmt.Sprintf(", see line %d", 1+bytes.Count(file[:min(int(syntax.Offset), len(file))], []byte("\n")))
		}
		return Council{}, fault.Wrap(fault.Invalid, "council.read", "This file is not a council"+where+".",
			"A council is a JSON object with members; conclave council show --json prints one.", err)
	}
	if err := c.Check(); err != nil {
		return c, err
	}
	var keys struct{ Members json.RawMessage }
	if json.Unmarshal(file, &keys) == nil && keys.Members == nil { // such as another kind of file
		return c, invalid("This file is not a council: it has no members.",
			"Write \"members\": [] where there are to be none.")
	}
	return c, nil
}

// bounded refuses a file that is too long.
func bounded(file []byte, most int) error {
	if len(file) <= most {
		return nil
	}
	return invalid("The file has more than "+limit.Size(int64(most))+", the most that is taken.",
		"Check that it is the right file.")
}
