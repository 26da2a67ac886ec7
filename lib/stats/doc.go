// Package stats is the statistics of the house: every number that a table shows
// gets its interval, its null value and its chance floor from here.
//
// Everything works on plain float64 slices and knows nothing of models or
// engines. Inputs are never changed. Randomness comes in as a *rand.Rand. Sums
// are compensated, and no result depends on the order of a map, so that the same
// input gives the same bytes on every run.
//
// Bad input (empty, not a number, lengths that do not match) is an error that
// names the function, the argument and the position. The few functions without
// an error result say in their comment what they return instead. Methods that
// use only the order of the values accept infinities; all others refuse them.
package stats
