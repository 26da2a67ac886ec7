package stats

import "math"

// result computes the other fields from the mean, its standard error and the variances.
func (gs grouped) result(mu, se, between, within float64) Mixed {
	m := Mixed{
		Mu: mu, SE: se, Z: mu / se, T: mu / se, DF: float64(len(gs.mean) - 1),
		VarBetween: between, VarWithin: within, ICC: ICC(between, within),
		Groups: len(gs.mean), N: int(gs.n),
		Boundary: between == 0 || within == 0,
	}
	m.Converged = !m.Boundary
	m.PZ, m.PT = normalTwoSided(m.Z), studentTwoSided(m.T, m.DF)
	half := float64(studentQuantile(0.975, m.DF) * se)
	m.Low, m.High = mu-half, mu+half
	if within > 0 {
		m.LogLik = gs.logLik(between / within)
	}
	return m
}

// closedForm returns the REML solution for groups of equal size.
func (gs grouped) closedForm() Mixed {
	k, n := float64(len(gs.mean)), gs.size[0]
	msb, msw := gs.ssBetween/(k-1), gs.ssWithin/(k*(n-1))
	if msb <= msw {
		return gs.fitWithoutIntercept()
	}
	return gs.result(gs.grand, math.Sqrt(msb/gs.n), (msb-msw)/n, msw)
}

// fitWithoutIntercept returns the model without a random intercept.
func (gs grouped) fitWithoutIntercept() Mixed {
	v := (gs.ssBetween + gs.ssWithin) / (gs.n - 1)
	return gs.result(gs.grand, math.Sqrt(v/gs.n), 0, v)
}

// fitWithoutWithin returns the limit of no variance within groups: the group means are the data,
// with equal weights.
func (gs grouped) fitWithoutWithin() Mixed {
	mu, k := meanOf(gs.mean), float64(len(gs.mean))
	v := squaresAbout(gs.mean, mu) / (k - 1)
	return gs.result(mu, math.Sqrt(v/k), v, 0)
}

// point is the model at one ratio r = VarBetween/VarWithin, everything else
// profiled out. With w_i = n_i/(1 + r n_i):
//
//	mu = sum w_i mean_i / sum w_i
//	q  = ssWithin + sum w_i (mean_i - mu)^2,  VarWithin = q/(N-1)
type point struct {
	mu, q          float64
	sumW, sumW2    float64
	sumW2D, logDet float64 // sum w_i^2 (mean_i - mu)^2, sum log(1 + r n_i)
}

// profileAt returns the model at the ratio r.
func (gs grouped) profileAt(r float64) point {
	var p point
	var sw, sw2, swm, ld, q, s2d accumulator
	for i, n := range gs.size {
		w := n / (1 + float64(r*n))
		sw.add(w)
		sw2.add(float64(w * w))
		swm.add(float64(w * (gs.mean[i] - gs.grand)))
		ld.add(math.Log1p(r * n))
	}
	p.sumW, p.sumW2, p.logDet = sw.value(), sw2.value(), ld.value()
	p.mu = gs.grand + swm.value()/p.sumW
	for i, n := range gs.size {
		w, d := n/(1+float64(r*n)), gs.mean[i]-p.mu
		q.add(w * d * d)
		s2d.add(w * w * d * d)
	}
	p.q, p.sumW2D = gs.ssWithin+q.value(), s2d.value()
	return p
}

// logLik returns the restricted log-likelihood profiled at ratio r:
//
//	-1/2 [(N-1)(log(2 pi VarWithin) + 1) + sum log(1 + r n_i) + log sum w_i].
func (gs grouped) logLik(r float64) float64 {
	p := gs.profileAt(r)
	return -0.5 * (float64((gs.n-1)*(math.Log(2*math.Pi*p.q/(gs.n-1))+1)) + p.logDet + math.Log(p.sumW))
}

// slope returns the derivative of -2 logLik by r. With w_i' = -w_i^2, and no term for mu in q'
// because mu minimises q:
//
//	-(N-1) sum w_i^2 d_i^2 / q + sum w_i - sum w_i^2 / sum w_i.
func (gs grouped) slope(r float64) float64 {
	p := gs.profileAt(r)
	return -(gs.n-1)*p.sumW2D/p.q + p.sumW - p.sumW2/p.sumW
}

// profile maximises the restricted likelihood over r in [0, inf). The likelihood can have several
// maxima, so every change of sign of the slope on a grid from 1e-10 to 1e14 is refined by
// bisection, and the best one is compared with r = 0. A likelihood that still rises at 1e14 has no
// variance within groups beyond rounding.
func (gs grouped) profile() Mixed {
	best, bestLik := 0.0, gs.logLik(0)
	low, lowSlope := 0.0, gs.slope(0)
	for step := range 97 {
		high := math.Pow(10, -10+float64(step)/4)
		highSlope := gs.slope(high)
		if lowSlope < 0 && highSlope >= 0 {
			r := gs.bisect(low, high)
			if l := gs.logLik(r); l > bestLik {
				best, bestLik = r, l
			}
		}
		low, lowSlope = high, highSlope
	}
	switch {
	case lowSlope < 0:
		return gs.fitWithoutWithin()
	case best == 0:
		return gs.fitWithoutIntercept()
	}
	p := gs.profileAt(best)
	within := p.q / (gs.n - 1)
	return gs.result(p.mu, math.Sqrt(within/p.sumW), best*within, within)
}

// bisect narrows a change of sign of the slope down to neighbouring floats.
func (gs grouped) bisect(low, high float64) float64 {
	for {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			return high
		}
		if gs.slope(mid) < 0 {
			low = mid
		} else {
			high = mid
		}
	}
}
