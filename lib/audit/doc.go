// Package audit takes one question from data to evidence: train a model, let it
// forget some records, and look at what is left through several lenses, beside
// the retrained oracle and the controls.
//
// Package lab trains and unlearns and keeps every model in the store, so that
// nothing is computed twice. A [Case] is one model with the records that it is
// to forget. A [Lens] turns a model of the case into a [Reading]: a value with
// its interval, its null value, its chance floor and what the oracle shows.
//
//	l, err := lab.Open()
//	c, err := audit.Open(ctx, l, lab.Setting{DataSet: "breast_cancer"})
//	m, err := c.Unlearn(ctx, unlearn.SCRUB{})
//	table, err := c.Compare(c.Original, m, c.Oracle)
package audit
