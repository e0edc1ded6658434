package core

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// heapFloor is the size up to which the heap grows before it is collected. Go begins at 4 MB, so that a
// command that uses 6 MB in all was collected twice, for a fifth of its processor time.
const heapFloor = 16 << 20

// collectSeldom lets the heap grow to heapFloor before each collection, and to twice what is in use where
// that is more, as Go does.
func collectSeldom() {
	const goStart = 4 << 20 // the size of the first collection at 100 %
	debug.SetGCPercent(heapFloor / goStart * 100)
	afterCollection()
}

// afterCollection sets, after each collection, the growth until the next.
func afterCollection() {
	runtime.AddCleanup(new([16]byte), func(int) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		used := max(1, live[0].Value.Uint64())
		debug.SetGCPercent(max(100, int(heapFloor*100/used)-100))
		afterCollection()
	}, 0)
}
