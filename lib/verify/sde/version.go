package sde

// Version is the version of the numbers of this package: it goes up when a
// correction changes what the statistics and judgements give. It is part of the store keys of what was
// measured with them, which is then measured anew, from the models that are there.
const Version = 2
