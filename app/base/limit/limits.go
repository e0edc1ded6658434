package limit

import (
	"fmt"
	"strings"
)

// What a model sends.
var (
	// AnswerText bounds what a model may say in one answer, over all its requests.
	AnswerText = add(Limit{
		Name:   "text and reasoning of one answer",
		Value:  4 << 20,
		Unit:   Bytes,
		Why:    "twenty times the largest answers; each change between text, reasoning and calls counts as 1 KiB",
		Person: "The answer was stopped after 4 MiB, the most that one answer may have. What was said until then is kept.",
		Test:   "app/chat/turn TestAnAnswerThatNeverEndsIsStopped",
	})
	// TitleReply bounds what a model may say when it is asked for a chat's title.
	TitleReply = add(Limit{
		Name:   "a model's answer with a chat title",
		Value:  2 << 10,
		Unit:   Bytes,
		Why:    "60 characters are shown; more costs money that nobody sees",
		Person: "The chat keeps the first words of its question as its title.",
		Test:   "app/chat/turn TestATitleThatIsNoneLeavesTheFirstWords",
	})
	// CallArguments bounds the argument text of all calls of one answer.
	CallArguments = add(Limit{
		Name:   "arguments of the tool calls of one answer",
		Value:  8 << 20,
		Unit:   Bytes,
		Why:    "a whole file fits; a model that writes more is broken",
		Person: "MODEL wrote more than 8 MiB as the arguments of its tool calls, and was stopped.",
		Test:   "app/model TestArgumentsThatAreTooLongAreNotBlamedOnTheAddress",
	})
	// DrawnPictures bounds the pictures that a model draws in one answer.
	DrawnPictures = add(Limit{
		Name:   "pictures that a model draws in one answer",
		Value:  64 << 20,
		Unit:   Bytes,
		Why:    "dozens of large pictures, which are kept with the chat",
		Person: "The model drew more than 64 MiB of pictures in one answer. Further ones are left out.",
		Test:   "app/chat/turn TestAModelThatDrawsWithoutEndDoesNotFillTheDisk",
	})
	// StreamEvent bounds one event of a streamed answer, and an answer that comes in one piece.
	StreamEvent = add(Limit{
		Name:   "one event of a streamed answer",
		Value:  32 << 20,
		Unit:   Bytes,
		Why:    "the largest are pictures of a few MiB",
		Person: "CONNECTION sent something that Conclave cannot read: one event of its answer is longer than 32 MiB.",
		Test:   "app/model TestAnEventWithoutEndIsStoppedWithItsBound",
	})
)

// What a hook process says, and what it is told.
var (
	// HookFile bounds a hook.json, or a config.json that hooks are taken from.
	HookFile = add(Limit{
		Name:   "hook.json, or a configuration with hooks",
		Value:  1 << 20,
		Unit:   Bytes,
		Why:    "dozens of hooks take some kilobytes",
		Person: "The file with its hooks has more than 1 MiB, so it was not read.",
		Test:   "app/plugin/dialect/picoclaw TestPC07AFileThatIsTooLongIsNotRead",
	})
	// HookProcesses bounds the hooks of one configuration that plugins are made of.
	HookProcesses = add(Limit{
		Name:   "hooks in one configuration",
		Value:  100,
		Why:    "a person approves each; the largest seen has a dozen",
		Person: "It has more than 100 hooks, so no plugin was made of it.",
		Test:   "app/plugin/dialect/picoclaw TestPC55AConfigurationWithTooManyProcessesIsRefused",
	})
	// HookLine bounds one line of a hook process (contracts/picoclaw-hooks, section 5).
	HookLine = add(Limit{
		Name:   "one line that a hook process answers",
		Value:  32 << 20,
		Unit:   Bytes,
		Why:    "a long conversation with pictures, read into memory whole",
		Person: "It answered with a line of more than 32 MiB, which was passed over.",
		Model:  "it answered with a line of more than 32 MiB",
		Test:   "app/plugin/dialect/picoclaw TestPC34LongLines",
	})
	// HookMedia bounds the pictures and files of one result of a hook.
	HookMedia = add(Limit{
		Name:   "pictures and files in a hook's result",
		Value:  20 << 20,
		Unit:   Bytes,
		Why:    "a few photographs, read into memory whole",
		Person: "A hook answered with more than 20 MiB of pictures and files; those above that were left out.",
		Test:   "app/plugin/dialect/picoclaw TestPC46MediaAboveTheBoundAreLeftOut",
	})
	// PersonNote bounds one sentence of a tool for the person beside its result.
	PersonNote = add(Limit{
		Name:   "a tool's note to the person",
		Value:  8 << 10,
		Unit:   Bytes,
		Why:    "it stands in the chat; longer text belongs to the result",
		Person: "(It said more than 8 KiB; the rest was left out.)",
		Test:   "app/plugin/dialect/picoclaw TestPC45WhatAToolSaysToThePersonIsBounded",
	})
	// HookMessage bounds one line that a hook process is asked with.
	HookMessage = add(Limit{
		Name:   "one line that a hook process is asked with",
		Value:  16 << 20,
		Unit:   Bytes,
		Why:    "no model reads as much text; pictures are references",
		Person: "The request has more than 16 MiB, so the hook was not asked.",
		Model:  "what it would be asked has more than 16 MiB",
		Test:   "app/plugin/dialect/picoclaw TestPC34ARequestThatIsTooLongIsNotSent",
	})
)

// What a plugin offers and answers.
var (
	// PluginTools bounds how many tools one plugin may offer (contracts/spindle,
	// section 6.6).
	PluginTools = add(Limit{
		Name:  "tools of one plugin",
		Value: 256,
		Why:   "models choose badly among more, and each is sent with every request",
		Person: "44 of its tools are not offered: a plugin may offer 256 tools of at most 64 KiB each, with a name. " +
			"Its log has the names.",
		Test: "app/plugin/host TestToolsThatAreLeftOutAreSaidOnTheCard",
	})
	// ChatToolNames bounds the names of tools that are kept with a chat.
	ChatToolNames = add(Limit{
		Name:   "names of tools that one chat keeps",
		Value:  2000,
		Why:    "eight plugins with all their tools; they are read and written with the chat",
		Person: "Tools that come later are offered with their plugin before their name, as in PLUGIN__TOOL.",
		Test:   "app/tool TestAFullListOfNamesGivesNoBareNameAway",
	})
	// ToolListings bounds how often the tools of one plugin are listed again within
	// ten seconds.
	ToolListings = add(Limit{
		Name:  "tool listings of a plugin within 10 s",
		Value: 10,
		Why:   "each may be a new version and a card; two or three are usual",
		Person: "It says all the time that its tools changed. They are listed 10 times within 10 s, " +
			"and the newest ones a little later.",
		Test: "app/plugin/host TestToolsThatChangeAllTheTimeAreListedAtABoundedRate",
	})
	// ScriptFile bounds one file of a script plugin.
	ScriptFile = add(Limit{
		Name:   "a script, or a file of an extension",
		Value:  32 << 20,
		Unit:   Bytes,
		Why:    "the largest seen has 11 MiB; running takes twenty times that",
		Person: "It has 50 MiB; a script may have 32 MiB.",
		Test:   "app/plugin/dialect/spindle TestAScriptOverTheBoundIsRefusedWithItsSizeAndNameOnce",
	})
	// PluginLog bounds what is kept of a plugin's log: two files of half of it.
	PluginLog = add(Limit{
		Name:   "log of one plugin, kept",
		Value:  1 << 20,
		Unit:   Bytes,
		Why:    "some thousand lines; 200 plugins take 200 MiB",
		Person: "Older lines of this log are not kept: it holds 1 MiB.",
		Test:   "app/plugin/host TestAKeptLogIsBoundedAndSaysSo",
	})
	// ToolDefinition bounds one tool's description and schema.
	ToolDefinition = add(Limit{
		Name:  "description and schema of one tool",
		Value: 64 << 10,
		Unit:  Bytes,
		Why:   "it is sent to the model with every request",
		Person: "1 of its tools is not offered: a plugin may offer 256 tools of at most 64 KiB each, with a name. " +
			"Its log has the names.",
		Test: "app/plugin/host TestToolsThatAreLeftOutAreSaidOnTheCard",
	})
	// InspectMemory bounds the process that reads a Python plugin's sources before
	// anybody approved them.
	InspectMemory = add(Limit{
		Name:   "memory for reading a Python plugin's sources",
		Value:  512 << 20,
		Unit:   Bytes,
		Why:    "the syntax tree takes up to 750 times a source's size",
		Person: "Reading its sources takes more memory than Conclave gives to that.",
		Test:   "app/plugin/dialect/functions TestSourcesWrittenAgainstTheParserAreReadBehindWalls",
	})
	// ResultDepth bounds the nesting of a Python function's result; the shim's
	// results.py has the same number.
	ResultDepth = add(Limit{
		Name:  "nesting of a Python function's result",
		Value: 100,
		Unit:  Levels,
		Why:   "readers of JSON, ours and a model server's, give up on deeper values",
		Model: "[nested over 100 levels deep; the rest as text: …]",
		Test:  "app/plugin/dialect/functions TestLF48WhatAFileDoesWrongIsASentenceAndTheNextCallWorks",
	})
)

// What a manifest says of a plugin.
var (
	// ManifestName bounds a name, a version, an author and a permission.
	ManifestName = add(Limit{
		Name:   "characters of a manifest's name, version, author or permission",
		Value:  64,
		Why:    "it is one line of a card and a question",
		Person: "It is cut, and ends in “…”.",
		Test:   "app/plugin/hosttest TestEveryFieldOfEveryManifestIsCleaned",
	})
	// ManifestText bounds a description, a notice, a path and a problem's sentence.
	ManifestText = add(Limit{
		Name:   "characters of a manifest's sentence",
		Value:  1000,
		Why:    "a paragraph fits; a card is no page",
		Person: "It is cut, and ends in “…”.",
		Test:   "app/plugin/hosttest TestEveryFieldOfEveryManifestIsCleaned",
	})
	// ManifestList bounds the permissions, imports and notices of one plugin.
	ManifestList = add(Limit{
		Name:   "permissions, imports or notices of one plugin",
		Value:  100,
		Why:    "nobody reads more; real plugins have up to 30",
		Person: "The first 100 are shown and count.",
		Test:   "app/plugin/hosttest TestEveryFieldOfEveryManifestIsCleaned",
	})
)

// What a person brings.
var (
	// Attachment bounds one attached file.
	Attachment = add(Limit{
		Name:   "one attached file",
		Value:  20 << 20,
		Unit:   Bytes,
		Why:    "what providers take at most",
		Person: "The file FILE has more than 20 MiB, the most that is taken. Send a part of it.",
		Test:   "app/terminal TestOnlyRegularFilesOfABoundedSizeAreRead",
	})
	// ImportFile bounds the file of a chat that is imported, and what its lists take in the memory.
	ImportFile = add(Limit{
		Name:  "the file of a chat that is imported",
		Value: 1 << 30,
		Unit:  Bytes,
		Why:   "a hundred thousand long messages; an item of a list counts with the memory it takes",
		Person: "The file FILE has more than 1 GiB, the most that is taken, or lists of so many items that they take " +
			"as much. Nothing was imported.",
		Test: "app/terminal TestAnImportOfManySmallThingsIsRefusedBeforeItTakesTheMemory",
	})
	// MessageText bounds the text of one message read from standard input.
	MessageText = add(Limit{
		Name:   "text of one message, from standard input",
		Value:  16 << 20,
		Unit:   Bytes,
		Why:    "more than any model reads",
		Person: "The text has more than 16 MiB, the most that is taken. Send a part of it.",
		Test:   "app/terminal TestOnlyRegularFilesOfABoundedSizeAreRead",
	})
	// RuleConditions bounds the conditions of one rule.
	RuleConditions = add(Limit{
		Name:   "conditions of one rule about calls",
		Value:  16,
		Why:    "all are compared at each call, and read as one sentence",
		Person: "A rule has at most 16 conditions.",
		Test:   "app/gate TestARuleOverTheBoundsIsRefused",
	})
	// RuleCondition bounds one condition of a rule.
	RuleCondition = add(Limit{
		Name:   "one condition of a rule about calls",
		Value:  4 << 10,
		Unit:   Bytes,
		Why:    "the longest path of Linux; a pattern of it compares in microseconds",
		Person: "A condition of a rule has at most 4 KiB.",
		Test:   "app/gate TestARuleOverTheBoundsIsRefused",
	})
	// ChatOrigins bounds the origins of a chat that are named.
	ChatOrigins = add(Limit{
		Name:   "outside origins of a chat",
		Value:  24,
		Why:    "a person reads them in one question; the rest is “more places”",
		Person: "text from more places",
		Test:   "app/chat TestOriginsBeyondTheBoundAreMorePlaces",
	})
)

// ScriptTooBig says that a file of a script plugin has size bytes, which is over
// ScriptFile.
func ScriptTooBig(size int64) string {
	return fmt.Sprintf("It has %s; a script may have %s.", Size(size), ScriptFile)
}

// ToolsLeftOut is the sentence on the card of a plugin of which n tools are not
// offered because of PluginTools or ToolDefinition.
func ToolsLeftOut(n int) string {
	some := "1 of its tools is"
	if n != 1 {
		some = fmt.Sprintf("%d of its tools are", n)
	}
	return fmt.Sprintf("%s not offered: a plugin may offer %s tools of at most %s each, with a name. "+
		"Its log has the names.",
		some, PluginTools, ToolDefinition)
}

// What the window loads for a message.
var (
	RemotePicture = add(Limit{
		Name: "one remote picture that a person loads", Value: 10 << 20, Unit: Bytes,
		Why:    "the largest pictures of web pages",
		Person: "The picture is larger than 10 MiB, so it is not shown.",
		Test:   "app/window TestARemotePictureIsBounded",
	})
	PicturePixels = add(Limit{
		Name: "pixels of one remote picture", Value: 50_000_000, Unit: Count,
		Why:    "more than a camera's; unpacked, 200 MB",
		Person: "The picture has more than 50 million pixels, so it is not shown.",
		Test:   "app/window TestARemotePictureIsBounded",
	})
)

// What the window renders.
var (
	// TableColumns bounds the columns of a table in Markdown.
	TableColumns = add(Limit{
		Name:   "columns of a table in a message",
		Value:  100,
		Why:    "nobody reads more, and each row repeats every column",
		Person: "Shown as text: a table with more than 100 columns.",
		Test:   "app/chat/render TestATableOverTheBoundsIsShownAsText",
	})
	// TableCells bounds the cells that rows which are too short are filled up with.
	TableCells = add(Limit{
		Name:   "unwritten table cells in a message",
		Value:  10_000,
		Why:    "one character stands for a row of cells; written cells are not bounded",
		Person: "Shown as text: a table with too many empty cells.",
		Test:   "app/chat/render TestATableOverTheBoundsIsShownAsText",
	})
	// TableEscapes bounds the escaped bars in a table that holds code.
	TableEscapes = add(Limit{
		Name:   "escaped bars in a table with code in a message",
		Value:  500,
		Why:    "each is looked for in all code of the table",
		Person: "Shown as text: a table with more than 500 escaped bars.",
		Test:   "app/chat/render TestATableOverTheBoundsIsShownAsText",
	})
	// References bounds how much a message's link definitions add to it.
	References = add(Limit{
		Name:   "repeated reference targets and titles in a message, beyond 16 bytes per byte",
		Value:  64 << 10,
		Unit:   Bytes,
		Why:    "three characters can repeat any target; long notes need a tenth",
		Person: "A reference beyond is shown as it was written.",
		Test:   "app/chat/render TestReferencesBeyondTheBoundAreShownAsWritten",
	})
	// HTML bounds what one block of a message may become.
	HTML = add(Limit{
		Name:   "bytes of HTML per byte of a block, beyond 64 KiB",
		Value:  80,
		Why:    "the densest real text, small code in lists, needs half",
		Person: "Shown as text: formatted it would be too large.",
		Test:   "app/chat/render TestABlockOfTooMuchHTMLIsShownAsText",
	})
)

// What of a plugin's changed code a person is shown before they approve it.
var (
	// DiffLines and DiffBytes bound the lines that are shown.
	DiffLines = add(Limit{
		Name:   "lines of a plugin's changed code that are shown",
		Value:  400,
		Why:    "nobody reads more on a card",
		Person: "12 more lines and 3 more files differ and are not shown. Open its folder in your editor to read all of it.",
		Test:   "app/plugin/host TestTheLinesThatAreShownAreBounded",
	})
	DiffBytes = add(Limit{
		Name:   "text of a plugin's changed code that is shown",
		Value:  32 << 10,
		Unit:   Bytes,
		Why:    "four hundred full lines, in memory while the plugin waits",
		Person: "12 more lines and 3 more files differ and are not shown. Open its folder in your editor to read all of it.",
		Test:   "app/plugin/host TestTheLinesThatAreShownAreBounded",
	})
	// DiffFile bounds a file whose lines are compared.
	DiffFile = add(Limit{
		Name:   "a file whose changed lines are shown",
		Value:  512 << 10,
		Unit:   Bytes,
		Why:    "written sources are smaller; bundlers make larger ones",
		Person: "bundle.js: it may have changed; lines of files over 512 KiB are not compared.",
		Test:   "app/plugin/host TestTheLinesThatAreShownAreBounded",
	})
)

// DiffLeftOut says what of a plugin's changed code is not shown.
func DiffLeftOut(lines, files int) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{lines, "line"}, {files, "file"}} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 more "+c.what)
		case c.n > 1:
			parts = append(parts, fmt.Sprintf("%d more %ss", c.n, c.what))
		}
	}
	verb := "differ and are"
	if lines+files == 1 {
		verb = "differs and is"
	}
	return strings.Join(parts, " and ") + " " + verb + " not shown. Open its folder in your editor to read all of it."
}

// What is kept of what hooks did to a request, an answer or a call.
var (
	// HookSteps bounds the steps that are listed.
	HookSteps = add(Limit{
		Name:   "stored hook steps per message or call",
		Value:  64,
		Why:    "ten plugins that hook everything make a third",
		Person: "36 more steps of hooks are not listed.",
		Test:   "app/tool/hook TestWhatIsKeptOfHooksIsBounded",
	})
	// HookChange bounds the lines that they changed.
	HookChange = add(Limit{
		Name:   "stored text of hook changes per message or call",
		Value:  24 << 10,
		Unit:   Bytes,
		Why:    "three hundred full lines, read with the message",
		Person: "12 more lines differ and are not kept.",
		Test:   "app/tool/hook TestWhatIsKeptOfHooksIsBounded",
	})
	// HookCompared bounds what is compared to find them.
	HookCompared = add(Limit{
		Name:   "text compared for hook changes",
		Value:  2 << 20,
		Unit:   Bytes,
		Why:    "a rewritten chat of a thousand pages, compared in 0.1 s",
		Person: "It was given and gave back more than 2 MiB that differ, which are not compared line by line.",
		Test:   "app/tool/hook TestWhatIsKeptOfHooksIsBounded",
	})
)

// HookStepsLeft says how many steps of hooks are not listed.
func HookStepsLeft(n int) string {
	if n == 1 {
		return "1 more step of a hook is not listed."
	}
	return fmt.Sprintf("%d more steps of hooks are not listed.", n)
}

// HookLinesLeft says how many changed lines are not kept.
func HookLinesLeft(n int) string {
	if n == 1 {
		return "1 more line differs and is not kept."
	}
	return fmt.Sprintf("%d more lines differ and are not kept.", n)
}

// What of a document a model is told.
var (
	DocumentUnpacked = add(Limit{
		Name: "an office document, unpacked", Value: 32 << 20, Unit: Bytes,
		Why:    "a thousand pages; a small archive can hold gigabytes",
		Person: "NAME is not read: it unpacks to more than 32 MiB.",
		Model:  "[file NAME, …: it unpacks to more than 32 MiB, more than is read]",
		Test:   "app/chat/document TestADocumentIsReadAsFarAsItsBounds",
	})
	DocumentText = add(Limit{
		Name: "text of a file", Value: 256 << 10, Unit: Bytes,
		Why:    "60,000 tokens, half of what most models take at once",
		Person: "Only the first 256 KiB of the text of NAME are sent; the rest is left out.",
		Model:  "[the rest of NAME is left out: a model is told at most 256 KiB of a document]",
		Test:   "app/chat/document TestADocumentIsReadAsFarAsItsBounds",
	})
	PDF = add(Limit{
		Name: "a PDF that is read for its text", Value: 32 << 20, Unit: Bytes,
		Why:    "a book with pictures, in memory whole",
		Person: "NAME is not read: a PDF may have at most 32 MiB.",
		Model:  "[file NAME, …: it is larger than 32 MiB, more than is read]",
		Test:   "app/core TestAPDFBeyondABoundIsSaid",
	})
	PDFPages = add(Limit{
		Name: "pages of a PDF that are read", Value: 1000,
		Why:    "pages with so little text matter to no question",
		Person: "Only the first 1,000 pages of NAME are sent; the rest is left out.",
		Model:  "[the rest of NAME is left out: a model is told at most 1,000 pages of a PDF]",
		Test:   "app/chat/document/pdf TestAPDFIsReadAsFarAsItsBounds",
	})
	PDFTime = add(Limit{
		Name: "time for reading a PDF", Value: 10_000, Unit: Millis,
		Why:    "forty pages take 0.1 s; a hostile file takes for ever",
		Person: "NAME is not read: reading it takes more than 10 s or 256 MiB of memory.",
		Model:  "[file NAME, …: reading it takes more than 10 s or 256 MiB of memory]",
		Test:   "app/core TestAHostilePDFEndsItsOwnProcessAlone",
	})
	PDFMemory = add(Limit{
		Name: "memory of the process that reads a PDF", Value: 256 << 20, Unit: Bytes,
		Why:    "the largest file twice, and the parser",
		Person: "NAME is not read: reading it takes more than 10 s or 256 MiB of memory.",
		Model:  "[file NAME, …: reading it takes more than 10 s or 256 MiB of memory]",
		Test:   "app/core TestAHostilePDFEndsItsOwnProcessAlone",
	})
)

// What lies in the plugins folder.
var (
	// PluginEntries bounds how many plugins one folder may hold.
	PluginEntries = add(Limit{
		Name:   "possible plugins in the plugins folder",
		Value:  1000,
		Why:    "nobody has as many; past it, it is some other folder",
		Person: "The plugins folder FOLDER holds more than 1,000 files and folders that could be plugins.",
		Test:   "app/plugin/host TestTooManyEntriesAreSaidAndOthersDoNotCount",
	})
)

// What a plugin's process takes.
var (
	// SharedMemory bounds what RLIMIT_DATA does not count: shared mappings, files
	// that are mapped, libraries.
	SharedMemory = add(Limit{
		Name: "a process's memory beyond its data " +
			"(256 MiB in Python, 512 MiB for MaiBot and N.E.K.O, 192 MiB in JavaScript)",
		Value:  128 << 20,
		Unit:   Bytes,
		Why:    "the largest Python libraries fit",
		Person: "It took more memory than a plugin may have.",
		Test:   "app/plugin/worker TestSharedMemoryCountsToo",
	})
	// RegisteredPlugins and RegisteredPlugin bound the plugins without files that one source
	// registers.
	RegisteredPlugins = add(Limit{
		Name:   "plugins registered by one source",
		Value:  100,
		Why:    "a person approves each; programs have one or two",
		Person: "More than 100 plugins are registered, the most that are kept.",
		Test:   "app/plugin/host TestWhatRegistersIsOfABoundedSizeAndNumber",
	})
	RegisteredPlugin = add(Limit{
		Name:   "registration of a plugin without files",
		Value:  4 << 20,
		Unit:   Bytes,
		Why:    "256 tools of 16 KiB; the largest set of tools seen has 100 KiB",
		Person: "The plugin PLUGIN registers more than 4 MiB of tools, the most that is kept.",
		Test:   "app/plugin/host TestWhatRegistersIsOfABoundedSizeAndNumber",
	})
	// Registrations, RegistrationSources and RegistrationBytes bound what programs register
	// over HTTP, LoopbackBody what one request may send, and CallbackAnswer what a tool may
	// answer.
	Registrations = add(Limit{
		Name:  "tools that programs register over HTTP",
		Value: 1000,
		Why:   "ten times what all plugins seen register",
		Model: "1,000 tools are registered, the most that are kept",
		Test:  "app/plugin/dialect/httptools TestHostileMoreRegistrationsThanAreKept",
	})
	RegistrationSources = add(Limit{
		Name:  "sources, addresses and roles over HTTP",
		Value: 100,
		Why:   "each is a card that a person looks at",
		Model: "100 sources have registered tools, the most that are kept",
		Test:  "app/plugin/dialect/httptools TestHostileMoreRegistrationsThanAreKept",
	})
	RegistrationBytes = add(Limit{
		Name:  "descriptions and schemas of one source at one address",
		Value: 2 << 20,
		Unit:  Bytes,
		Why:   "256 tools of 8 KiB; the largest set of tools seen has 100 KiB",
		Model: "the tools of this source have more than 2 MiB, the most that is kept",
		Test:  "app/plugin/dialect/httptools TestHostileMoreBytesThanAreKept",
	})
	LoopbackBody = add(Limit{
		Name:  "a request from a program of this computer",
		Value: 256 << 10,
		Unit:  Bytes,
		Why:   "64 KiB of description and schema, escaped",
		Model: "the body has more than SIZE, the most that is read",
		Test:  "app/plugin/dialect/httptools TestHostileABodyThatNeverEnds",
	})
	CallbackAnswer = add(Limit{
		Name:  "answer of a tool over HTTP",
		Value: 3 << 20,
		Unit:  Bytes,
		Why:   "two screen pictures and 1 MiB of text; a line of the wire",
		Model: "the tool answered more than 3 MiB with pictures, or a text of more than 1 MiB, the most that is read",
		Test:  "app/plugin/dialect/httptools TestNK32WhatACallbackAnswers",
	})
	// PluginWrites bounds what a plugin has Conclave keep in chats, variables and
	// shared records.
	PluginWrites = add(Limit{
		Name:  "a plugin's writes to chats, variables and records, at once and per hour, each at least 4 KiB",
		Value: 128 << 20,
		Unit:  Bytes,
		Why:   "forty pictures; a loop fills gigabytes in a minute",
		Model: "the plugin wrote more than 128 MiB into Conclave within an hour, and has to wait",
		Test:  "app/service TestAPluginDoesNotFillTheStore",
	})
	// HTTPHeld and HTTPHeldByAll bound the answers of servers to plugins that are in
	// memory.
	HTTPHeld = add(Limit{
		Name:  "server answers held for one plugin",
		Value: 64 << 20,
		Unit:  Bytes,
		Why:   "two of the largest, or sixty pictures",
		Model: "The answers of servers that this plugin waits for hold more than 64 MiB, " +
			"or those of all plugins more than 256 MiB. " +
			"Ask for fewer at once, or read on what is left of earlier ones.",
		Test: "app/service TestAnswersOfServersTakeABoundedShareOfTheMemory",
	})
	HTTPHeldByAll = add(Limit{
		Name:  "server answers held for all plugins",
		Value: 256 << 20,
		Unit:  Bytes,
		Why:   "four plugins at their bound",
		Model: HTTPHeld.Model,
		Test:  "app/service TestAnswersOfServersTakeABoundedShareOfTheMemory",
	})
	// MacroValues bounds what macros put into one prompt, or into a text that a
	// plugin has worked out.
	MacroValues = add(Limit{
		Name:   "values of macros in one prompt",
		Value:  3 << 20,
		Unit:   Bytes,
		Why:    "a value can repeat two hundred times in each message",
		Person: "The values of macros are more than 3 MiB together, so the last of them were left out.",
		Test:   "app/service TestMacrosPutABoundedTextIntoAPrompt",
	})
	// PlannedArguments bounds what a model writes that plans the arguments of a call.
	PlannedArguments = add(Limit{
		Name:   "a helper model's plan of arguments",
		Value:  1 << 20,
		Unit:   Bytes,
		Why:    "a file's worth of text",
		Person: "The helper model wrote more than 1 MiB to plan the arguments of one call, and was stopped.",
		Test:   "app/council/deliberation TestAHelperThatWritesWithoutEndIsStopped",
	})
	// CouncilMembers bounds the members of one council.
	CouncilMembers = add(Limit{
		Name:   "members of one council",
		Value:  24,
		Why:    "nobody follows more; each is at least one request",
		Person: "A council has at most 24 members.",
		Test:   "app/council TestACouncilHasABoundedNumberOfMembers",
	})
	// CouncilName bounds the names of members and councils, and CouncilRole roles and choices.
	CouncilName = add(Limit{
		Name:   "characters of a council's or member's name",
		Value:  80,
		Why:    "a word or two, in every sentence about the member",
		Person: "A name in a council has at most 80 characters.",
		Test:   "app/council TestNamesInACouncilAreOneLineThatIsSeen",
	})
	CouncilRole = add(Limit{
		Name:   "characters of a member's role, or of a choice",
		Value:  2000,
		Why:    "a sentence; pages belong into a persona",
		Person: "A role, or a choice, of a council has at most 2,000 characters.",
		Test:   "app/council TestNamesInACouncilAreOneLineThatIsSeen",
	})
	// MemberAnswer bounds what one member says in one task.
	MemberAnswer = add(Limit{
		Name:   "the answer of one member of a council",
		Value:  256 << 10,
		Unit:   Bytes,
		Why:    "a hundred pages, which a model and people read",
		Person: "The answer was longer than 256 KiB and was cut here.",
		Test:   "app/council/deliberation TestAMemberThatDoesNotStopIsCut",
	})
	// SentRequest bounds what is kept of one request of a chat to a model, and SentRequests
	// what is kept of all requests of one chat.
	SentRequest = add(Limit{
		Name:   "a stored request of a chat",
		Value:  4 << 20,
		Unit:   Bytes,
		Why:    "what the largest models read; pictures are digests",
		Person: "This request was not kept. It is rebuilt from the chat, and may differ from what was sent.",
		Test:   "store TestTheRequestsThatAreKeptOfAChatAreBounded",
	})
	SentRequests = add(Limit{
		Name:   "stored requests of one chat",
		Value:  4 << 20,
		Unit:   Bytes,
		Why:    "a hundred requests of a long chat, compressed, for 30 days",
		Person: "This request was not kept. It is rebuilt from the chat, and may differ from what was sent.",
		Test:   "store TestTheRequestsThatAreKeptOfAChatAreBounded",
	})
	// CouncilRequest bounds what is kept of one request of a member to a model.
	CouncilRequest = add(Limit{
		Name:   "a stored request of a member",
		Value:  8 << 20,
		Unit:   Bytes,
		Why:    "a long chat with a few pictures; else hash and length are kept",
		Person: "The request was longer than 8 MiB, so its bytes were not kept; their hash was.",
		Test:   "app/council/deliberation TestARequestThatIsTooLongToBeKeptIsNamedByItsHash",
	})
	// CouncilTools bounds the tools of one member.
	CouncilTools = add(Limit{
		Name:   "tools of one member of a council",
		Value:  64,
		Why:    "each is a call in mode tools; models choose badly among more",
		Person: "A member of a council has at most 64 tools.",
		Test:   "app/council TestACouncilHasABoundedNumberOfMembers",
	})
	// Avatar bounds the picture of a member, and AvatarSide how wide and high it is.
	Avatar = add(Limit{
		Name:   "the picture of a council's member",
		Value:  128 << 10,
		Unit:   Bytes,
		Why:    "twice its pixels; the window shrinks pictures first",
		Person: "The picture of a member has more than 128 KiB.",
		Test:   "app/window TestThePictureOfAMemberIsBoundedAndDrawnAnew",
	})
	AvatarSide = add(Limit{
		Name:   "pixels of a member's picture, in width and height",
		Value:  128,
		Why:    "it is shown with 28, on screens with up to four per pixel",
		Person: "The picture of a member has more than 128 pixels in one direction.",
		Test:   "app/window TestThePictureOfAMemberIsBoundedAndDrawnAnew",
	})
	// CouncilSteps bounds the steps of a run that is opened from a file.
	CouncilSteps = add(Limit{
		Name:   "steps of a council run from a file",
		Value:  20_000,
		Why:    "24 members and four rounds have 200; replaying takes a second",
		Person: "The file has more than 20,000 steps, more than any run of a council takes.",
		Test:   "app/council TestTheFileOfARunIsBounded",
	})
	// CouncilBlock bounds the block of JSON at the end of what a member says.
	CouncilBlock = add(Limit{
		Name:   "the block of claims after a member's answer",
		Value:  64 << 10,
		Unit:   Bytes,
		Why:    "twelve points, sixty stances and a ballot take a tenth",
		Person: "The block at the end of a member's answer is longer than 64 KiB and was not read.",
		Test:   "app/council TestABlockAtTheEndOfAnAnswerIsBounded",
	})
	// CouncilFile bounds the file of a council or of one member, and RunFile that of a run.
	CouncilFile = add(Limit{
		Name:   "the file of a council, or of one member",
		Value:  1 << 20,
		Unit:   Bytes,
		Why:    "twenty-four members with personas of several pages take half of it",
		Person: "The file FILE has more than 1 MiB, the most that is taken. Check that it is the right file.",
		Test:   "app/terminal TestACouncilsFileIsOfABoundedSize",
	})
	RunFile = add(Limit{
		Name:   "the file of a council's run",
		Value:  64 << 20,
		Unit:   Bytes,
		Why:    "twelve members with 1 MiB of chat four times take three quarters",
		Person: "The file FILE has more than 64 MiB, the most that is taken. Check that it is the right file.",
		Test:   "app/terminal TestACouncilsFileIsOfABoundedSize",
	})
	// CheckSteps bounds the check of a call's arguments, or of settings, by a schema.
	CheckSteps = add(Limit{
		Name:   "steps of checking arguments",
		Value:  100_000_000,
		Why:    "two seconds; a hostile schema of 2 KiB takes years",
		Person: "Checking it by its schema takes too long, so it is not checked.",
		Test:   "app/tool TestCheckingArgumentsEndsWhateverTheSchemaAsksFor",
	})
	// PluginThreads bounds what no limit of the system counts for one plugin alone.
	PluginThreads = add(Limit{
		Name:   "threads of a plugin; four times as many with its programs",
		Value:  1000,
		Why:    "a pool has tens; in Python some 350 stacks of 512 KiB fit into 256 MiB",
		Person: "It has more threads than a plugin may have.",
		Test:   "app/plugin/worker TestAPluginThatMakesThreadsWithoutEndIsStopped",
	})
	// ActivityEntries and ActivityArguments bound the record of activity.
	ActivityEntries = add(Limit{
		Name:   "entries of the record of activity that are kept",
		Value:  100_000,
		Why:    "a year of 270 calls a day; verifying takes a second",
		Person: "The oldest entries were removed: the record keeps the newest 100,000.",
		Test:   "store TestTheRecordIsCutAtItsBoundAndTheRestIsStillVerified",
	})
	ActivityArguments = add(Limit{
		Name:   "arguments of a call in the activity record",
		Value:  8 << 10,
		Unit:   Bytes,
		Why:    "nearly every call whole",
		Person: "The arguments have more than 8 KiB; their beginning is on record.",
		Test:   "app/record/activity TestArgumentsAreKeptWithoutSecretsAndUpToABound",
	})
)
