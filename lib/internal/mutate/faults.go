package main

import "slices"

// faults lists the mistakes, room by room from the ground up. Whoever changes a
// line that one of them quotes changes the quotation too.
var faults = slices.Concat(baseFaults, engineFaults, methodFaults, auditFaults, paperFaults, sweepFaults, roleFaults)
