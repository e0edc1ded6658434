//go:build race

package render

// slow multiplies the time of a test: the race detector counts every step.
const slow = 20
