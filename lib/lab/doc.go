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
// What many models come to is listed as jobs first ([Lab.Jobs]) and then done, side by
// side ([Lab.Do]); a cluster takes the same list.
package lab
