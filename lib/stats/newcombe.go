package stats

import "math"

// ShareDifference returns a less b, two shares with their Wilson intervals, with Newcombe's
// interval (1998, method 10), which has a width even if all records agree:
//
//	low  = d - sqrt((a - low a)^2 + (high b - b)^2)
//	high = d + sqrt((high a - a)^2 + (b - low b)^2)
//
// It is for independent samples. For shares of the same records it is too wide where they are
// positively correlated and too narrow where they exclude each other (ExclusiveDifference). Level,
// unit and number are a's, and what is said of clusters is of the share that they matter more for.
func ShareDifference(a, b Estimate) Estimate { return shareDifference(a, b, 0) }

// ExclusiveDifference returns a less weight times b, the shares of two answers of the same records
// that exclude each other, with their Wilson intervals (or ClusterShare's). The interval is Newcombe's
// for paired shares (1998, Statistics in Medicine 17, p. 2635, method 10): each half is
//
//	sqrt(x^2 - 2 r x y + y^2),  r = -sqrt(a b / ((1-a) (1-b)))
//
// where x and y are the halves of a's interval and of weight times b's that ShareDifference takes,
// and r is the correlation of the two shares, the same for clusters whose records all have one
// answer. It is 0 where a or b is. In simulation 95 % intervals cover 94 to 97 of 100 (12 to 200
// records, up to 7 of 10 with the answers), where ShareDifference covers 80 to 93.
func ExclusiveDifference(a, b Estimate, weight float64) Estimate {
	r := 0.0
	if a.Value > 0 && b.Value > 0 {
		r = -math.Sqrt(a.Value * b.Value / ((1 - a.Value) * (1 - b.Value)))
	}
	for _, v := range []*float64{&b.Value, &b.Low, &b.High} {
		*v *= weight
	}
	return shareDifference(a, b, max(r, -1))
}

// shareDifference is ShareDifference for shares with a correlation.
func shareDifference(a, b Estimate, correlation float64) Estimate {
	half := func(x, y float64) float64 {
		if correlation == 0 {
			return math.Hypot(x, y)
		}
		return math.Sqrt(float64(x*x) - float64(2*correlation*x*y) + float64(y*y))
	}
	d, of := a.Value-b.Value, a.Clustered
	if of != nil && b.Clustered != nil && b.Clustered.DesignEffect > of.DesignEffect {
		of = b.Clustered
	}
	return Estimate{
		Value: d, Low: d - half(a.Value-a.Low, b.High-b.Value), High: d + half(a.High-a.Value, b.Value-b.Low),
		Level: a.Level, Over: a.Over, N: a.N, Clustered: of,
	}
}
