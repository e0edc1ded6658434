// Package render turns Markdown that a model or a person wrote into HTML that
// is safe to put into the window, block by block.
//
// What belongs here: splitting a text at the borders of its top-level blocks,
// the dialect (CommonMark with tables, strikethrough, task lists, bare links,
// footnotes, definition lists, folds and mathematics), what each element looks
// like as HTML, and the allow list that the result has to pass. What does not:
// what a conversation is, the style sheet of the window, and drawing formulas
// and diagrams, which the window does from the data attributes it finds.
//
// Read [Render], [Stream] and [Block] first. Package clean below removes hidden
// characters from plain text; package syntax colours code.
//
// # Safety
//
// Everything that a text says is escaped unless Markdown gives it a meaning.
// Raw HTML is shown as text, but for a handful of tags without attributes (see
// html.go). Links go to http, https and mailto only, carry their host in
// data-host and, if their words name another host, that one in data-mismatch.
// Images of other hosts never load by themselves. No element has an id, a style
// or a handler. What goldmark made passes a policy last (sanitize.go); blocks that are only
// escaped text between fixed tags (code, diagrams) are made without it, and a
// fuzz test holds them against the same list.
//
// # Cost
//
// A [Stream] keeps the state of a line-by-line splitter, so that finding the
// borders costs as much as the new text is long. A finished block is rendered
// once. The open block is rendered again whenever its patches are asked for, but
// what is long is so only at its end: of code, the line that is not complete; of a
// table or paragraph, the last KiB or two, while what is before them is kept as it
// was rendered, in pieces, until the block is complete and rendered as one. Each
// patch says how much of the block stays, so that a page gets what was added. Any
// other block of more than 2 KiB is rendered when it has grown by a thirty-second
// part. So the cost of a character is constant however long the block becomes.
// Long lists are cut between their items, long paragraphs and tables at fixed
// sizes, and lines at 16 KiB.
//
// # References that come later
//
// A link may name a definition further down. Each block remembers the labels
// that it looked up in vain; [Stream.Finish] renders a block again if one of
// them has been defined since, and reports it only if that changed it. The
// first definition of a label counts, as CommonMark says. [Render] is a Stream
// that gets its text at once, so both always agree.
package render
