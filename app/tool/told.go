package tool

// ToldChat reports whether each call of a tool of this contract is given the text of
// the chat that it is made in: Spindle's in args.context (contracts/spindle, section
// 7). Whoever makes calls and whoever tells a person of tools both ask here.
func ToldChat(contract string) bool { return contract == "spindle" }

// ToldChatWords says that to a person, of a plugin.
const ToldChatWords = "Each call of one of its tools is given the text of the whole open chat."
