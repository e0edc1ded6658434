//go:build !race

package confine

// testMemory is RLIMIT_DATA of test children; 0 is the default.
const testMemory = 0
