// Package ruler measures whether a model still treats the records it was asked
// to forget differently from those it kept, by looking at its penultimate
// embeddings (RULER, section 3).
//
// It knows nothing about models or training: it takes matrices whose row i is
// the embedding of record i under one model, and two lists of row numbers,
// forget and retain. Embeddings are scaled to unit length, so the scale of a
// row does not matter, and similarity is the cosine, computed in float64.
//
//	M1  similarity of forget records to the oracle's          (2)  no null
//	M2  M1 less what retained records reach: signed gap       (3)  null 0
//	M3  change of that similarity through unlearning          (4)  null 0
//	M4  rank of a forget record among retained neighbours     (7)  null 0.5
//
// # Conditions for a valid result
//
//   - The layer is the activation just before the output head, dropout off.
//   - The unlearned model, the oracle and the original share their
//     initialisation seed: M1 to M3 compare coordinates, and a cosine does not
//     survive a rotation between two models. M4 stays inside one model.
//   - Row i is the same record in every matrix. What can be seen of a mistake
//     here (shapes, row numbers) is refused by name; a permuted matrix cannot
//     be seen.
//   - Forget and retain share no record.
//
// M2 is read as negative for residual memory and positive for over-correction,
// M4 as above 0.5 for memory and below 0.5 for over-displacement. Both readings
// need controls: a model that was never unlearned and a model that never saw
// the forget set can score away from the null too, because of the geometry of
// the data alone. Report M4 beside the oracle's own M4.
//
// # Exactness
//
// The result does not depend on the number of processors: a float32 product
// only rules out neighbours that cannot be nearest, and the rest are compared
// in float64. Time grows with the
// square of the gallery; it is several times longer when most records are
// parallel to within float32 rounding, because little can then be ruled out.
package ruler
