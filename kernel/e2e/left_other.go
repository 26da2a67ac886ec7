//go:build !linux

package e2e

// marked finds nothing where the environment of other processes cannot be read.
func marked(string) []leftover { return nil }
