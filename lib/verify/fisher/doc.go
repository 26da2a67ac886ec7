// Package fisher measures how much the Fisher information of two sets of records
// has in common at a model: section 6 of "Fishing for Privacy". Of a loss L(x; w)
// the diagonal at weight w_i over a set S is
//
//	F_i(S) = 1/|S| sum over x in S of (dL(x; w)/dw_i)^2
//
// The paper calls a method hopeless where the cosine of the forget set's F and the
// retain set's is high: whatever moves the weights that matter to one moves those
// that matter to the other.
//
// An [Estimator] makes a [Diagonal] of a model and records: [Exact] is the formula
// above, [Coded] what the published program computes. Everything else is on plain
// named tensors, whatever made them.
//
// # What to compare a cosine with
//
// A cosine of Fisher information is between 0 and 1, because no entry is negative,
// and it has no null value of its own. 1 is the value of two sets that are one;
// whether 0.3 is little depends on how many records there are and how heavy the
// tails of their gradients are. Two controls say what 0.3 means, and the paper has
// neither:
//
//   - as many records as are to be forgotten, drawn at random from the retained ones,
//     against the other retained ones. It is below 1 by the noise of a small set
//     alone, and far below where a few records have most of the gradient, as those
//     that a classifier gets wrong have.
//   - two such random sets that share no record: the noise counts twice.
//
// Two random halves of a large retain set are near 1 for the exact estimator. A
// cosine below the first control's says that the two sets matter to different
// weights; one at the control's says nothing about the forget set. A low cosine is
// no evidence of memory: that of an oracle, which never met the records, is the
// value to put beside it.
package fisher
