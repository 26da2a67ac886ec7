package sde

// Version is the version of this package's numbers: it is raised when a correction changes the
// statistics or verdicts. It is part of the store keys of measurements with them, which are then
// computed again from the stored models.
const Version = 2
