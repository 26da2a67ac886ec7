package shadow

import (
	"fmt"
	"math"
)

// LiRA is the likelihood-ratio attack (Carlini et al. 2022, algorithm 1). Online, normal
// distributions are fitted to a record's scores by the models that had it and by those that had
// not,
//
//	score = log N(t; mu_in, s_in) - log N(t; mu_out, s_out)
//
// Offline, only by models that had not,
//
//	score = (t - mu_out) / s_out
//
// of which the paper's 1 - Pr(Z > t) is a monotone function that rounds to 1.
//
// The zero value is the paper's: online, a standard deviation per record and side, divisor n - 1.
// With fewer than about 64 models one standard deviation for all records is better (Pooled; the
// paper's section VI), from the squared deviations about every record's own mean. SD sets it
// directly.
//
// Null: AUC 0.5, a target that had nothing to do with the records. Direction: nearest to the null.
//
// It refuses a record with fewer than two models on a side that is needed (with Pooled or SD fewer
// than one), and one without spread.
type LiRA struct {
	Offline bool    `json:"offline,omitempty"`
	Pooled  bool    `json:"pooled,omitempty"`
	SD      float64 `json:"sd,omitempty"` // above 0: the standard deviation of every record, on both sides
}

var _ Attack = LiRA{}

// Name implements Attack.
func (a LiRA) Name() string {
	name := "lira-online"
	if a.Offline {
		name = "lira-offline"
	}
	if a.Pooled {
		name += "-pooled"
	}
	return name
}

// About implements Attack.
func (a LiRA) About() string {
	if a.Offline {
		return "how far a score lies above those of models without the record"
	}
	return "likelihood ratio of a score under models with and without the record"
}

// Mutual implements Attack.
func (a LiRA) Mutual() bool { return !a.Offline }

// Scores implements Attack.
func (a LiRA) Scores(e Evidence) ([]float64, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	if !(a.SD >= 0) || math.IsInf(a.SD, 1) {
		return nil, fmt.Errorf("a standard deviation of %v", a.SD)
	}
	in, out, err := a.fitBothSides(e.Shadows)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(e.Target))
	for i, t := range e.Target {
		if a.Offline {
			scores[i] = (t - out[i].mean) / out[i].sd
		} else {
			scores[i] = in[i].logDensity(t) - out[i].logDensity(t)
		}
	}
	return scores, nil
}

// normal is a normal distribution.
type normal struct{ mean, sd float64 }

// logDensity is the logarithm of the density without its constant.
func (l normal) logDensity(x float64) float64 {
	z := (x - l.mean) / l.sd
	return -float64(z*z)/2 - math.Log(l.sd)
}

// fitBothSides returns every record's distributions; in is empty offline.
func (a LiRA) fitBothSides(s Shadows) (in, out []normal, err error) {
	var withs, withouts [][]float64
	for i := range s.Scores.Cols {
		with, without := s.scoresFor(i)
		withs, withouts = append(withs, with), append(withouts, without)
	}
	if out, err = a.fitNormals(withouts, "without"); err != nil || a.Offline {
		return nil, out, err
	}
	in, err = a.fitNormals(withs, "with")
	return in, out, err
}

func (a LiRA) fitNormals(samples [][]float64, side string) ([]normal, error) {
	out := make([]normal, len(samples))
	squares, freedom := 0.0, 0
	need := 2
	if a.Pooled || a.SD > 0 {
		need = 1
	}
	for i, x := range samples {
		if len(x) < need {
			return nil, inapplicable("record %d: shadow models %s it: %d, and at least %d are needed", i, side, len(x), need)
		}
		own := 0.0
		for _, v := range x {
			out[i].mean += v / float64(len(x))
		}
		for _, v := range x {
			own += float64((v - out[i].mean) * (v - out[i].mean))
		}
		squares, freedom = squares+own, freedom+len(x)-1
		out[i].sd = math.Sqrt(own / float64(len(x)-1))
	}
	for i := range out {
		switch {
		case a.SD > 0:
			out[i].sd = a.SD
		case a.Pooled:
			out[i].sd = math.Sqrt(squares / float64(freedom))
		}
		if !(out[i].sd > 1e-12*math.Abs(out[i].mean)) { // the mean of equal numbers is theirs up to rounding
			return nil, inapplicable("record %d: the shadow models %s it have no spread", i, side)
		}
	}
	return out, nil
}
