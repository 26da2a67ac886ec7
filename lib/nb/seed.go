package nb

import "github.com/lethe-ml/lethe/lib/engine"

// Seed returns the seed n of a cell's own random draws, shifted by LETHE_SEED if that is
// set, as the seeds of all trainings are.
func Seed(n int) int { return n + Try(engine.SeedShift()) }
