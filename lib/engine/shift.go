package engine

import (
	"fmt"
	"os"
	"strconv"
)

// SeedEnv is the environment variable that repeats everything with other luck:
// LETHE_SEED=2 moves every seed of splits, forget sets, trainings, unlearnings
// and draws by 2 SeedSteps. Without it, and with 0, nothing moves.
const SeedEnv = "LETHE_SEED"

// SeedStep is between the seeds of one LETHE_SEED and those of the next: larger
// than what any study counts up to, so that no two share a seed.
const SeedStep = 1_000_000

// maxSeed keeps a moved seed within the 32 bits that splits have.
const maxSeed = 4000

// SeedShift is what LETHE_SEED adds to every seed.
func SeedShift() (int, error) {
	word := os.Getenv(SeedEnv)
	if word == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 || n > maxSeed {
		return 0, fmt.Errorf("%s is %q, which is not a number from 0 to %d", SeedEnv, word, maxSeed)
	}
	return n * SeedStep, nil
}
