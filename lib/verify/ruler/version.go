package ruler

// Version is the version of this package's numbers: it is raised when a correction changes them. It
// is part of the store keys of measurements with them, which are then computed again from the
// stored models. 2: M4 counts ties as ties. 3: a model compared with itself has an M2 of exactly 0.
const Version = 3
