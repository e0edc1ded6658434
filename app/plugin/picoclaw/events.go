package picoclaw

import "slices"

// kinds are the events that Conclave tells of, by their dotted name, with the name and
// the number of older releases (contracts/picoclaw-hooks, section 8).
var kinds = []struct {
	dotted, legacy string
	number         int
}{
	{"agent.turn.start", "turn_start", 0},
	{"agent.turn.end", "turn_end", 1},
	{"agent.llm.request", "llm_request", 2},
	{"agent.llm.delta", "llm_delta", 3},
	{"agent.llm.response", "llm_response", 4},
	{"agent.llm.retry", "llm_retry", 5},
	{"agent.context.compress", "context_compress", 6},
	{"agent.session.summarize", "session_summarize", 7},
	{"agent.tool.exec_start", "tool_exec_start", 8},
	{"agent.tool.exec_end", "tool_exec_end", 9},
	{"agent.tool.exec_skipped", "tool_exec_skipped", 10},
	{"agent.steering.injected", "steering_injected", 11},
	{"agent.follow_up.queued", "follow_up_queued", 12},
	{"agent.interrupt.received", "interrupt_received", 13},
	{"agent.subturn.spawn", "subturn_spawn", 14},
	{"agent.subturn.end", "subturn_end", 15},
	{"agent.subturn.result_delivered", "subturn_result_delivered", 16},
	{"agent.subturn.orphan", "subturn_orphan", 17},
	{"agent.error", "error", 18},
}

// everything are the names that stand for all kinds but deltas.
var everything = []string{"", "*", "all"}

// foreign are the families of kinds that are taken and never come.
var foreign = []string{"channel.", "bus.", "gateway.", "mcp."}

// observable reports whether observe may name kind.
func observable(kind string) bool {
	if slices.Contains(everything, kind) {
		return true
	}
	for _, family := range foreign {
		if len(kind) > len(family) && kind[:len(family)] == family {
			return true
		}
	}
	for _, k := range kinds {
		if kind == k.dotted || kind == k.legacy {
			return true
		}
	}
	return false
}
