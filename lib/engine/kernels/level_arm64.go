package kernels

// Every processor of this kind has NEON.
const best = NEON

// levels are all levels that this processor can run.
func levels() []Level { return []Level{Scalar, NEON} }
