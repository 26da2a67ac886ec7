package engine

import (
	"strings"
	"testing"
)

func TestSeedsMoveByWholeStepsAndOnlyWhereAsked(t *testing.T) {
	for word, want := range map[string]int{"": 0, "0": 0, "1": SeedStep, "4000": 4000 * SeedStep} {
		t.Setenv(SeedEnv, word)
		if got, err := SeedShift(); err != nil || got != want {
			t.Errorf("%s=%q moves by %d, %v; want %d", SeedEnv, word, got, err, want)
		}
	}
	for _, word := range []string{"x", "-1", "1.5", "4001"} {
		t.Setenv(SeedEnv, word)
		if _, err := SeedShift(); err == nil || !strings.Contains(err.Error(), SeedEnv) || !strings.Contains(err.Error(), word) {
			t.Errorf("%s=%q: %v", SeedEnv, word, err)
		}
	}
}

// 4000 steps and the largest seed that counts up from 999 are still 32 bits.
func TestTheLargestMovedSeedFitsASplit(t *testing.T) {
	const most uint64 = maxSeed*SeedStep + 999 + 1000
	if most > 1<<32-1 {
		t.Errorf("%d is more than 32 bits hold", most)
	}
}
