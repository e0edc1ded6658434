//go:build race

package engine

// raceDetector says that memory is not what it would be.
const raceDetector = true
