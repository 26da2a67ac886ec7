package ruler

import (
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Result holds the metrics that could be computed: only M4 without an oracle, and no M3 without the
// original.
type Result struct {
	M1 *stats.Estimate `json:"m1,omitempty"`
	M2 *stats.Estimate `json:"m2,omitempty"`
	// M2Mean is M2 against the mean instead of the median (the paper's Table 5).
	M2Mean *stats.Estimate `json:"m2_mean,omitempty"`
	M3     *stats.Estimate `json:"m3,omitempty"`
	// M4 counts ties as ties; M4AsCoded lets the last bit decide: see Ties.
	M4        *stats.Estimate `json:"m4"`
	M4AsCoded *stats.Estimate `json:"m4_as_coded"`
	// M4NullSD is the standard deviation of M4 by chance (M4ChanceSD).
	M4NullSD float64 `json:"m4_null_sd"`
	// Forget, Retain, Baseline and Gallery count the records given, those in M2's baseline (0
	// without an oracle) and those that M4 searched.
	Forget   int `json:"forget"`
	Retain   int `json:"retain"`
	Baseline int `json:"baseline"`
	Gallery  int `json:"gallery"`
	// Copies counts forget records whose embedding is parallel to a retained record's up to
	// rounding. Among retained copies their order depends on the last bit of a similarity in
	// M4AsCoded.
	Copies int `json:"copies"`
	// ZeroRows counts rows without a direction among those used.
	ZeroRows  ZeroRows  `json:"zero_rows"`
	PerRecord PerRecord `json:"-"`
}

// ZeroRows counts, per model, the used rows whose norm is below 1e-12. All are zero unless
// Options.ZeroNorm accepts such rows.
type ZeroRows struct {
	Unlearned int `json:"unlearned"`
	Oracle    int `json:"oracle"`
	Original  int `json:"original"`
}

// PerRecord holds the values behind the aggregates. Slices over forget records follow the order of
// Evidence.Forget.
type PerRecord struct {
	Similarity []float64 // s(u(f), o(f)), whose mean is M1
	Shift      []float64 // s(u(f), o(f)) - s(original(f), o(f)), whose mean is M3
	Nearest    []float64 // p(f), similarity to the nearest retained record
	Rank       []float64 // percentile of p(f) among GalleryNearest; mean M4

	BaselineRows       []int     // retained rows behind M2's baseline
	BaselineSimilarity []float64 // s(u(r), o(r)) for each of them
	GalleryRows        []int     // retained rows that M4 searched
	GalleryNearest     []float64 // q(r) for each of them
}

// Measure computes every metric that the given models allow: Unlearned is required; Oracle adds M1
// and M2, and Original beside it M3.
//
// Errors are those of M1 to M4; every problem of the input is found before anything is computed.
func Measure(e Evidence, opt Options) (*Result, error) {
	defer progress.Begin("RULER", 0).Done()
	if missing(e.Oracle) {
		e.Oracle, e.Original = nil, nil
	}
	if missing(e.Original) {
		e.Original = nil
	}
	r := &Result{Forget: len(e.Forget), Retain: len(e.Retain)}
	r.PerRecord.GalleryRows = opt.galleryRows(e.Retain)
	if e.Oracle != nil {
		r.PerRecord.BaselineRows = opt.baselineRows(e.Retain)
	}
	if err := r.validate(e, opt); err != nil {
		return nil, err
	}
	if e.Oracle != nil {
		if err := opt.checkReps(); err != nil {
			return nil, err
		}
		r.compare(e, opt)
	}
	n, err := neighbours(e, r.PerRecord.GalleryRows, opt)
	if err != nil {
		return nil, err
	}
	r.PerRecord.Nearest, r.PerRecord.GalleryNearest, r.PerRecord.Rank = n.forget, n.gallery, n.ranks(Equal)
	opt.Ties = Equal
	r.M4, r.M4NullSD = n.m4(e, opt), M4ChanceSD(len(e.Forget), len(n.gallery))
	opt.Ties = LastBit
	r.M4AsCoded, r.Copies = n.m4(e, opt), n.countCopies()
	r.Baseline, r.Gallery = len(r.PerRecord.BaselineRows), len(r.PerRecord.GalleryRows)
	return r, nil
}

func (r *Result) validate(e Evidence, opt Options) error {
	compared := concat(e.Forget, r.PerRecord.BaselineRows)
	inputs := []input{e.unlearned(union(compared, r.PerRecord.GalleryRows))}
	if e.Oracle != nil {
		inputs = append(inputs, e.oracle(compared))
	}
	if e.Original != nil {
		inputs = append(inputs, e.original(e.Forget))
	}
	zeros, err := validate(opt, e.Forget, e.Retain, true, inputs...)
	if err != nil {
		return err
	}
	zeros = append(zeros, 0, 0)
	r.ZeroRows = ZeroRows{zeros[0], zeros[1], zeros[2]}
	return nil
}

// compare fills in the metrics that need the oracle.
func (r *Result) compare(e Evidence, opt Options) {
	f, base := e.OracleSimilarity(e.Forget), e.OracleSimilarity(r.PerRecord.BaselineRows)
	r.PerRecord.Similarity, r.PerRecord.BaselineSimilarity = f, base
	r.M1 = m1(e, f, opt)
	r.M2, r.M2Mean = m2(e, r.PerRecord.BaselineRows, f, base, Median, opt), m2(e, r.PerRecord.BaselineRows, f, base, Mean, opt)
	if e.Original == nil {
		return
	}
	r.PerRecord.Shift = e.shift(f)
	r.M3 = m3(e, r.PerRecord.Shift, opt)
}

// union returns the distinct rows of both lists, in order of appearance.
func union(a, b []int) []int {
	seen := make(map[int]bool, len(a)+len(b))
	var out []int
	for _, i := range concat(a, b) {
		if !seen[i] {
			seen[i] = true
			out = append(out, i)
		}
	}
	return out
}
