package ruler

// Version is the version of the numbers of this package: it goes up when a
// correction changes what the metrics give. It is part of the store keys of what was
// measured with them, which is then measured anew, from the models that are there. 2: M4 has ties as
// ties. 3: a model compared with itself has an M2 of exactly 0.
const Version = 3
