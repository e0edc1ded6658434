//go:build !race

package render

// slow multiplies the time of a test.
const slow = 1
