package wire

// The keys of _meta that both ends know (docs/WIRE.md, sections 2 to 4). Where a struct
// reads one, its tag repeats the text.
const (
	// of a tool that is listed
	MetaLine       = "conclave/line"
	MetaFile       = "conclave/file"
	MetaCouncil    = "conclave/council-eligible"
	MetaInline     = "conclave/inline-available"
	MetaStrict     = "conclave/strict"
	MetaVisibility = "conclave/visibility"
	MetaWarnings   = "conclave/warnings"
	MetaNotes      = "conclave/notes" // of the whole list: sentences for the plugin's card

	// of a call
	MetaCall         = "conclave/call-id"
	MetaConversation = "conclave/conversation"
	MetaDeadline     = "conclave/deadline-ms"
	MetaUser         = "conclave/user"
	MetaRaw          = "conclave/raw-arguments"
	MetaMember       = "conclave/council-member"
	MetaMessages     = "conclave/context-messages"

	// of its result
	MetaResult    = "conclave/result"
	MetaStatus    = "conclave/status"
	MetaErrorType = "conclave/error-type"
	MetaTraceback = "conclave/traceback"
	MetaPrinted   = "conclave/printed"
)
