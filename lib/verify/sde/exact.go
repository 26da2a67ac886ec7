package sde

import "slices"

// KernelPair holds the kernel matrices, minus one, of the two halves of a set. They are the input
// of the closed form and its only costly part.
type KernelPair struct {
	first, second Matrix
}

// NewKernelPair computes the kernel matrices of the halves of SplitHalf. It refuses what SplitHalf
// refuses.
func NewKernelPair(m *Matrix, b Bandwidth) (*KernelPair, error) {
	if err := check("given", m, 4); err != nil {
		return nil, err
	}
	sigma, err := b.Resolve(m)
	if err != nil {
		return nil, err
	}
	k := newCloud(m).halfKernels(sigma, false, 0)
	return &KernelPair{k.first, k.second}, nil
}

// Mean returns the exact mean of the split-half statistic over all permutations,
//
//	E[H] = tr(Kc) tr(Lc)/(n-1)^3,  tr(Kc) = -2/n sum over i > j of (k_ij - 1),
//
// in one pass over half of each matrix, without centring. It agrees with Distribution.ExactMean up
// to rounding.
func (k *KernelPair) Mean() float64 {
	return centredTrace(&k.first) * centredTrace(&k.second) / cube(float64(k.first.Rows-1))
}

// centredTrace returns the trace after centring of a kernel matrix minus one, whose diagonal is 0.
func centredTrace(k *Matrix) float64 {
	total := 0.0
	for i := range k.Rows {
		total += sum(k.Row(i)[:i])
	}
	return -2 * total / float64(k.Rows)
}

// Moments returns the exact mean and standard deviation over all permutations, bit for bit
// Distribution.ExactMean and Distribution.ExactSD. It centres copies of the matrices.
func (k *KernelPair) Moments() (mean, sd float64) {
	a, b := k.first, k.second
	a.Data, b.Data = slices.Clone(a.Data), slices.Clone(b.Data)
	centre(&a)
	centre(&b)
	return moments(&a, &b)
}
