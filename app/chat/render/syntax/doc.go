// Package syntax colours source code, one line at a time, as HTML spans.
//
// It serves app/chat/render: a fenced code block of a streaming reply is coloured
// line by line as it arrives, each line once, and the state at the end of a
// line is a small value that can be kept. It knows the words, strings and
// comments of the languages that models write most; it does not parse, and a
// language that it does not know is shown plain. Files on disk, themes and
// anything about Markdown do not belong here.
//
// Read [Find], [Language] and [State] first.
//
// Why not a library: chroma 2.27, the usual choice in Go, registers its lexers
// when the process starts, which takes 8 to 10 ms and 2.7 MB and cannot be put
// off. In one run on two cores it coloured 0.13 to 0.49 MB a second where this
// package did 26 to 38; a chat with 90 kB of code on its first screen is the
// difference between 300 ms and 3. It needs the whole text to colour the end of
// it, and it runs backtracking expressions, each with a timeout of 250 ms, over
// text that a model wrote. The class names are those of Pygments and chroma, so
// a style sheet made for either fits.
package syntax
