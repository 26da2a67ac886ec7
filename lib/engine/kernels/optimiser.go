package kernels

// Rule is a step of an optimiser: Adam or SGD.
type Rule interface {
	step(l Level, w []float32, slots [][]float32, grad []float64)
	step32(l Level, w []float32, slots [][]float32, grad []float32)
}

// Step updates weights and the slots that the optimiser keeps of them. It panics if the
// lengths differ.
func Step[T Float](r Rule, w []float32, slots [][]float32, grad []T) { stepAt(best, r, w, slots, grad) }

func stepAt[T Float](l Level, r Rule, w []float32, slots [][]float32, grad []T) {
	for _, s := range slots {
		checkLengths("Step", len(w), len(s), len(grad))
	}
	switch g := any(grad).(type) {
	case []float64:
		r.step(l, w, slots, g)
	case []float32:
		r.step32(l, w, slots, g)
	}
}

// Adam is a step of Adam, with each operation rounded to float32 as in PyTorch:
//
//	g = float32(grad)
//	m = B1 m + C1 g
//	v = B2 v + (C2 g) g
//	w = Shrink w - Rate m / (sqrt(v)/Root + Eps)
//
// where C1 = 1 - B1, C2 = 1 - B2, Rate and Root have the bias correction of the step, and
// Shrink is 1 or the factor of decoupled weight decay. The slots are m and v.
type Adam struct{ B1, B2, C1, C2, Root, Eps, Rate, Shrink float32 }

func (a Adam) step(l Level, w []float32, slots [][]float32, grad []float64) {
	adamAt(l, w, slots[0], slots[1], grad, a.vectorParams())
}

func (a Adam) step32(l Level, w []float32, slots [][]float32, grad []float32) {
	adam32At(l, w, slots[0], slots[1], grad, a.vectorParams())
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
//
// The slot is m.
type SGD struct{ Rate, Momentum, Decay float32 }

func (s SGD) step(l Level, w []float32, slots [][]float32, grad []float64) {
	sgdAt(l, w, slots[0], grad, s.vectorParams())
}

func (s SGD) step32(l Level, w []float32, slots [][]float32, grad []float32) {
	sgd32At(l, w, slots[0], grad, s.vectorParams())
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
