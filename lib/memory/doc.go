// Package memory says how much memory this process can still take. Whoever is about to take much asks first, so that too
// little memory is an error and not the end of the process.
package memory
