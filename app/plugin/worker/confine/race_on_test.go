//go:build race

package confine

// testMemory is RLIMIT_DATA of test children: the race detector maps far more
// than any limit worth having.
const testMemory = 1 << 50
