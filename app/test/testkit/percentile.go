package testkit

import (
	"cmp"
	"slices"
	"time"
)

// Percentile returns the value that so many of a hundred are below; 50 is the middle one.
func Percentile[T cmp.Ordered](all []T, percent int) T {
	return slices.Sorted(slices.Values(all))[min(len(all)-1, len(all)*percent/100)]
}

// Milliseconds returns a time as a benchmark reports it.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
