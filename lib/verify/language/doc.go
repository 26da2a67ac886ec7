// Package language measures what a language model still knows of texts that it was to forget, from
// saved arrays: no model is run. It holds the metrics of the published benchmarks, each with its
// formula, its null value and the defects of its program, and tests that respect that questions
// are paired and come in groups.
//
//   - Tokens are the log-probabilities of answers; Check says all that is wrong with them.
//   - A Score gives one number per answer, higher for what a model was trained on: Scores lists them.
//   - TruthRatio compares a right answer with wrong ones; Utility and ForgetQuality rest on it.
//   - PairedQuality, Calibration and Power say whether an unlearned model differs from retrained
//     ones, by how much, and what the test would have missed.
//   - PrivLeak, BoundedMIA and Depth compare a model with a retrained one.
//
// # Conventions
//
// Logarithms are natural. A document is an answer; its tokens are those of the answer alone, not of
// the question. The published programs leave out the last token, the end of the text, in
// exact memorisation, extraction strength, Min-K % and Min-K %++, and keep it in probability, loss
// and truth ratio. Here every metric uses the tokens that it is given; Tokens.WithoutLast gives the
// programs' tokens.
//
// An empty answer has no value: every score refuses it by number. Tokens.Select leaves it out. The
// published programs give it 0 in Min-K, which is the score of a text that is known perfectly, and
// NaN, None or 0 elsewhere.
package language
