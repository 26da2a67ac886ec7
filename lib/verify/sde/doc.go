// Package sde tells whether a set of records was in the training set of a model, by the split-half
// dependence evaluation of "Unlearning Evaluation through Subset Statistical Independence" (SDE,
// arXiv 2603.00587), and shows what the statistic measures.
//
// It knows nothing about models or training: it takes matrices whose row i is the activation of
// record i in one layer of one model.
//
//	HSIC, HSICUnbiased   dependence of paired samples            section 2.2
//	IndependenceTest     the ordinary permutation test of it
//	SplitHalf            the statistic H(S, h) of a set          section 3.1
//	Judge                in, out or undecided, with references   section 3.2
//	OTR, Controlled      shares and F1 over many subsets         section 4
//	Methods              SDE, its competitors and our controls as rows
//
// # What the statistic measures
//
// A set is split in two, and HSIC of the halves is computed for 200 random orders of the second
// half. But record i of one half has nothing to do with record i of the other: there is no pairing
// that an order could destroy. The 200 values are the null distribution of the permutation test of
// independence, and their mean over all orders is exactly
//
//	E[H] = tr(Kc) tr(Lc)/(n-1)^3 = spread of half 1 * spread of half 2/(n-1),
//
// where Kc and Lc are the centred kernel matrices and spread = tr(Kc)/(n-1) is the variance of one
// half's activations in the kernel's feature space. So H(S, h) is large if activations are widely
// spread and small if they are close together. It has no term that combines a record of one half
// with a record of the other.
//
// In many networks in-training activations have a larger spread than others, and then SDE tells the
// two apart. Anything else that changes the spread does the same: activations with one distribution
// are nearly always told apart after scaling one set by 5 %, although nothing was trained.
// Therefore every table shows, beside SDE,
//
//   - the spread alone ([SpreadOnly]) and the closed form ([ClosedForm]),
//   - activations scaled by a few per cent,
//   - a model with random weights,
//   - two held-out sets as target and reference.
//
// The caller provides the activations of the last three.
//
// # Exactness
//
// All arithmetic is in float64: with the paper's sigma of 128 on ten logits the values are near
// 1e-8. On one platform the result does not depend on the number of processors, on the vector
// instructions, or on what a pool caches.
package sde
