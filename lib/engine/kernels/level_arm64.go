package kernels

// best is NEON: every arm64 processor has it.
const best = NEON

// levels returns all levels that this processor can run.
func levels() []Level { return []Level{Scalar, NEON} }
