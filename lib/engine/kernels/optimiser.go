package kernels

// Adam is a step of Adam, with each operation rounded to float32 as in PyTorch:
//
//	g = float32(grad)
//	m = B1 m + C1 g
//	v = B2 v + (C2 g) g
//	w = Shrink w - Rate m / (sqrt(v)/Root + Eps)
//
// where C1 = 1 - B1, C2 = 1 - B2, Rate and Root have the bias correction of the step, and
// Shrink is 1 or the factor of decoupled weight decay.
type Adam struct{ B1, B2, C1, C2, Root, Eps, Rate, Shrink float32 }

// Step updates the weights w and the moments m and v. It panics if the lengths differ.
func (a Adam) Step(w, m, v []float32, grad []float64) { a.stepAt(best, w, m, v, grad) }

func (a Adam) stepAt(l Level, w, m, v []float32, grad []float64) {
	checkLengths("Adam.Step", len(w), len(m), len(v), len(grad))
	adamAt(l, w, m, v, grad, a.vectorParams())
}

// Step32 is Step with a gradient in float32.
func (a Adam) Step32(w, m, v, grad []float32) { a.step32At(best, w, m, v, grad) }

func (a Adam) step32At(l Level, w, m, v, grad []float32) {
	checkLengths("Adam.Step32", len(w), len(m), len(v), len(grad))
	adam32At(l, w, m, v, grad, a.vectorParams())
}

func (a Adam) vectorParams() *[8][16]float32 {
	var p [8][16]float32
	broadcastParams(p[:], a.B1, a.B2, a.C1, a.C2, a.Root, a.Eps, a.Rate, a.Shrink)
	return &p
}

// SGD is a step of gradient descent with momentum and weight decay, with each operation
// rounded to float32:
//
//	m = Momentum m + (float32(grad) + Decay w)
//	w = w - Rate m
type SGD struct{ Rate, Momentum, Decay float32 }

// Step updates the weights w and the momentum m. It panics if the lengths differ.
func (s SGD) Step(w, m []float32, grad []float64) { s.stepAt(best, w, m, grad) }

func (s SGD) stepAt(l Level, w, m []float32, grad []float64) {
	checkLengths("SGD.Step", len(w), len(m), len(grad))
	sgdAt(l, w, m, grad, s.vectorParams())
}

// Step32 is Step with a gradient in float32.
func (s SGD) Step32(w, m, grad []float32) { s.step32At(best, w, m, grad) }

func (s SGD) step32At(l Level, w, m, grad []float32) {
	checkLengths("SGD.Step32", len(w), len(m), len(grad))
	sgd32At(l, w, m, grad, s.vectorParams())
}

func (s SGD) vectorParams() *[3][16]float32 {
	var p [3][16]float32
	broadcastParams(p[:], s.Rate, s.Momentum, s.Decay)
	return &p
}

// broadcastParams fills one vector with each of the numbers.
func broadcastParams(p [][16]float32, x ...float32) {
	for i := range p {
		Fill(p[i][:], x[i])
	}
}

// Finite reports whether no value is NaN or infinite.
func Finite[T Float](x []T) bool { return finiteAt(best, x) }

func finiteAt[T Float](l Level, x []T) bool {
	// v - v is 0 if v is finite, otherwise NaN; four sums can run in parallel.
	a, x := finiteVectors(l, x)
	var b, c, d T
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = a+(x[0]-x[0]), b+(x[1]-x[1]), c+(x[2]-x[2]), d+(x[3]-x[3])
	}
	for _, v := range x {
		a += v - v
	}
	return a+b+c+d == 0
}
