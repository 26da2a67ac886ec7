package engine

import (
	"fmt"
	"os"
	"strconv"
)

// SeedEnv is the environment variable for a repetition with other seeds: LETHE_SEED=2 adds
// 2 SeedStep to every seed of splits, forget sets, trainings, unlearnings and random draws.
const SeedEnv = "LETHE_SEED"

// SeedStep is the distance between the seeds of two values of LETHE_SEED. It is larger than
// any study's range of seeds.
const SeedStep = 1_000_000

// maxSeed keeps a seed within the 32 bits of the seeds of splits.
const maxSeed = 4000

// SeedShift returns the number that LETHE_SEED adds to every seed.
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
