// Package stats holds the statistics of the project: intervals, null values, chance floors and
// tests for every number in a table.
//
// Everything works on float64 slices and does not depend on models or engines. Inputs are never
// changed. Randomness comes in as a *rand.Rand. Sums are compensated, and no result depends on the
// order of a map, so the same input gives the same bytes on every run.
//
// Bad input (empty, not a number, lengths that do not match) is an error that names the function,
// the argument and the position. The few functions without an error result document what they
// return instead. Methods that use only the order of the values accept infinities; all others
// refuse them.
package stats
