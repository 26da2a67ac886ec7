// Package audit answers one question with evidence: has a model forgotten records? It trains a
// model, lets it forget some records, and reads what is left through several lenses. A retrained
// model (the oracle) and controls stand beside every result.
//
// Package lab trains and unlearns, and keeps every model in the store, so that nothing is computed
// twice. A [Case] is one model with the records that it is to forget. A [Lens] turns the arrays of a
// model into a [Reading]: a value with its interval, its null value and its chance floor. A [Call]
// places the reading between the readings of the original and of the oracle.
//
//	l, err := lab.Open()
//	c, err := audit.Open(ctx, l, lab.Setting{Data: lab.Table{Set: "breast_cancer"}})
//	m, err := c.Unlearn(ctx, unlearn.SCRUB{})
//	table, err := c.Compare(c.Original, m, c.Oracle)
//
// Package judge, below this one, opens models that exist only as saved arrays, reads them through
// the same lenses, and writes a report.
package audit
