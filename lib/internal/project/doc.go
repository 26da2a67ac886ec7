// Package project holds the tests of the project's own rules: which package may import which, what
// is at the top level, that every export is documented, and that README, CONTRIBUTING and the
// findings agree with the code and the committed tables. It has nothing but tests, which run in
// the project's root folder.
package project
