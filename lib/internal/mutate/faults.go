package main

import "slices"

// faults lists all faults, from the base packages up. Whoever changes a line that a fault quotes
// changes the quotation too.
var faults = slices.Concat(baseFaults, engineFaults, methodFaults, auditFaults, paperFaults, sweepFaults, roleFaults)
