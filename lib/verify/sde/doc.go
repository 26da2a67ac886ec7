// Package sde judges whether a set of records was in the training set of a
// model, by the split-half dependence evaluation of "Unlearning Evaluation
// through Subset Statistical Independence" (SDE, arXiv 2603.00587), and shows
// what the statistic is.
//
// It knows nothing about models or training: it takes matrices whose row i is
// the activation of record i in one layer of one model.
//
//	HSIC, HSICUnbiased   dependence of paired samples            section 2.2
//	IndependenceTest     the ordinary permutation test of it
//	SplitHalf            the statistic H(S, h) of a set          section 3.1
//	Judge                in, out or undecided, with references   section 3.2
//	OTR, Controlled      shares and F1 over many subsets         section 4
//	Methods              SDE, its competitors and our controls as rows
//
// # What the statistic is
//
// A set is split in two, and HSIC of the halves is computed for 200 random
// orders of the second half. But record i of one half and record i of the other
// belong to nobody together: there is no pairing that an order could destroy.
// The 200 values are what the permutation test of independence draws for its
// null distribution, and their mean over all orders is exactly
//
//	E[H] = tr(Kc) tr(Lc)/(n-1)^3 = spread of half 1 * spread of half 2/(n-1),
//
// Kc and Lc the centred kernel matrices and spread = tr(Kc)/(n-1) the variance
// of one half's activations in the kernel's feature space. So H(S, h) is large
// where activations are spread wide and small where they are close together. It
// holds no term in which a record of one half meets a record of the other.
//
// In-training activations are spread wider than others in many a network, and
// then SDE tells the two apart. But so does anything else that changes the
// spread: activations of one and the same random law, scaled by 5 %, are judged
// apart nearly always, although nothing was trained. Therefore every table
// shows, beside SDE,
//
//   - the spread alone ([SpreadOnly]) and the closed form ([ClosedForm]),
//   - activations scaled by some per cent,
//   - a model with random weights,
//   - two held-out sets as target and reference,
//
// the last three of which are activations that the caller passes in.
//
// # Exactness
//
// All arithmetic is in float64: with the paper's sigma of 128 on ten logits the
// values are near 1e-8. On one platform the result does not depend on the number
// of processors, on the vector instructions, or on what a pool
// keeps.
package sde
