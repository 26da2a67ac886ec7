// Package blind guesses from inputs alone, without any model, which of two sets a record is of.
// Whatever it reaches, a membership attack on a model may reach without any memory: it is the null of
// every attack on these sets (Das, Zhang and Tramer 2024, "Blind baselines beat membership inference
// attacks for foundation models").
package blind

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/stats"
)

const (
	folds     = 5
	shuffles  = 400
	ridge     = 1.0 // beside a kernel whose diagonal is 1 on average
	level     = 0.95
	normal975 = 1.959963984540054
)

// Records are those of two sets.
type Records struct {
	Kernel   Kernel
	Member   []bool         // whether a record is of the first set
	Clusters stats.Clusters // groups of records; nil: every record is its own
	Unit     string         // names clusters, in the plural
}

// Result says how well the sets are told apart.
type Result struct {
	// AUC is the chance that a record of the first set has a larger score than one of the second, plus
	// half of that of the same, with its interval and the null 0.5.
	AUC stats.Estimate
	// Floor is the distance of the AUC from 0.5 where membership is shuffled.
	Floor stats.Floor
	// Scores are one per record, higher for the first set.
	Scores []float64
}

// Attack tells the sets apart by ridge regression on a kernel. The records are dealt into 5 folds, whole
// clusters each; those of a fold get the scores of a regression on the others,
//
//	f(x) = k(x, others) (K + I)^-1 (y - mean y)
//
// less their mean over the fold, so that no score knows its own label.
//
// Regressions of different folds share labels, so that the AUC varies more than records with fixed
// scores do: about twice as much in variance where there is nothing to find. Membership is therefore shuffled 400
// times between the clusters of a fold (within a cluster that is of both sets). The interval is that of
// stats.ClusterAUC, and no narrower than 1.96 root mean squares of the shuffled AUC's distance from 0.5.
//
// It refuses fewer than 5 clusters of a set, and a kernel that says nothing.
func Attack(r Records, rng *rand.Rand) (*Result, error) {
	defer progress.Begin("blind attack", 0).Done()
	n := len(r.Member)
	if r.Kernel.x.Rows != n || r.Clusters != nil && len(r.Clusters) != n {
		return nil, fmt.Errorf("blind: %d records, %d in the kernel and %d in clusters", n, r.Kernel.x.Rows, len(r.Clusters))
	}
	if r.Kernel.Empty() {
		return nil, errors.New("blind: all records are alike, there is nothing to tell the sets apart by")
	}
	clusters := clustersOf(r)
	fold, err := deal(clusters, n, rng)
	if err != nil {
		return nil, err
	}
	s, err := smoother(r.Kernel.x, fold)
	if err != nil {
		return nil, err
	}
	scores := s.scores(r.Member)
	pos, neg := split(scores, r.Member)
	auc, err := stats.ClusterAUC(pos, neg, clusterOf(r, true), clusterOf(r, false), level, r.Unit)
	if err != nil {
		return nil, err
	}
	distances := make([]float64, shuffles)
	for k := range distances {
		member := shuffle(clusters, r.Member, fold, rng)
		pos, neg := split(s.scores(member), member)
		v, err := stats.AUC(pos, neg)
		if err != nil {
			return nil, err
		}
		distances[k] = math.Abs(v - 0.5)
	}
	out := &Result{AUC: auc.WithNull(0.5, stats.NearNull), Scores: scores}
	if out.Floor.Mean, err = stats.Mean(distances); err != nil {
		return nil, err
	}
	if out.Floor.P95, err = stats.Quantile(distances, level); err != nil {
		return nil, err
	}
	half := normal975 * rootMeanSquare(distances)
	out.AUC.Low, out.AUC.High = max(0, min(auc.Low, auc.Value-half)), min(1, max(auc.High, auc.Value+half))
	return out, nil
}

// cluster is a cluster's records, and which sets they are of.
type cluster struct {
	records        []int
	member, nonmem bool
}

// kind orders clusters for dealing: of the first set alone, of the second alone, of both.
func (c cluster) kind() int {
	switch {
	case c.member && c.nonmem:
		return 2
	case c.member:
		return 0
	}
	return 1
}

// clustersOf returns the clusters in the order in which they appear.
func clustersOf(r Records) (out []cluster) {
	at := map[int]int{}
	for i, member := range r.Member {
		key := i
		if r.Clusters != nil {
			key = r.Clusters[i]
		}
		k, known := at[key]
		if !known {
			k, at[key], out = len(out), len(out), append(out, cluster{})
		}
		out[k].records = append(out[k].records, i)
		out[k].member, out[k].nonmem = out[k].member || member, out[k].nonmem || !member
	}
	return out
}

// clusterOf returns the clusters of the records of a set.
func clusterOf(r Records, member bool) (out stats.Clusters) {
	if r.Clusters == nil {
		return nil
	}
	for i, is := range r.Member {
		if is == member {
			out = append(out, r.Clusters[i])
		}
	}
	return out
}

// deal returns the fold of every record: clusters of one kind are shuffled and dealt in turn.
func deal(clusters []cluster, n int, rng *rand.Rand) ([]int, error) {
	out, next := make([]int, n), 0
	members, others := 0, 0
	for kind := range 3 {
		for _, k := range rng.Perm(len(clusters)) {
			c := clusters[k]
			if c.kind() != kind {
				continue
			}
			for _, i := range c.records {
				out[i] = next % folds
			}
			next++
			members, others = members+count(c.member), others+count(c.nonmem)
		}
	}
	if min(members, others) < folds {
		return nil, fmt.Errorf("blind: %d groups of the first set and %d of the second, and at least %d are needed", members, others, folds)
	}
	return out, nil
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// shuffle exchanges the membership of whole clusters of one fold, and that of records within clusters of
// both sets.
func shuffle(clusters []cluster, member []bool, fold []int, rng *rand.Rand) []bool {
	out := slices.Clone(member)
	pure := make([][]int, folds)
	for k, c := range clusters {
		if c.kind() == 2 {
			rng.Shuffle(len(c.records), func(i, j int) { out[c.records[i]], out[c.records[j]] = out[c.records[j]], out[c.records[i]] })
			continue
		}
		f := fold[c.records[0]]
		pure[f] = append(pure[f], k)
	}
	for _, of := range pure {
		for k, from := range rng.Perm(len(of)) {
			for _, i := range clusters[of[k]].records {
				out[i] = clusters[of[from]].member
			}
		}
	}
	return out
}

// smoothing is the linear map from labels to scores: those of a fold are its matrix times the labels of
// the records outside.
type smoothing struct {
	n             int
	inside, other [][]int // by fold
	maps          []*mat.Dense
}

// smoother solves the regression of every fold.
func smoother(k array.Matrix[float64], fold []int) (*smoothing, error) {
	s := &smoothing{n: len(fold), inside: make([][]int, folds), other: make([][]int, folds)}
	for f := range folds {
		for i, of := range fold {
			if of == f {
				s.inside[f] = append(s.inside[f], i)
			} else {
				s.other[f] = append(s.other[f], i)
			}
		}
		in, out := s.inside[f], s.other[f]
		system := mat.NewSymDense(len(out), nil)
		for a, i := range out {
			for b := a; b < len(out); b++ {
				system.SetSym(a, b, k.Row(i)[out[b]])
			}
			system.SetSym(a, a, k.Row(i)[i]+ridge)
		}
		right := mat.NewDense(len(out), len(in), nil)
		for a, i := range out {
			for b, j := range in {
				right.Set(a, b, k.Row(i)[j])
			}
		}
		var c mat.Cholesky
		if !c.Factorize(system) {
			return nil, errors.New("blind: the kernel is not positive")
		}
		var solved mat.Dense
		if err := c.SolveTo(&solved, right); err != nil {
			return nil, fmt.Errorf("blind: %w", err)
		}
		s.maps = append(s.maps, mat.DenseCopyOf(solved.T()))
	}
	return s, nil
}

// scores returns the scores of the records for labels.
func (s *smoothing) scores(member []bool) []float64 {
	out := make([]float64, s.n)
	for f, m := range s.maps {
		y, mean := make([]float64, len(s.other[f])), 0.0
		for a, i := range s.other[f] {
			if member[i] {
				y[a] = 1
				mean += 1 / float64(len(y))
			}
		}
		for a := range y {
			y[a] -= mean
		}
		var of mat.VecDense
		of.MulVec(m, mat.NewVecDense(len(y), y))
		center := mat.Sum(&of) / float64(of.Len())
		for b, j := range s.inside[f] {
			out[j] = of.AtVec(b) - center
		}
	}
	return out
}

func split(scores []float64, member []bool) (pos, neg []float64) {
	for i, v := range scores {
		if member[i] {
			pos = append(pos, v)
		} else {
			neg = append(neg, v)
		}
	}
	return pos, neg
}

func rootMeanSquare(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v*v) / float64(len(x))
	}
	return math.Sqrt(sum)
}
