// Package ib holds information-bottleneck classifiers: a compressor that makes a
// noisy code of a record, and an approximator that classifies the code. They can be
// taken apart: BlindU's user has the compressor, its server unlearns from codes.
package ib
