// Package bench measures the built terminal program from outside, as a person
// waits for it: processes, files and a model server on this machine. What one
// package costs is measured beside it; .ci/bench runs all of them and compares
// their figures with the budgets (docs/PERFORMANCE.md).
//
// A benchmark states a budget by a metric: "budget" is that of its metric whose
// unit ends in p50, "X-budget" that of its metric X.
package bench
