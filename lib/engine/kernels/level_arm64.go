package kernels

// Every arm64 processor has NEON.
const best = NEON

// levels returns all levels that this processor can run.
func levels() []Level { return []Level{Scalar, NEON} }
