//go:build !race

package worker

// testMemory is RLIMIT_DATA of test children; 0 is the default.
const testMemory = 0
