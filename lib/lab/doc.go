// Package lab is the protocol: who is trained on what, who is the oracle, who is
// the other seed, and what an unlearning method is asked. Papers, the lenses and
// notebooks share it, and the models that come of it.
//
// A [Lab] trains and unlearns and keeps every model in the store, so that
// nothing is computed twice. A [Case] is one model with the records that it is
// to forget.
//
//	l, err := lab.Open()
//	c, err := l.Case(ctx, lab.Setting{DataSet: "breast_cancer"})
//	m, err := c.Unlearn(ctx, unlearn.SCRUB{})
//
// A result is kept under its recipe, the settings in force, seeds, data and engine. What
// Lethe brings is known by its version. A method, network, loss, goal, optimiser or
// measurement from another module is known by its code: by the module's version and sum
// where it has them, otherwise by the program that runs, so that a changed program
// computes anew what its own code had a part in. Every cell of a notebook is a program.
// See store.CodeOf. Data that somebody has made are known by their content.
//
// What many models come to is listed as jobs first ([Lab.Jobs]) and then done, side by
// side ([Lab.Do]); a cluster takes the same list.
package lab
