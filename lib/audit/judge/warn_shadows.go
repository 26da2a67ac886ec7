// Notes on shadow models whose in.npy is not that of their training.

package judge

import (
	"fmt"
	"math"
	"slices"
)

// The limits of MembershipDoubt, in standard errors.
const (
	minForMembership = 3   // shadow models
	noFit            = 2.0 // of all models together, or of one: members are fitted no better
	clearFit         = 4.0 // of a model beside which others are doubted
)

// MembershipDoubt says what is odd about shadow models' scores, higher where a record is fitted better, and about in,
// which record each was trained on; empty: they fit their records better than others do. Models are compared at the same
// record, by the rank of their scores there.
func MembershipDoubt(scores [][]float64, in [][]bool) string {
	z := membershipFits(scores, in)
	if len(z) < minForMembership {
		return ""
	}
	sum, none, clear := 0.0, 0, []float64{}
	for _, v := range z {
		sum += v / math.Sqrt(float64(len(z)))
		if v < noFit {
			none++
		} else {
			clear = append(clear, v)
		}
	}
	which := "the shadow models fit"
	switch {
	case sum < noFit:
	case 2*none >= len(z) && median(clear) >= clearFit:
		which = fmt.Sprintf("%d of %d shadow models fit", none, len(z))
	default:
		return ""
	}
	return which + " the records that they are said to be trained on no better than others, so that LiRA and RMIA see little or nothing: does each have " +
		"its own mask, and does the mask say which records it had, not which it had not?"
}

// membershipFits says of every shadow model by how many standard errors it fits its own records better than others, beside
// the other models. Records that all models or none had show nothing.
func membershipFits(scores [][]float64, in [][]bool) []float64 {
	models := len(scores)
	inside, outside := make([]mean, models), make([]mean, models)
	if models == 0 {
		return nil
	}
	at := make([]float64, models)
	for i := range scores[0] {
		trained := 0
		for k := range scores {
			if at[k] = scores[k][i]; in[k][i] {
				trained++
			}
		}
		if trained == 0 || trained == models {
			continue
		}
		for k, v := range at {
			to := &outside[k]
			if in[k][i] {
				to = &inside[k]
			}
			to.add(rankAmong(at, v))
		}
	}
	var out []float64
	for k := range scores {
		if a, b := inside[k], outside[k]; min(a.n, b.n) >= minForShare {
			// Ranks that say nothing are spread evenly between -1 and 1.
			out = append(out, (a.sum/a.n-b.sum/b.n)/math.Sqrt((1/a.n+1/b.n)/3))
		}
	}
	return out
}

type mean struct{ sum, n float64 }

func (m *mean) add(v float64) { m.sum, m.n = m.sum+v, m.n+1 }

// rankAmong is where a value lies among some, from -1, below all others, to 1.
func rankAmong(all []float64, v float64) float64 {
	above := 0
	for _, o := range all {
		switch {
		case o < v:
			above++
		case o > v:
			above--
		}
	}
	return float64(above) / float64(len(all)-1)
}

// warnMembership notes shadow models that fit the records of their in.npy no better than others, where another model of
// the folder shows that training can be seen in losses.
func (e *Evidence) warnMembership() {
	var scores [][]float64
	var in [][]bool
	for _, m := range e.ModelsOf(Shadow) {
		if m.Scaled != nil && m.In != nil {
			scores, in = append(scores, m.Scaled), append(in, m.In)
		}
	}
	visible := slices.ContainsFunc(e.Models, func(m *Model) bool {
		return slices.Contains(compared, m.Role) && e.fitsBetter(m, e.Retain, e.HeldOut)
	})
	if why := MembershipDoubt(scores, in); why != "" && visible {
		e.warn("in.npy: %s", why)
		for _, m := range e.ModelsOf(Unlearned) {
			e.doubt(m, "the masks of the shadow models that it is compared with may be of others")
		}
	}
}
