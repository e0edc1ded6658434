package tool

// Convention describes how the tools of one dialect are called. The zero value is for
// tools whose arguments are checked here, and which are given nothing else.
type Convention struct {
	// arguments only have to be an object, unless the tool is Strict: whoever runs it checks
	// and converts them
	Loose bool
	// arguments that are no object reach the tool all the same: {"_raw": TEXT} for what is no
	// JSON, {"value": VALUE} for other JSON (contracts/neko, item 62)
	Raw  bool
	Chat bool // each call is given the text of the chat that it is made in
	// its tools say themselves whether members of a council may be given them
	// (Tool.CouncilEligible); else all can be that models are offered
	Council bool
	// names of arguments that are taken out before the tool runs, so that a closed schema
	// does not refuse them
	Ignored []string
}

// ChatNotice tells a person that the tools of a plugin get the chat (Convention.Chat).
const ChatNotice = "Each call of one of its tools is given the text of the whole open chat."
