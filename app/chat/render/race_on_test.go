//go:build race

package render

// slow is how much longer a test may take: the race detector counts every step.
const slow = 20
