package textdiff_test

import (
	"fmt"

	"conclave/app/base/textdiff"
)

func ExampleLines() {
	for _, line := range textdiff.Lines("milk\nbread\neggs\n", "milk\nrye bread\neggs\n") {
		fmt.Printf("%-8s %s\n", line.Kind, line.Text)
	}
	// Output:
	// same     milk
	// removed  bread
	// added    rye bread
	// same     eggs
}
