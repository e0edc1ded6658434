package limit

import "time"

// What a model sends.
const (
	// AnswerText bounds text and reasoning of one answer: twenty times the largest answers; each change between text,
	// reasoning and calls counts as 1 KiB.
	AnswerText = 4 << 20
	// TitleReply bounds a model's answer with a chat title: 60 characters are shown; more costs money that nobody
	// sees.
	TitleReply = 2 << 10
	// Summary bounds a model's summary of the beginning of a chat, which is stored with the chat: some 1,200 words.
	Summary = 8 << 10
	// CallArguments bounds arguments of the tool calls of one answer: a whole file fits; a model that writes more is
	// broken.
	CallArguments = 8 << 20
	// DrawnPictures bounds pictures that a model draws in one answer: dozens of large pictures, which are kept with
	// the chat.
	DrawnPictures = 64 << 20
	// StreamEvent bounds one event of a streamed answer: the largest are pictures of a few MiB.
	StreamEvent = 32 << 20
)

// Messages of hook processes.
const (
	// HookFile bounds hook.json, or a configuration with hooks: dozens of hooks take some kilobytes.
	HookFile = 1 << 20
	// HookProcesses bounds hooks in one configuration: a person approves each; the largest seen has a dozen.
	HookProcesses = 100
	// HookLine bounds one line that a hook process answers: a long conversation with pictures, read into memory whole.
	HookLine = 32 << 20
	// HookMedia bounds pictures and files in a hook's result: a few photographs, read into memory whole.
	HookMedia = 20 << 20
	// PersonNote bounds a tool's note to the person: it stands in the chat; longer text belongs to the result.
	PersonNote = 8 << 10
	// HookMessage bounds one line that a hook process is asked with: no model reads as much text; pictures are
	// references.
	HookMessage = 16 << 20
)

// What a plugin offers and answers.
const (
	// PluginTools bounds tools of one plugin: models choose badly among more, and each is sent with every request.
	PluginTools = 256
	// PluginCalls bounds calls of one plugin at once, as a person may set it: more than a council has members; each
	// takes a thread in a Python plugin.
	PluginCalls = 32
	// ChatToolNames bounds names of tools that one chat keeps: eight plugins with all their tools; they are read and
	// written with the chat.
	ChatToolNames = 2000
	// ToolListings bounds tool listings of a plugin within 10 s: each may be a new version and a card; two or three
	// are usual.
	ToolListings = 10
	// ScriptFile bounds a script, or a file of an extension: the largest seen has 11 MiB; running takes twenty times
	// that.
	ScriptFile = 32 << 20
	// PluginLog bounds log of one plugin, kept: some thousand lines; 200 plugins take 200 MiB.
	PluginLog = 1 << 20
	// ToolDefinition bounds description and schema of one tool: it is sent to the model with every request.
	ToolDefinition = 64 << 10
	// InspectMemory bounds memory for reading a Python plugin's sources: the syntax tree takes up to 750 times a
	// source's size.
	InspectMemory = 512 << 20
)

// Manifests.
const (
	// ManifestName bounds characters of a manifest's name, version, author or permission: it is one line of a card and
	// a question.
	ManifestName = 64
	// ManifestText bounds characters of a manifest's sentence: a paragraph fits; a card is no page.
	ManifestText = 1000
	// ManifestList bounds permissions, imports or notices of one plugin: nobody reads more; real plugins have up to
	// 30.
	ManifestList = 100
)

// What a person brings.
const (
	// Attachment bounds one attached file: what providers take at most.
	Attachment = 20 << 20
	// ImportFile bounds the file of a chat that is imported: a hundred thousand long messages; an item of a list
	// counts with the memory it takes.
	ImportFile = 1 << 30
	// MessageText bounds text of one message, from standard input: more than any model reads.
	MessageText = 16 << 20
	// RuleConditions bounds conditions of one rule about calls: all are compared at each call, and read as one
	// sentence.
	RuleConditions = 16
	// RuleCondition bounds one condition of a rule about calls: the longest path of Linux; a pattern of it compares in
	// microseconds.
	RuleCondition = 4 << 10
	// ChatOrigins bounds outside origins of a chat: a person reads them in one question; the rest is “more places”.
	ChatOrigins = 24
)

// What the window loads for a message.
const (
	// RemotePicture bounds one remote picture that a person loads: the largest pictures of web pages.
	RemotePicture = 10 << 20
	// PicturePixels bounds pixels of one remote picture: more than a camera's; unpacked, 200 MB.
	PicturePixels = 50_000_000
)

// What the window renders.
const (
	// TableColumns bounds columns of a table in a message: nobody reads more, and each row repeats every column.
	TableColumns = 100
	// TableCells bounds unwritten table cells in a message: one character stands for a row of cells; written cells are
	// not bounded.
	TableCells = 10_000
	// TableEscapes bounds escaped bars in a table with code in a message: each is looked for in all code of the table.
	TableEscapes = 500
	// References bounds repeated reference targets and titles in a message, beyond 16 bytes per byte: three characters
	// can repeat any target; long notes need a tenth.
	References = 64 << 10
	// HTML bounds bytes of HTML per byte of a block, beyond 64 KiB: the densest real text, small code in lists, needs
	// half.
	HTML = 80
)

// The changed code of a plugin, shown before the person approves it.
const (
	// DiffLines bounds lines of a plugin's changed code that are shown: nobody reads more on a card.
	DiffLines = 400
	// DiffBytes bounds text of a plugin's changed code that is shown: four hundred full lines, in memory while the
	// plugin waits.
	DiffBytes = 32 << 10
	// DiffFile bounds a file whose changed lines are shown: written sources are smaller; bundlers make larger ones.
	DiffFile = 512 << 10
)

// The record of what hooks did to a request, an answer or a call.
const (
	// HookSteps bounds stored hook steps per message or call: ten plugins that hook everything make a third.
	HookSteps = 64
	// HookChange bounds stored text of hook changes per message or call: three hundred full lines, read with the
	// message.
	HookChange = 24 << 10
	// HookCompared bounds text compared for hook changes: a rewritten chat of a thousand pages, compared in 0.1 s.
	HookCompared = 2 << 20
)

// Documents for models.
const (
	// DocumentUnpacked bounds an office document, unpacked: a thousand pages; a small archive can hold gigabytes.
	DocumentUnpacked = 32 << 20
	// DocumentText bounds text of a file: 60,000 tokens, half of what most models take at once.
	DocumentText = 256 << 10
	// PDF bounds a PDF that is read for its text: a book with pictures, in memory whole.
	PDF = 32 << 20
	// PDFPages bounds pages of a PDF that are read: pages with so little text matter to no question.
	PDFPages = 1000
	// PDFTime bounds time for reading a PDF: forty pages take 0.1 s; a hostile file takes for ever.
	PDFTime = 10 * time.Second
	// PDFMemory bounds memory of the process that reads a PDF: the largest file twice, and the parser.
	PDFMemory = 256 << 20
)

// The plugins folder.
const (
	// PluginEntries bounds possible plugins in the plugins folder: nobody has as many; past it, it is some other
	// folder.
	PluginEntries = 1000
)

// What plugins and their processes take, and councils.
const (
	// SharedMemory bounds a process's memory beyond its data (256 MiB in Python, 512 MiB for MaiBot and N.E.K.O, 192
	// MiB in JavaScript): the largest Python libraries fit.
	SharedMemory = 128 << 20
	// RegisteredPlugins bounds plugins registered by one source: a person approves each; programs have one or two.
	RegisteredPlugins = 100
	// RegisteredPlugin bounds registration of a plugin without files: 256 tools of 16 KiB; the largest set of tools
	// seen has 100 KiB.
	RegisteredPlugin = 4 << 20
	// Registrations bounds tools that programs register over HTTP: ten times what all plugins seen register.
	Registrations = 1000
	// RegistrationBytes bounds descriptions and schemas of one source at one address: 256 tools of 8 KiB; the largest
	// set of tools seen has 100 KiB.
	RegistrationBytes = 2 << 20
	// LoopbackBody bounds a request from a program of this computer: 64 KiB of description and schema, escaped.
	LoopbackBody = 256 << 10
	// ProgramRequest bounds a request of a program that uses Conclave as its MCP server: CallArguments fit.
	ProgramRequest = 8 << 20
	// CallbackAnswer bounds answer of a tool over HTTP: two screen pictures and 1 MiB of text; a line of the wire.
	CallbackAnswer = 3 << 20
	// PluginWrites bounds a plugin's writes to chats, variables and records, at once and per hour, each at least 4
	// KiB: forty pictures; a loop fills gigabytes in a minute.
	PluginWrites = 128 << 20
	// HTTPHeld bounds server answers held for one plugin: two of the largest, or sixty pictures.
	HTTPHeld = 64 << 20
	// HTTPHeldByAll bounds server answers held for all plugins: four plugins at their bound.
	HTTPHeldByAll = 256 << 20
	// MacroValues bounds values of macros in one prompt: a value can repeat two hundred times in each message.
	MacroValues = 3 << 20
	// PlannedArguments bounds a helper model's plan of arguments: a file's worth of text.
	PlannedArguments = 1 << 20
	// CouncilMembers bounds members of one council: nobody follows more; each is at least one request.
	CouncilMembers = 24
	// CouncilName bounds characters of a council's or member's name: a word or two, in every sentence about the
	// member.
	CouncilName = 80
	// CouncilRole bounds characters of a member's role, or of a choice: a sentence; pages belong into a persona.
	CouncilRole = 2000
	// MemberAnswer bounds the answer of one member of a council: a hundred pages, which a model and people read.
	MemberAnswer = 256 << 10
	// SentRequest bounds a stored request of a chat: what the largest models read; pictures are digests.
	SentRequest = 4 << 20
	// SentRequests bounds stored requests of one chat: a hundred requests of a long chat, compressed, for 30 days.
	SentRequests = 4 << 20
	// CouncilRequest bounds a stored request of a member: a long chat with a few pictures; else hash and length are
	// kept.
	CouncilRequest = 8 << 20
	// CouncilTools bounds tools of one member of a council: each is a call in mode tools; models choose badly among
	// more.
	CouncilTools = 64
	// Avatar bounds the picture of a council's member: twice its pixels; the window shrinks pictures first.
	Avatar = 128 << 10
	// AvatarSide bounds pixels of a member's picture, in width and height: it is shown with 28, on screens with up to
	// four per pixel.
	AvatarSide = 128
	// CouncilSteps bounds steps of a council run from a file: 24 members and four rounds have 200; replaying takes a
	// second.
	CouncilSteps = 20_000
	// CouncilBlock bounds the block of claims after a member's answer: twelve points, sixty stances and a ballot take
	// a tenth.
	CouncilBlock = 64 << 10
	// CouncilFile bounds the file of a council, or of one member: twenty-four members with personas of several pages
	// take half of it.
	CouncilFile = 1 << 20
	// RunFile bounds the file of a council's run: twelve members with 1 MiB of chat four times take three quarters.
	RunFile = 64 << 20
	// CheckSteps bounds steps of checking arguments: two seconds; a hostile schema of 2 KiB takes years.
	CheckSteps = 100_000_000
	// PluginThreads bounds threads of a plugin; four times as many with its programs: a pool has tens; in Python some
	// 350 stacks of 512 KiB fit into 256 MiB.
	PluginThreads = 1000
	// ActivityEntries bounds entries of the record of activity that are kept: a year of 270 calls a day; verifying
	// takes a second.
	ActivityEntries = 100_000
	// ActivityArguments bounds arguments of a call in the activity record: nearly every call whole.
	ActivityArguments = 8 << 10
)

// What a plugin stores on this computer.
const (
	// WritableCopy bounds size of a plugin's writable copy: copied at a start; the largest real plugin has 40 MB.
	WritableCopy = 128 << 20
	// WritableCopyFiles bounds files in a plugin's writable copy: checked at each start: 5,000 take 40 ms.
	WritableCopyFiles = 5000
)

// The quota of a plugin's storage.
const (
	// StorageBytes bounds bytes in a plugin's storage: the largest real plugin keeps 40 MB.
	StorageBytes = 512 << 20
	// StorageFiles bounds files and folders in a plugin's storage: counted while it works: 10,000 take 20 ms.
	StorageFiles = 10_000
	// StorageDepth bounds depth of a folder that a plugin may write: real packages have ten; opening one at depth
	// 3,000 took 20 s.
	StorageDepth = 100
)

// Old versions of files that calls change.
const (
	// UndoFile bounds a file whose old versions are kept: each change costs a copy; written files are far below.
	UndoFile = 64 << 20
	// UndoFolder bounds size of a folder copied before a call: copied in half a second, the smallest first.
	UndoFolder = 256 << 20
	// UndoFiles bounds watched files and folders of one folder: checked before and after each call: 20,000 take 60 ms.
	UndoFiles = 20_000
	// UndoBytes bounds bytes of old versions in all: the oldest go first.
	UndoBytes = 1 << 30
)
