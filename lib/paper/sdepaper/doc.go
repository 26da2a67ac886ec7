// Package sdepaper makes the tables and figures of "Unlearning Evaluation through
// Subset Statistical Independence" (SDE, arXiv 2603.00587) again, each beside
// the controls that the paper lacks.
//
//	Paper()        the recipes, for the command line
//	Study          networks, data sets, forget fractions and seeds of a scale
//	Study.Judged   the controlled protocol on retrained models (tables 1 to 3, figures 1 to 4)
//	Study.Unlearned the protocol on unlearned models (tables 4 and 8)
//
// The fixed-batch toy (figure 5) and the generative case (figure 6) are in the
// packages toy and diffusion below.
//
// What a model is judged by is in package verify/sde; here is what is trained,
// which records are the targets and the references, and what is shown.
package sdepaper
