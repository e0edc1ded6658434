//go:build !race

package render

// slow is how much longer a test may take.
const slow = 1
