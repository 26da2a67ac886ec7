package nb

import "github.com/lethe-ml/lethe/lib/engine"

// Seed is a seed for a cell's own draws. With LETHE_SEED it is another one, as
// the seeds of every training are, so that a notebook can be repeated with other
// luck; without, it is n.
func Seed(n int) int { return n + Try(engine.SeedShift()) }
