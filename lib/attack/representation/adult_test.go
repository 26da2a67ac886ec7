package representation

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/privacy"
)

// Adult's sex, out of records that are masked with the column in them, and out of whole
// records without the column: husbands and wives are told by their relationship.
func TestSexIsToldByMaskedRecordsOfAdult(t *testing.T) {
	datatest.Dir(t)
	table, err := datasets.Load(background, "adult")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(table.Features, func(f datasets.Feature) bool { return f.Name == "sex" })
	male := slices.Index(table.Features[at].Categories, "Male")
	const n = 1500
	var numbers []int
	for i := range n {
		numbers = append(numbers, i)
	}
	x := table.X.Gather(numbers)
	p, raw := Persons{}, array.New[float64](n, x.Cols-1)
	for i := range n {
		p.Has = append(p.Has, int(x.Row(i)[at]) == male)
		copy(raw.Row(i), slices.Delete(slices.Clone(x.Row(i)), at, at+1))
	}
	draws := func(record int) *rand.Rand { return engine.Root(1).Stream(engine.StreamMask, uint64(record)) }
	masked, masks, err := privacy.Masking{}.Mask(array.Convert[float32](learned.Standardiser(x)(x)), numbers, draws)
	if err != nil {
		t.Fatal(err)
	}
	p.Codes, p.Raw = array.Convert[float64](masked), &raw
	r := infer(t, Attribute{}, p)
	told := 0.0
	for i := range n {
		if masks.Clear(i, at) {
			told += 1. / n
		}
	}
	t.Logf("the column itself is in clear for %.3f; codes %v, raw %v, majority %.3f", told, r.Codes.AUC, r.Raw.AUC, r.Majority)
	if r.Codes.AUC.Low < 0.75 || r.Raw.AUC.Low < 0.75 || r.Codes.Balanced.Low < 0.65 || r.Majority < 0.6 || r.Majority > 0.75 {
		t.Errorf("codes %+v, raw %+v, majority %v", r.Codes, r.Raw, r.Majority)
	}
}
