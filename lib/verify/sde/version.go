package sde

// Version is the version of this package's numbers: it is raised when a correction changes the
// statistics or verdicts. It is part of the store keys of measurements with them, which are then
// computed again from the stored models. 3: values count as equal by their relative range, not below one of 1e-15.
const Version = 3
