// Package fisher measures the overlap of the Fisher information of two sets of records at a model:
// section 6 of "Fishing for Privacy". For a loss L(x; w) the diagonal at weight w_i over a set S is
//
//	F_i(S) = 1/|S| sum over x in S of (dL(x; w)/dw_i)^2
//
// The paper argues that no method can succeed if the cosine of the forget set's F and the retain
// set's is high, because changing the weights that matter to one changes those that matter to the
// other.
//
// An [Estimator] computes a [Diagonal] of a model and records: [Exact] is the formula above,
// [Coded] what the published program computes. Everything else is on plain named tensors from any
// source.
//
// # What to compare a cosine with
//
// A cosine of Fisher information is between 0 and 1, because no entry is negative, and it has no
// null value of its own. It is 1 for identical sets. How small 0.3 is depends on the number of
// records and on the tails of their gradients. Two controls, which the paper does not have, answer
// that:
//
//   - as many records as are to be forgotten, drawn at random from the retained ones, against the other retained ones.
//     Its cosine is below 1 by the noise of a small set alone, and far below if a few records have most of the gradient,
//     such as misclassified ones;
//   - two such random sets that share no record: the noise counts twice.
//
// Two random halves of a large retain set are near 1 for the exact estimator. A cosine below the
// first control's means that the two sets matter to different weights; one at the control's says
// nothing about the forget set. A low cosine is no evidence of memory: compare it with that of an
// oracle, which was not trained on the records.
package fisher
