package judge

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// BenchmarkAuditTexts judges ten language models on 4,000 answers of 100 tokens by 200 authors, with
// every array of tokens and answers: the size that docs/performance.md gives a time for.
func BenchmarkAuditTexts(b *testing.B) {
	dir := b.TempDir()
	writeManyTexts(b, dir, 4000, 100)
	for b.Loop() {
		e, err := Open(dir)
		must(b, err)
		r, err := e.Report(b.Context())
		must(b, err)
		must(b, r.Write(filepath.Join(dir, "report")))
		judged := map[string]bool{}
		for _, v := range r.Verdicts {
			judged[v.Name()] = true
		}
		for _, l := range []audit.Lens{audit.MinK{}, audit.MinKPlusPlus{}, audit.PairedTruthRatio{}, audit.ExtractionStrength{}} {
			if !judged[l.Name()] {
				b.Fatalf("no verdict of %s; %+v", l.Name(), r.Skipped)
			}
		}
	}
}

// writeManyTexts writes a folder of ten models on texts of n tokens, a tenth of them forgotten and a
// fifth held out.
func writeManyTexts(tb testing.TB, dir string, records, n int) {
	rng := rand.New(rand.NewPCG(5, 6))
	sets, lengths := map[string][]int{}, make([]int, records)
	offset, group := make([]int, records+1), make([]int, records)
	for i := range records {
		set := "retain"
		switch {
		case i < records/10:
			set = "forget"
		case i >= records-records/5:
			set = "heldout"
		}
		sets[set] = append(sets[set], i)
		offset[i+1], lengths[i], group[i] = (i+1)*n, 2*n+rng.IntN(9), i/20
	}
	sets["offset"], sets["zlib"], sets["group"] = offset, lengths, group
	for name, rows := range sets {
		must(tb, npy.WriteIndices(filepath.Join(dir, name+".npy"), rows))
	}
	names := []string{"unlearned", "original"}
	for k := range 8 {
		names = append(names, fmt.Sprintf("retrained-%d", k+1))
	}
	for _, name := range names {
		must(tb, os.MkdirAll(filepath.Join(dir, name), 0o755))
		arrays := map[string][]float64{}
		correct := make([]bool, records*n)
		answers := array.New[float64](records, 6)
		for i := range records {
			scale := math.Exp(0.3 * rng.NormFloat64())
			if i < records/10 && name == "original" || i >= records/10 && i < records-records/5 {
				scale *= 0.3
			}
			for k := range n {
				l := -scale * rng.ExpFloat64()
				mu, sigma, right := expected(l)
				arrays["logprob"] = append(arrays["logprob"], l)
				arrays["logprob_mean"], arrays["logprob_deviation"] = append(arrays["logprob_mean"], mu), append(arrays["logprob_deviation"], sigma)
				arrays["logprob_prefixed"] = append(arrays["logprob_prefixed"], 1.1*l)
				correct[i*n+k] = right
			}
			for k := range answers.Row(i) {
				answers.Row(i)[k] = -math.Exp(0.3 * rng.NormFloat64())
			}
		}
		for file, values := range arrays {
			must(tb, npy.WriteVector(filepath.Join(dir, name, file+".npy"), values))
		}
		must(tb, npy.WriteMask(filepath.Join(dir, name, "correct.npy"), [][]bool{correct}))
		must(tb, npy.Write(filepath.Join(dir, name, "answers.npy"), answers))
	}
}
