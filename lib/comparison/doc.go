// Package comparison compares unlearning methods on one setting over several seeds: every
// model is trained, unlearned and read through the same lenses in every seed, beside the
// original, retrained models and random weights. The result is a table, a page and JSON.
//
//	s := comparison.Study{Lab: l, Setting: setting, Seeds: 5}
//	r, err := s.Run(ctx)
//	err = r.Write("report") // report.html, report.md, report.json
//
// Another seed draws another test part, another forget set if that is random, and other
// initial weights. Intervals are over seeds. Models are kept in the store, so that an
// interrupted comparison goes on where it stopped.
package comparison
