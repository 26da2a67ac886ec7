// Package ib has information-bottleneck classifiers: a compressor, which makes a noisy code
// of a record, and an approximator, which classifies the code. The halves can be used
// apart: in BlindU the user has the compressor, and the server unlearns from codes.
package ib
