// Package lab is the experimental protocol: which model is trained on which records, which
// models are the retraining baselines, and what an unlearning method gets to see. The paper
// recipes, the lenses and the notebooks use it and share its models.
//
// A [Lab] trains and unlearns models and keeps each in the store, so that nothing is
// computed twice. A [Case] is one model with the records that it has to forget.
//
//	l, err := lab.Open()
//	c, err := l.Case(ctx, lab.Setting{DataSet: "breast_cancer"})
//	m, err := c.Unlearn(ctx, unlearn.SCRUB{})
//
// A result is stored under its recipe, settings, seeds, data and engine. Code of this
// module is identified by version numbers. A method, network, loss, goal, optimiser or
// measurement from another module is identified by its code: by the module's version and
// checksum if known, otherwise by the program that runs, so that a changed program
// recomputes whatever its own code took part in. Every cell of a notebook is a program of
// its own. See store.CodeOf. Data that a caller prepared are identified by their content.
//
// Larger amounts of work are listed as jobs ([Lab.Jobs]) and then run in parallel
// ([Lab.Do]) or on a cluster.
package lab
