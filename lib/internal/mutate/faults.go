package main

// faults lists the mistakes, room by room from the ground up. Whoever changes a
// line that one of them quotes changes the quotation too.
var faults = []Fault{
	// Statistics.
	{File: "lib/stats/delong.go", Old: "float64(b.neg)/2) / float64(n)", New: "float64(b.neg)) / float64(n)", Protects: "ties count one half in DeLong's variance"},
	{File: "lib/stats/delong.go", Old: "s10.value()/float64(m-1)/float64(m)", New: "s10.value()/float64(m)/float64(m)", Protects: "DeLong's variance divides by m-1"},
	{File: "lib/stats/delong.go", Old: "width := 1 - math.Pow((1-level)/2,", New: "width := 1 - math.Pow(1-level,", Protects: "the interval of a perfect AUC is two-sided"},
	{File: "lib/stats/wilson.go", Old: "centre := (p + float64(z*z)/(2*nf)) / denom", New: "centre := p", Protects: "Wilson's interval is drawn to one half"},
	{File: "lib/stats/floor.go", Old: "(mf + nf + 1) / (3 * mf * nf)", New: "(mf + nf + 1) / (12 * mf * nf)", Protects: "the chance floor is of 2 AUC - 1, not of the AUC"},
	{File: "lib/stats/floor.go", Old: "P95: s * normalQuantile(0.975)", New: "P95: s * normalQuantile(0.95)", Protects: "the chance floor is two-sided"},
	{File: "lib/stats/mannwhitney_greater.go", Old: "/2-0.5)/math.Sqrt(2*v)) / 2", New: "/2+0.5)/math.Sqrt(2*v)) / 2", Protects: "the continuity correction goes towards the null"},
	{File: "lib/stats/mannwhitney_greater.go", Old: "m*n-int(r.U)", New: "int(r.U)", Protects: "the gate's test has its tail on the side of in-training"},
	{File: "lib/stats/mannwhitney_greater.go", Old: "total + 1 - ties/(total*(total-1))", New: "total + 1", Protects: "ties lessen the variance of U"},
	{File: "lib/stats/bh.go", Old: "least = math.Min(least, p[i]*m/float64(rank+1))", New: "least = p[i] * m / float64(rank+1)", Protects: "adjusted p-values are monotone"},
	{File: "lib/stats/describe.go", Old: "squaresAbout(x, meanOf(x)) / float64(len(x)-1)", New: "squaresAbout(x, meanOf(x)) / float64(len(x))", Protects: "the sample SD has divisor n-1"},
	{File: "lib/stats/meaninterval.go", Old: "studentQuantile(0.5+level/2, n-1)", New: "studentQuantile(0.5+level/2, n)", Protects: "Student's interval has n-1 degrees of freedom"},
	{File: "lib/stats/bootstrap.go", Old: "sortedQuantile(s, (1-level)/2), sortedQuantile(s, (1+level)/2)", New: "sortedQuantile(s, 1-level), sortedQuantile(s, level)", Protects: "a percentile interval leaves out half of 1-level on either side"},
	{File: "lib/stats/wilcoxon.go", Old: "2*nf+1)/24 - ties/48", New: "2*nf+1)/24", Protects: "ties lessen the variance of W"},
	{File: "lib/stats/wilcoxon.go", Old: "r.WPlus-r.WMinus)", New: "r.WMinus-r.WPlus)", Protects: "the signed effect has the sign of the differences"},

	// The store.
	{File: "lib/store/run.go", Old: "	if err := r.compare(record, path, found); err != nil {\n		return nil, err\n	}\n	return b, nil", New: "	_, _ = record, found\n	return b, nil", Protects: "a damaged file is never read"},
	{File: "lib/store/key.go", Old: "	dec.UseNumber() // a float64 would lose the digits of large integers\n", New: "", Protects: "two large seeds are two keys"},

	// Data sets.
	{File: "datasets/split.go", Old: "			if k < trainQuota[c] {", New: "			if k >= testQuota[c] {", Protects: "the split is scikit-learn's, train first"},
	{File: "datasets/split.go", Old: "size := max(MinForget, int(math.Floor(", New: "size := max(MinForget, int(math.Ceil(", Protects: "the size of a forget set is rounded down"},
	{File: "datasets/split.go", Old: "	return forget, retain, nil", New: "	return retain, forget, nil", Protects: "ForgetSet names the forget set first"},
	{File: "datasets/prepare.go", Old: "n := scaler(t.X, s.Train)", New: "n := scaler(t.X, s.Test)", Protects: "columns are standardised with the train part"},
	{File: "datasets/prepare.go", Old: "Train: standardise(t, s.Train, n), Test: standardise(t, s.Test, n)", New: "Train: standardise(t, s.Test, n), Test: standardise(t, s.Train, n)", Protects: "train and test are not exchanged"},
	{File: "datasets/prepare.go", Old: "drift[j]*drift[j])/n) / n\n", New: "drift[j]*drift[j])/n) / (n - 1)\n", Protects: "columns are divided by the population SD"},
	{File: "datasets/linear_flips.go", Old: "s.plant(\"flipped\", s.add(1-y, x...))", New: "s.plant(\"flipped\", s.add(y, x...))", Protects: "planted flips are flipped"},

	// Training.
	{File: "lib/train/schedule.go", Old: "return (1 + math.Cos(math.Pi*float64(epoch)/float64(epochs))) / 2", New: "return 1", Protects: "the cosine falls"},
	{File: "lib/nn/adam.go", Old: "rate, shrink := float32(lr/first), ", New: "_, rate, shrink := first, float32(lr), ", Protects: "Adam corrects the bias of its first moment", Tests: "./lib/nn ./lib/train"},
	{File: "lib/nn/adam.go", Old: "c1, c2 := float32(1-a.Beta1), float32(1-a.Beta2)", New: "c1, c2 := float32(1-a.Beta1), float32(1-a.Beta1)", Protects: "Adam has two betas"},
	{File: "lib/nn/sgd.go", Old: "g := float32(grad[j]) + float32(decay*w[j])", New: "g := float32(grad[j]) - float32(decay*w[j])", Protects: "weight decay decays"},

	// Unlearning.
	{File: "lib/unlearn/neggrad.go", Old: "r.labels(r.Forget, m.Alpha-1)", New: "r.labels(r.Forget, 1-m.Alpha)", Protects: "NegGrad ascends on the forget set"},
	{File: "lib/unlearn/scrub.go", Old: "keep, err := r.teach(r.Original, r.Retain,", New: "keep, err := r.teach(r.Original, r.Forget,", Protects: "SCRUB agrees with the teacher on the retain set"},
	{File: "lib/unlearn/scrub.go", Old: "r.term(\"forget\", r.Forget, true, leave)", New: "r.term(\"forget\", r.Retain, true, leave)", Protects: "SCRUB leaves the teacher on the forget set"},
	{File: "lib/unlearn/bad_teacher.go", Old: "forget, err := r.teach(teacher, r.Forget, m.Temperature, 1)", New: "forget, err := r.teach(r.Original, r.Forget, m.Temperature, 1)", Protects: "the bad teacher is random"},
	{File: "lib/unlearn/salun.go", Old: "{Name: \"forget\", X: r.Forget.X, Targets: []train.Target{r.labels(r.Forget, 1)}}", New: "{Name: \"forget\", X: r.Retain.X, Targets: []train.Target{r.labels(r.Retain, 1)}}", Protects: "SalUn's mask is of the forget set's gradient"},
	{File: "lib/unlearn/salun.go", Old: "			case s > least:\n				open[i][j] = true", New: "			case s < least:\n				open[i][j] = true", Protects: "SalUn opens the salient weights"},
	{File: "lib/unlearn/random_label.go", Old: "uint64(epoch), uint64(id)) % classes", New: "0, uint64(id)) % classes", Protects: "random labels are drawn anew in every epoch"},
	{File: "lib/unlearn/retrain.go", Old: "r.labels(r.Retain, 1))}\n	fresh", New: "r.labels(r.Retain, 1)), r.term(\"forget\", r.Forget, false, r.labels(r.Forget, 1))}\n	fresh", Protects: "retraining never sees a forget record"},
	{File: "lib/unlearn/unlearn.go", Old: "	if !sees.Forget {\n		r.Forget = Data{}\n	}\n", New: "", Protects: "a method sees what it declares and no more"},
	{File: "lib/unlearn/unroll.go", Old: "float64(p[i].Data[j]) + float64(step*v)", New: "float64(p[i].Data[j]) - float64(step*v)", Protects: "unroll adds back what the forget records took"},

	// Attacks.
	{File: "lib/attack/loss_threshold.go", Old: "judged := Samples{Members: pick(l.Forgotten, d.forgotten), Nonmembers: pick(l.HeldOut, d.judge[", New: "judged := Samples{Members: pick(l.Forgotten, d.forgotten), Nonmembers: pick(l.HeldOut, d.learn[", Protects: "an attack is not judged on records that it learned from"},
	{File: "lib/attack/loss_threshold.go", Old: "known := Samples{Members: pick(l.Retained, d.retained)", New: "known := Samples{Members: pick(l.Retained, d.retained[:1])", Protects: "the threshold is learned on as many members as strangers"},
	{File: "lib/attack/loss_threshold.go", Old: "Example{i, true, -v, v < tau, evaluated[i]}", New: "Example{i, true, v, v < tau, evaluated[i]}", Protects: "a higher score means member"},
	{File: "lib/attack/loss_threshold.go", Old: "half := (len(order) + 1) / 2", New: "half := len(order) / 2", Protects: "of an odd number of test records the learning half is the longer"},
	{File: "lib/attack/threshold.go", Old: "		if acc > accuracy {", New: "		if acc >= accuracy {", Protects: "of tied thresholds the smallest is taken"},
	{File: "lib/attack/score.go", Old: "stats.ChanceFloor(len(s.Members), len(s.Nonmembers))", New: "stats.ChanceFloor(len(s.Members), len(s.Members))", Protects: "the floor is at the numbers of both samples"},
	{File: "lib/attack/signal_threshold.go", Old: "Score(Samples{Members: of.forgotten.scores, Nonmembers: of.heldOut.scores}, level)", New: "Score(Samples{Members: of.heldOut.scores, Nonmembers: of.forgotten.scores}, level)", Protects: "forgotten records are the members in question"},
	{File: "lib/attack/signal_threshold.go", Old: "r.HeldOutRate = stats.Wilson(of.heldOut.called(t)", New: "r.HeldOutRate = stats.Wilson(of.nonmembers.called(t)", Protects: "what a rate is read against was not learned from"},
	{File: "lib/attack/signal_threshold.go", Old: "d := forget.Value - out.Value", New: "d := out.Value - forget.Value", Protects: "balanced accuracy above 0.5 is memory"},

	// RULER.
	{File: "lib/verify/ruler/evidence.go", Old: "return difference(after, paired(e.Original, e.Oracle, e.Forget))", New: "return difference(paired(e.Original, e.Oracle, e.Forget), after)", Protects: "M3 is after less before"},
	{File: "lib/verify/ruler/evidence.go", Old: "return paired(e.Unlearned, e.Oracle, rows)", New: "return paired(e.Unlearned, e.Original, rows)", Protects: "M1 and M2 compare with the oracle"},
	{File: "lib/verify/ruler/m2.go", Old: "f, r := e.toOracle(e.Forget), e.toOracle(rows)", New: "r, f := e.toOracle(e.Forget), e.toOracle(rows)", Protects: "M2 is forget less retain"},
	{File: "lib/verify/ruler/measure.go", Old: "m2(f, base, Median, opt), m2(f, base, Mean, opt)", New: "m2(f, base, Mean, opt), m2(f, base, Median, opt)", Protects: "M2 has the median, M2-mean the mean"},
	{File: "lib/verify/ruler/m4.go", Old: "return sorted[k] > v })", New: "return sorted[k] >= v })", Protects: "ties of neighbours count by smaller or equal"},
	{File: "lib/verify/ruler/m4.go", Old: "1 / math.Sqrt(12*float64(n))", New: "1 / math.Sqrt(6*float64(n))", Protects: "ranks under the null are uniform"},
	{File: "lib/verify/ruler/m4.go", Old: "e.Null, e.Better = null(0.5), stats.NearNull", New: "e.Null, e.Better = null(0), stats.NearNull", Protects: "M4's null is one half"},
	{File: "lib/verify/ruler/options.go", Old: "return o.draw(retain, o.GalleryCap, PaperGalleryCap)", New: "return o.draw(retain, o.GalleryCap, PaperRetainCap)", Protects: "M4 searches up to 2,000 records"},
	{File: "lib/verify/ruler/options.go", Old: "rows[i] = retain[k]", New: "rows[i] = k", Protects: "a cap draws positions in the list of retained rows"},
	{File: "lib/verify/ruler/nearest.go", Old: "		if t.i == t.j {", New: "		if false {", Protects: "a record is not its own neighbour"},
	{File: "lib/verify/ruler/statistics.go", Old: "diffs[k] = d.Mean - null", New: "diffs[k] = d.Mean", Protects: "the signed-rank test is about the null"},

	// SDE.
	{File: "lib/verify/sde/divergence.go", Old: "	case d.In < d.Out:\n		return In", New: "	case d.In > d.Out:\n		return In", Protects: "the nearer reference wins"},
	{File: "lib/verify/sde/divergence.go", Old: "Out: diverge(comparison{target, refs.Out, all, opt.bins()})", New: "Out: diverge(comparison{target, refs.In, all, opt.bins()})", Protects: "the distance from the out-of-training reference is that"},
	{File: "lib/verify/sde/gate.go", Old: "stats.MannWhitneyGreater(d.In, d.Out)", New: "stats.MannWhitneyGreater(d.Out, d.In)", Protects: "the gate asks whether in-training is above"},
	{File: "lib/verify/sde/gate.go", Old: "newCloud(refs.Out).pair(sigma, opt.FreshSplits, 0), sigma, opt, opt.stream(streamOut), 0)", New: "newCloud(refs.In).pair(sigma, opt.FreshSplits, 0), sigma, opt, opt.stream(streamOut), 0)", Protects: "there are two references"},
	{File: "lib/verify/sde/protocol.go", Old: "stats.Wilson(j.share(Out)", New: "stats.Wilson(j.share(In)", Protects: "OTR counts what is judged out"},
	{File: "lib/verify/sde/controlled.go", Old: "r, f := c.Inside.shareIn(level), c.Outside.shareIn(level)", New: "f, r := c.Inside.shareIn(level), c.Outside.shareIn(level)", Protects: "F1 counts inside sets judged in as right"},
	{File: "lib/verify/sde/method_mmd.go", Old: "own+e.own-2*meanOf(cross)", New: "own+e.own-meanOf(cross)", Protects: "MMD of equal sets is 0"},
	{File: "lib/verify/sde/method_spread.go", Old: "math.Abs(s - spreadIn), Out: math.Abs(s - spreadOut)", New: "math.Abs(s - spreadOut), Out: math.Abs(s - spreadIn)", Protects: "the spread control has the roles of SDE"},
	{File: "lib/verify/sde/splithalf.go", Old: "scale, t := float64(n-1)*float64(n-1), opt.permutations()", New: "scale, t := float64(n)*float64(n), opt.permutations()", Protects: "HSIC is divided by (n-1)^2"},
	{File: "lib/verify/sde/moments.go", Old: "variance += p.diagonal * q.diagonal / (n - 1)", New: "variance += p.diagonal * q.diagonal / n", Protects: "the exact variance over permutations"},
	{File: "lib/verify/sde/kernel.go", Old: "	scale := -1 / (2 * sigma * sigma)\n	each(", New: "	scale := -1 / (sigma * sigma)\n	each(", Protects: "the Gaussian kernel has 2 sigma^2"},
	{File: "lib/verify/sde/hsic.go", Old: "float64(1+r.AtOrAbove) / float64(1+t)", New: "float64(r.AtOrAbove) / float64(t)", Protects: "a permutation p-value is never 0"},

	// Lenses and the lab.
	{File: "lib/lab/case.go", Old: "attack.Losses{Retained: pick(c.Retain), Forgotten: pick(c.Forget)", New: "attack.Losses{Retained: pick(c.Forget), Forgotten: pick(c.Retain)", Protects: "the attack judges the forgotten records", Tests: "./lib/audit"},
	{File: "lib/audit/subsets.go", Old: "sde.References{In: onTrain(c.Retain, in), Out: &held}", New: "sde.References{In: &held, Out: onTrain(c.Retain, in)}", Protects: "retained records are the reference in training"},
	{File: "lib/audit/subsets.go", Old: "asked := onTrain(c.Forget, target)", New: "asked := onTrain(c.Retain, target)", Protects: "SDE's lens judges the forgotten records"},
	{File: "lib/audit/outputs.go", Old: "Mean: r.Advantage.ChanceMean / 2, P95: r.Advantage.ChanceP95 / 2", New: "Mean: r.Advantage.ChanceMean, P95: r.Advantage.ChanceP95", Protects: "the floor of the lens outputs is of the AUC"},
	{File: "lib/audit/neighbours.go", Old: "Forget: c.Forget, Retain: c.Retain}", New: "Forget: c.Retain, Retain: c.Forget}", Protects: "the lens neighbours ranks the forgotten records"},
	{File: "lib/audit/against_oracle.go", Old: "Unlearned: &u, Oracle: &o, Forget: c.Forget, Retain: c.Retain}", New: "Unlearned: &u, Oracle: &o, Forget: c.Retain, Retain: c.Forget}", Protects: "the lens against the oracle is about the forgotten records"},
	{File: "lib/audit/against_oracle.go", Old: "c.embedding(c.Oracle)", New: "c.embedding(c.Original)", Protects: "the lens against the oracle looks at the oracle"},
	{File: "lib/audit/call.go", Old: "a.Low <= b.High && b.Low <= a.High", New: "a.Low <= b.Value && b.Low <= a.Value", Protects: "readings are alike where their intervals meet"},
	{File: "lib/audit/call.go", Old: "way := (m.Value - original.Value) / (oracle.Value - original.Value)", New: "way := (m.Value - oracle.Value) / (original.Value - oracle.Value)", Protects: "beyond is on the far side of the oracle"},
	{File: "lib/audit/lens.go", Old: "	case r.High < *r.Null:\n		side = Below", New: "	case r.Low > *r.Null:\n		side = Below", Protects: "a verdict says on which side of the null a reading lies"},
	{File: "lib/lab/keys.go", Old: "Forget: hashInts(r.Forget.IDs), ", New: "", Protects: "the key of an unlearned model has the forget set"},
	{File: "lib/lab/keys.go", Old: "Rows: hashInts(t.Rows), ", New: "Rows: hashInts(nil), ", Protects: "the key of a training has its rows"},
	{File: "lib/lab/keys.go", Old: "Original: r.Original.Hash(),", New: "Original: \"\",", Protects: "the key of an unlearned model has its original"},
	{File: "lib/lab/protocol.go", Old: "func (s Setting) Oracle() Origin { return Origin{On: Retained,", New: "func (s Setting) Oracle() Origin { return Origin{On: Everything,", Protects: "the oracle is trained on the retained records alone"},
	{File: "lib/lab/protocol.go", Old: "return Origin{On: Retained, Seed: s.OtherSeed(shift)}", New: "return Origin{On: Retained, Seed: s.Seed}", Protects: "the second oracle has another seed"},
	{File: "lib/lab/protocol.go", Old: "Forget: c.Records(c.Forget), Retain: c.Records(c.Retain),", New: "Forget: c.Records(c.Retain), Retain: c.Records(c.Forget),", Protects: "a request forgets the forget set"},
	{File: "lib/lab/protocol.go", Old: "			forget = append(forget, i)\n		} else {\n			retain = append(retain, i)", New: "			retain = append(retain, i)\n		} else {\n			forget = append(forget, i)", Protects: "planted records are those to forget"},
	{File: "lib/audit/ruler.go", Old: "{c.Oracle, &e.Oracle}, {c.Original, &e.Original}", New: "{c.Original, &e.Oracle}, {c.Oracle, &e.Original}", Protects: "M1 to M4 of a case have the case's oracle"},

	// Papers.
	{File: "lib/paper/ruler/cell.go", Old: "c.oracle, _, err = c.Weights(ctx, unlearn.Retrain{})", New: "c.oracle, _, err = c.Weights(ctx, unlearn.DoNothing{})", Protects: "the oracle of a cell never saw a forget record"},
	{File: "lib/paper/sde/diffusion/diffusion.go", Old: "		d.Fit.Schedule = train.Cosine()", New: "		d.Fit.Schedule = train.Steps()", Protects: "the denoiser's rate falls along a cosine"},
	{File: "lib/paper/ruler/cell.go", Old: "row.M2, row.M2Mean, row.M3, row.M4 = m.M1.Value, m.M2.Value, m.M2Mean.Value,", New: "row.M2, row.M2Mean, row.M3, row.M4 = m.M1.Value, m.M2Mean.Value, m.M2.Value,", Protects: "M2 and M2-mean stand in their columns", Run: "TestARow"},
	{File: "lib/paper/ruler/cell.go", Old: "Retained: train.Losses(zr, yr), Forgotten: train.Losses(zf, yf)", New: "Retained: train.Losses(zf, yf), Forgotten: train.Losses(zr, yr)", Protects: "the attack of RULER's tables judges the forgotten records", Run: "TestARow"},
	{File: "lib/paper/ruler/cell.go", Old: "row.ForgetAcc, row.RetainAcc, row.TestAcc = train.Accuracy(zf, yf), train.Accuracy(zr, yr)", New: "row.ForgetAcc, row.RetainAcc, row.TestAcc = train.Accuracy(zr, yr), train.Accuracy(zf, yf)", Protects: "the accuracies of a row stand in their columns", Run: "TestARow"},
	{File: "lib/paper/sde/unlearned.go", Old: "Forgotten: trained(forget), HeldOut: strange(tests[half:])", New: "Forgotten: strange(tests[half:]), HeldOut: trained(forget)", Protects: "table 4's ASR is of the forgotten images", Run: "TestTheAttack"},
	{File: "lib/paper/sde/unlearned.go", Old: "Members: trained(known), Nonmembers: strange(tests[:half])", New: "Members: strange(tests[:half]), Nonmembers: trained(known)", Protects: "table 4's attacker knows who is a member", Run: "TestTheAttack"},
	{File: "lib/paper/sde/unlearned.go", Old: "refs := verify.References{In: &in, Out: &out}", New: "refs := verify.References{In: &out, Out: &in}", Protects: "table 4's references are not exchanged", Run: "TestA|TestE|TestJ|TestT"},
	{File: "lib/paper/sde/judge.go", Old: "targets(\"forgotten\", a.train.Gather(forget)", New: "targets(\"forgotten\", a.train.Gather(rest)", Protects: "table 1 judges the forgotten images out", Run: "TestTargets|TestAWider"},
}
