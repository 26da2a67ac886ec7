// Package judge audits models that were trained elsewhere, from saved arrays alone: outputs, losses
// and embeddings of any framework, written with numpy.save.
//
//	e, err := judge.Open("folder")       // everything wrong with the folder, as one list
//	r, err := e.Report(ctx)              // every lens that the arrays permit
//	err = r.Write("folder/report")       // report.html, report.md, report.json
//
// A folder holds one table of records, as several models see it. Row i of every array is the same
// record, whether it was trained on or not:
//
//	labels.npy            (n,)    classes, 0, 1, 2, ...
//	forget.npy            (k,)    row numbers, or a mask of n bools: what was to be forgotten
//	retain.npy            (k,)    what the unlearned model was to keep
//	heldout.npy           (k,)    what no model in the folder was trained on
//	inputs.npy            (n, d)  what models are given; of texts input_tokens.npy and input_offset.npy
//	unlearned/            a folder per model:
//	    outputs.npy       (n, C)  logits or probabilities
//	    losses.npy        (n,)    in place of outputs and labels, where there are no classes
//	    embedding.npy     (n, p)  the activations just before the last layer
//	    activations/NAME.npy (n, q)
//	original/             the model before unlearning
//	retrained/            a model trained without the forget records
//	checkpoint-1/, ...    models saved along unlearning, in their order
//	quantised-int8/, ...  the unlearned model with rounded weights
//	shadow-1/, shadow-2/  models trained on parts of the records, each with
//	    in.npy            (k,)    row numbers or mask of what it was trained on
//
// lethe onnx and lethe state write such a folder of one model (package outside).
//
// There may be several models of every kind: retrained-1, retrained-2. Only the unlearned model and
// the forget records are required. Files in other places or with other names are named in
// audit.json; see [Config]. Checkpoints are read step by step; see [Trajectory].
//
// An [audit.Lens] turns a model's arrays into one number, an [audit.Reading], as it does for the
// models of a case. A [Verdict] places the unlearned model's reading between those of the original
// and of the retrained models, by the same rule as tables and notebooks (audit.CallBeside). Without a
// retrained model the null takes its place, if the lens has a null that holds for models that never had the
// records. Too few records, and values that are mostly tied, have verdicts of their own (audit.TooFew,
// audit.CannotTell). A [Headline] summarises the verdicts by families of lenses whose errors are related.
package judge
