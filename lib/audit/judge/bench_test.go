package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// BenchmarkAudit judges 50,000 records of 4 classes, embeddings of 512 numbers in four
// models, and 64 shadow models: the size that docs/performance.md gives a time for.
func BenchmarkAudit(b *testing.B) {
	const records, shadows = 50_000, 64
	dir := b.TempDir()
	writeLarge(b, dir, records, shadows)
	for b.Loop() {
		e, err := Open(dir)
		must(b, err)
		r, err := e.Report(b.Context())
		must(b, err)
		must(b, r.Write(filepath.Join(dir, "report")))
		if len(r.Verdicts) != len(audit.ArrayLenses()) {
			b.Fatalf("%d verdicts; %+v", len(r.Verdicts), r.Skipped)
		}
	}
}

// writeLarge writes a folder of 5 % forget, 75 % retained and 20 % held-out records.
func writeLarge(tb testing.TB, dir string, records, shadows int) {
	m := newFixture(1, records/20, records*3/4, records/5)
	m.write(tb, dir, m.retained, 0)
	wide := array.New[float32](records, 512)
	for _, name := range []string{"unlearned", "original", "retrained", "retrained-2"} {
		for i := range wide.Data {
			wide.Data[i] = float32(m.rng.NormFloat64())
		}
		must(tb, npy.Write(filepath.Join(dir, name, "embedding.npy"), wide))
	}
	for k := range shadows {
		folder := filepath.Join(dir, fmt.Sprintf("shadow-%d", k))
		must(tb, os.MkdirAll(folder, 0o755))
		in := make([]bool, records)
		for i := range in {
			in[i] = m.assignShadows(i) && m.rng.IntN(2) == 0
		}
		z, _ := m.trained(func(i int) bool { return in[i] })
		must(tb, npy.Write(filepath.Join(folder, "outputs.npy"), z))
		must(tb, npy.WriteMask(filepath.Join(folder, "in.npy"), [][]bool{in}))
	}
}
