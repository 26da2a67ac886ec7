package main

// ofPapers are mistakes in papers.
var ofPapers = []Fault{
	// Papers.
	{File: "lib/paper/power/smallest.go", Old: "if other != at && j != k {", New: "if other != at || j != k || k >= 0 {",
		Protects: "a seed is judged by the retrained models of the others"},
	{File: "lib/paper/power/smallest.go", Old: "math.Sqrt(sd*(1+1/n))", New: "math.Sqrt(sd/n)", Protects: "a bound is for one model and not for the mean"},
	{File: "lib/paper/power/measure.go", Old: "fit.Seed = engine.Root(c.Seed + planted)", New: "fit.Seed = engine.Root(c.Seed)",
		Protects: "the retrained model that is judged is not the one that it is compared with"},
	{File: "lib/paper/power/measure.go", Old: "for range p.Times {", New: "for range 1 {", Protects: "a repeated record is repeated"},
	{File: "lib/paper/lenses/agreement.go", Old: "&& !math.IsNaN(b) {", New: "|| !math.IsNaN(b) {",
		Protects: "two lenses are compared where both say something"},
	{File: "lib/paper/attacks/fleet.go", Old: "e.Target = h.scaled.Row(m)", New: "e.Target = first.scaled.Row(m)",
		Protects: "who does not know of the unlearning attacks the unlearned model all the same"},
	{File: "lib/paper/attacks/distances.go", Old: "mine, others := cases[:models], cases[models:]",
		New: "mine, others := cases[:models], cases[:models]", Protects: "the reference is other models than the null"},
	{File: "lib/paper/rulerpaper/cell.go", Old: "c.oracle, _, err = c.Weights(ctx, unlearn.Retrain{})",
		New: "c.oracle, _, err = c.Weights(ctx, unlearn.DoNothing{})", Protects: "the oracle of a cell never saw a forget record"},
	{File: "lib/paper/sdepaper/judge.go", Old: "size: j.Sizes[len(j.Sizes)-1], course: JudgedAt}\n", New: "size: j.Sizes[0], course: JudgedAt}\n",
		Protects: "figure 3 shows sets of the size that its titles name"},
	{File: "lib/paper/sdepaper/diffusion/diffusion.go", Old: "		d.Fit.Schedule = train.Cosine()", New: "		d.Fit.Schedule = train.Steps()",
		Protects: "the denoiser's rate falls along a cosine"},
	{File: "lib/paper/rulerpaper/cell.go", Old: "row.M2, row.M2Mean, row.M3, row.M4 = m.M1.Value, m.M2.Value, m.M2Mean.Value,",
		New: "row.M2, row.M2Mean, row.M3, row.M4 = m.M1.Value, m.M2Mean.Value, m.M2.Value,", Protects: "M2 and M2-mean stand in their columns",
		Run: "TestARow"},
	{File: "lib/paper/rulerpaper/cell.go", Old: "Retained: train.Losses(zr, yr), Forgotten: train.Losses(zf, yf)",
		New: "Retained: train.Losses(zf, yf), Forgotten: train.Losses(zr, yr)", Protects: "the attack of RULER's tables judges the " +
			"forgotten records", Run: "TestARow"},
	{File: "lib/paper/rulerpaper/cell.go", Old: "row.ForgetAcc, row.RetainAcc, row.TestAcc = train.Accuracy(zf, yf), " +
		"train.Accuracy(zr, yr)", New: "row.ForgetAcc, row.RetainAcc, row.TestAcc = train.Accuracy(zr, yr), train.Accuracy(zf, yf)",
		Protects: "the accuracies of a row stand in their columns", Run: "TestARow"},
	{File: "lib/paper/sdepaper/unlearned.go", Old: "Forgotten: trained(forget), HeldOut: strange(tests[half:])",
		New: "Forgotten: strange(tests[half:]), HeldOut: trained(forget)", Protects: "table 4's ASR is of the forgotten images", Run: "TestTheAttack"},
	{File: "lib/paper/sdepaper/unlearned.go", Old: "Members: trained(known), Nonmembers: strange(tests[:half])",
		New: "Members: strange(tests[:half]), Nonmembers: trained(known)", Protects: "table 4's attacker knows who is a member", Run: "TestTheAttack"},
	{File: "lib/paper/sdepaper/unlearned.go", Old: "t.references = sde.References{In: &in, Out: &out}",
		New:      "t.references = sde.References{In: &out, Out: &in}",
		Protects: "table 4's references are not exchanged", Run: "TestTableFours"},
	{File: "lib/paper/sdepaper/cast.go", Old: "s.targets(trainImages, 1, forget, size", New: "s.targets(trainImages, 1, rest, size",
		Protects: "table 1 judges the forgotten images out", Run: "TestTargets|TestAWider"},
}
