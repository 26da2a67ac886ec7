// Package sdepaper reproduces the tables and figures of "Unlearning Evaluation through Subset
// Statistical Independence" (SDE, arXiv 2603.00587), and adds the controls that the paper lacks.
//
//	Paper()        the recipes, for the command line
//	Study          networks, data sets, forget fractions and seeds of a scale
//	Judged         the controlled protocol on retrained models (tables 1 to 3, figures 1 to 4)
//	Unlearned      the protocol on unlearned models (tables 4 and 8)
//
// The fixed-batch toy experiment (figure 5) and the generative case (figure 6) are in the
// packages toy and diffusion below.
//
// The measures are in package verify/sde. This package defines what is trained, which records
// are targets and references, and what is shown.
package sdepaper
