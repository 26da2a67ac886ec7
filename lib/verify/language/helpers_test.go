package language

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func checkClose(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*math.Max(1, math.Abs(want))) {
		t.Errorf("%s = %.17g, want %.17g within %g", what, got, want, tol)
	}
}

func nearAll(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		checkClose(t, what, got[i], want[i], tol)
	}
}

func refuses(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not mention %q", err, p)
		}
	}
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func failure[T any](_ T, err error) error { return err }

func newRNG(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 43)) }

const waveVocabulary = 11

var (
	waveLengths    = []int{1, 3, 5, 12, 26, 40}
	waveCompressed = []int{9, 20, 31, 57, 101, 140}
)

// waveLogs are the log-probabilities of the vocabulary at token i, without a generator.
func waveLogs(i int, phase float64) []float64 {
	z, sum := make([]float64, waveVocabulary), 0.0
	for v := range z {
		z[v] = 3 * math.Sin(1.3*float64(i)+0.7*float64(v)+0.05*float64(i*v)+phase)
		sum += math.Exp(z[v])
	}
	for v := range z {
		z[v] -= math.Log(sum)
	}
	return z
}

func argmax(x []float64) (at int) {
	for v := range x {
		if x[v] > x[at] {
			at = v
		}
	}
	return at
}

// waves are tokens of six documents: under a model that the phase names, of true tokens that
// are mostly the most probable ones at phase 0.
func waves(phase float64) *Tokens {
	t, i := &Tokens{Offset: []int{0}}, 0
	for d, n := range waveLengths {
		for p := range n {
			x := argmax(waveLogs(i, 0))
			if (p*p+d)%4 == 0 && p%5 != 4 {
				x = (7*i*i + 3*i) % waveVocabulary
			}
			t.add(waveLogs(i, phase), x)
			i++
		}
		t.Offset = append(t.Offset, i)
	}
	return t
}

// add adds a token with the moments of its distribution.
func (t *Tokens) add(logs []float64, x int) {
	mu, square := 0.0, 0.0
	for _, l := range logs {
		mu += math.Exp(l) * l
		square += math.Exp(l) * l * l
	}
	t.LogProb, t.Correct = append(t.LogProb, logs[x]), append(t.Correct, argmax(logs) == x)
	t.Mean, t.Deviation = append(t.Mean, mu), append(t.Deviation, math.Sqrt(max(0, square-mu*mu)))
}

func waveEvidence() Evidence {
	return Evidence{Target: waves(0), Reference: waves(0.4), Prefixed: waves(-0.3), Compressed: waveCompressed}
}

func scores(t *testing.T, s Score, e Evidence) []float64 {
	t.Helper()
	return must(s.Scores(e))(t)
}
