package rulerpaper

import "github.com/lethe-ml/lethe/lib/verify/ruler"

// RowsOf are the rows of a variant at a forget fraction, one per data set and seed.
func (c *Collected) RowsOf(variant string, fraction float64) []Row {
	return rowsOf(c.Rows, variant, fraction)
}

// All are the rows of a variant, one per data set, seed and fraction, fraction by fraction.
func (c *Collected) All(variant string) []Row {
	var out []Row
	for _, f := range c.Study.Fractions {
		out = append(out, c.RowsOf(variant, f)...)
	}
	return out
}

// Differences are a value of variant a minus that of variant b at a forget fraction, paired by
// run, so that data set and seed cancel.
func (c *Collected) Differences(a, b string, fraction float64, value func(Row) float64) []ruler.Observation {
	type run struct {
		set    string
		seed   int
		forget uint32
	}
	of := func(r Row) run { return run{r.DataSet, r.Seed, r.ForgetSeed} }
	others := map[run]float64{}
	for _, r := range c.RowsOf(b, fraction) {
		others[of(r)] = value(r)
	}
	var out []ruler.Observation
	for _, r := range c.RowsOf(a, fraction) {
		if other, there := others[of(r)]; there {
			out = append(out, ruler.Observation{DataSet: r.DataSet, Seed: r.Seed, Value: value(r) - other})
		}
	}
	return out
}

// PerDataSet groups the values of observations by data set, in the study's order, for
// plot.Strips.
func (c *Collected) PerDataSet(observations []ruler.Observation) [][]float64 {
	out := make([][]float64, len(c.Study.DataSets))
	for i, name := range c.Study.DataSets {
		for _, o := range observations {
			if o.DataSet == name {
				out[i] = append(out[i], o.Value)
			}
		}
	}
	return out
}
