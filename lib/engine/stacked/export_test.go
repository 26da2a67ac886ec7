// What the tests outside of the package use of those inside.

package stacked

var ForEachBackend = forEachBackend
