// Package judge asks whether somebody's model has forgotten, from arrays alone:
// what models of any framework answer, saved with numpy.save.
//
//	e, err := judge.Open("folder")       // everything wrong with the folder, as one list
//	r, err := e.Report(ctx)              // every judgement that the arrays permit
//	err = r.Write("folder/report")       // report.html, report.md, report.json
//
// A folder holds one table of records, seen by several models. Row i of every array
// is the same record, whether it was trained on or not:
//
//	labels.npy            (n,)    classes, 0, 1, 2, ...
//	forget.npy            (k,)    row numbers, or a mask of n bools: what was to be forgotten
//	retain.npy            (k,)    what the unlearned model was to keep
//	heldout.npy           (k,)    what no model in the folder was trained on
//	unlearned/            a folder per model:
//	    outputs.npy       (n, C)  logits or probabilities
//	    losses.npy        (n,)    in place of outputs and labels, where there are no classes
//	    embedding.npy     (n, p)  the activations just before the last layer
//	    activations/NAME.npy (n, q)
//	original/             the model before unlearning
//	retrained/            a model trained without the forget records
//	checkpoint-1/, ...    models saved along unlearning, in their order
//	shadow-1/, shadow-2/  models trained on parts of the records, each with
//	    in.npy            (k,)    row numbers or mask of what it was trained on
//
// lethe onnx and lethe state write such a folder of one model (package outside).
//
// Of every kind of model there may be several: retrained-1, retrained-2. Only the
// unlearned model and the forget records must be there. Files that lie elsewhere or
// have other names are named in audit.json; see [Config].
//
// Checkpoints are followed step by step: see [Trajectory].
//
// A [Judgement] turns a model into one number, an [audit.Reading]. A [Verdict] places
// the unlearned model's reading between that of the original and that of the retrained
// model, by the rule of tables and notebooks (audit.CallOf). Without a retrained model the
// null takes its place, where the judgement has one that holds for a model that never had
// the records. Too few records, and values that are mostly tied, make verdicts of their
// own (audit.TooFew, audit.CannotTell). A [Headline] sums up the verdicts by families of
// judgements that err together.
package judge
