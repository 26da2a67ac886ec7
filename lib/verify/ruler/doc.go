// Package ruler measures whether a model still treats the records that it was asked to forget
// differently from those it kept, from its penultimate embeddings (RULER, section 3).
//
// It knows nothing about models or training. It takes matrices whose row i is the embedding of
// record i under one model, and two lists of row numbers, forget and retain. Embeddings are scaled
// to unit length, and similarity is the cosine, computed in float64.
//
//	M1  similarity of forget records to the oracle's          (2)  no null
//	M2  M1 less what retained records reach: signed gap       (3)  null 0
//	M3  change of that similarity through unlearning          (4)  null 0
//	M4  rank of a forget record among retained neighbours     (7)  null 0.5
//
// # Conditions for a valid result
//
//   - The layer is the activation just before the output head, dropout off.
//   - The unlearned model, the oracle and the original share their initialisation seed: M1 to M3 compare coordinates, and a
//     cosine does not survive a rotation between two models. M4 uses one model alone.
//   - Row i is the same record in every matrix. Wrong shapes and row numbers are refused by name; a permuted matrix cannot be
//     detected.
//   - Forget and retain share no record.
//
// A negative M2 is read as residual memory and a positive one as over-correction; M4 above 0.5 as
// memory and below 0.5 as over-displacement. Both readings need controls: a model without
// unlearning and a model that never saw the forget set can also be away from the null, because of
// the geometry of the data alone. Report M4 beside the oracle's own M4.
//
// # Exactness
//
// The result does not depend on the number of processors: a float32 product only rules out
// neighbours that cannot be the nearest, and the rest are compared in float64. Time grows with the
// square of the gallery. It is several times longer if most records are parallel to within float32
// rounding, because little can be ruled out.
package ruler
