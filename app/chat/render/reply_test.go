package render

import (
	"fmt"
	"strings"
)

// reply makes a Markdown answer of exactly size bytes such as a model gives to
// a question about code: sections of prose, a numbered list with points below
// it, a table, a fenced function and a quote, over and over.
func reply(size int) string {
	var b strings.Builder
	for n := 1; b.Len() < size; n++ {
		fmt.Fprintf(&b, "## Part %d: what happens there\n\n", n)
		fmt.Fprintf(&b,
			"The *dispatcher* hands **%d jobs** to its pool; a worker takes one from `inbox-%d`, does it, "+
				"and writes a [record](https://example.org/log/%d). ",
			n*3, n, n)
		fmt.Fprintf(&b,
			"With nothing to do it waits %d ms and is woken by a signal. Here follows a sentence that only serves to make the "+
				"paragraph as long as people write them.\n\n",
			n*10)
		fmt.Fprintf(&b,
			"1. Open the file\n2. Compare `len(items)` with %d\n   - a point below with ~~stale~~ fresh words\n   - one "+
				"more\n3. Save it again\n\n",
			n)
		fmt.Fprintf(&b,
			"| item | count | remark |\n|---|---:|:--|\n| one | %d | first |\n| two | %d | **second** |\n| three | %d | "+
				"`third` |\n\n",
			n, n+1, n+2)
		fmt.Fprintf(&b,
			"```go\nfunc part%d(ctx context.Context, jobs <-chan Job) error {\n\tfor job := range jobs {\n\t\tif err := "+
				"job.Do(ctx); err != nil {\n\t\t\treturn fmt.Errorf(\"part %d: %%w\", err)\n\t\t}\n\t}\n\treturn nil\n}\n```\n\n",
			n, n)
		fmt.Fprintf(&b, "> Somebody remarked on this already, as number %d.\n\n", n)
	}
	return b.String()[:size]
}

// deltas cuts text into n pieces of about the same length.
func deltas(text string, n int) []string {
	list := make([]string, 0, n)
	for i := range n {
		list = append(list, text[len(text)*i/n:len(text)*(i+1)/n])
	}
	return list
}
