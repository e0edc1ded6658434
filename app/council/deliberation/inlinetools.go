package deliberation

import (
	"cmp"
	"slices"

	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/tool"
)

// inlineTools adds the tools of a council's members to those of the main model, which calls them for
// the members (contracts/spindle, section 8). Prompt tools are left out, and no dice are thrown. all
// is the set of all tools; offered is nil where the main model has none; only is the id of the one
// member that is asked, or "".
func inlineTools(c council.Council, only string, all, offered *tool.Set) (*tool.Set, map[string]turn.Inline) {
	var more []tool.Tool
	inline := map[string]turn.Inline{}
	for _, m := range c.Members {
		if m.Off || only != "" && m.ID != only {
			continue
		}
		for i, assigned := range m.Tools {
			found, ok := all.ByID(assigned)
			if eligible, _ := council.Eligible(found); !ok || !eligible || slices.Contains(m.Tools[:i], assigned) {
				continue
			}
			whose := m.Name
			if m.Role != "" {
				whose += " (" + m.Role + ")"
			}
			found.Member, found.MemberName, found.Visibility = m.ID, m.Name, tool.Direct
			found.Description = "For " + whose + ": " + cmp.Or(found.Description, found.DisplayName())
			more = append(more, found)
			inline[m.ID] = turn.Inline{
				Caller: gate.Member(m.ID), Name: m.Name, Member: council.MemberContext(m),
			}
		}
	}
	if len(more) == 0 {
		return offered, nil
	}
	if offered == nil {
		offered = all.Filter(func(tool.Tool) bool { return false })
	}
	return offered.With(more), inline
}
