// Package texts reads the text sets of the experiments and makes records for networks of
// documents: a user's own or those of a set.
//
//	set, err := texts.Load(ctx, "mtsamples")
//	mine, err := texts.New("letters", texts.Labels{Target: "ward"}, documents)
//	p, err := mine.Prepared(texts.Preparation{Tokens: 64}, rng)
//
// # Documents and records
//
// A document is a text with a label and the person or thing that it belongs to. A record is a
// sentence of a document, or a window of it (see Unit), as the numbers of its tokens. The
// prepared set knows the document of every record and its group of identical text, as columns,
// so that lab.Where("document=17") forgets a document and lab.RandomGroups draws some.
//
// # Vocabulary
//
// Tokens are those of a vocabulary that is read from a file, or learned from the texts of the
// train part, of which some will be forgotten: a retrained network uses the same vocabulary.
//
// Files, hashes and downloads are handled by package datasets, and `lethe data` lists all sets.
package texts
