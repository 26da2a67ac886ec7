// Package blindu reproduces the tables and figures of "BlindU: Blind Machine Unlearning without
// Revealing Erasing Data": an information bottleneck unlearns records, with a backdoor or random
// ones, that the server holding the model never sees.
//
// A scale is a list of pairs of cases, one with a backdoor and one with random records:
//
//	quick        generated glyphs
//	hour         12,000 images of MNIST
//	photographs  3,000 of the first 4,000 images of CIFAR-10, narrow networks
//	copies       3,000 images of CIFAR-10 as JPEG files, narrow networks
//	standard     MNIST and Adult
//	paper        the same, five seeds
//	lossy        all of CIFAR-10 as JPEG files: every output says that its data are lossy
//	collections  CIFAR-10, CIFAR-100 and Tiny-ImageNet as published
//
// The paper's tables are MNIST, CIFAR-10 and Adult; CIFAR-100 and Tiny-ImageNet are in its
// figures. The image sets have their own scales, because their ResNets take days on a small
// machine.
package blindu

import "github.com/lethe-ml/lethe/lib/paper"

// Results is the version of the numbers of this paper's tables.
const Results = 1

// Paper is the list of tables and figures, for the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: "blindu", Title: "BlindU",
		Scales: scales(),
		Recipes: []paper.Recipe{
			modelRecipe(table2, table2Study, (*evidence).table2), modelRecipe(table3, StudyAt, (*evidence).table3),
			modelRecipe(table4, table4Study, (*evidence).table4), leakRecipe(uploads, uploadStudy, (*leaks).table), attributeRecipe(attribute),
			modelRecipe(users, usersStudy, (*evidence).users),
			modelRecipe(auxiliary, auxiliaryStudy, (*evidence).auxiliary),
			sweepRecipe(figure4, byShare, func(ev *evidence, w sweep) *paper.Output { return ev.curves(figure4, w) }),
			trajectoryRecipe(figure5, (*trajectories).figure5), trajectoryRecipe(figure8, (*trajectories).figure8),
			modelRecipe(figure6, StudyAt, (*evidence).figure6), timesRecipe(figure7, byShare), claimsRecipe(figure9),
			leakSweepRecipe(figure10, byBeta, func(l *leaks, w sweep) *paper.Output { return l.reconstructionFigure(figure10, w) }),
			leakSweepRecipe(figure11, byBeta, func(l *leaks, w sweep) *paper.Output { return l.informationFigure(figure11, w) }),
			leakSweepRecipe(figure12, byRate, func(l *leaks, w sweep) *paper.Output { return l.reconstructionFigure(figure12, w) }),
			sweepRecipe(figure13, byBeta, func(ev *evidence, w sweep) *paper.Output { return ev.curves(figure13, w) }),
			timesRecipe(figure14, byBeta),
			sweepRecipe(figure15, byRate, func(ev *evidence, w sweep) *paper.Output { return ev.curves(figure15, w) }),
		},
	}
}

func scales() []paper.Scale {
	return []paper.Scale{
		{Name: "quick", About: "takes minutes on two cores and no file (generated drawings, a small network, " +
			"three seeds)"},
		{Name: "hour", About: "takes about an hour on two cores (12,000 images of MNIST, the program's network, three seeds)"},
		{Name: "photographs", About: "takes hours on two cores (3,000 images of CIFAR-10 without loss, ResNets of a quarter of their width, three seeds)"},
		{Name: "copies", About: "takes hours on two cores (the same of 3,000 images of a lossy copy)"},
		{Name: "standard", About: "takes hours on two cores (MNIST and Adult, whole, three seeds)"},
		{Name: "paper", About: "takes an evening on two cores (MNIST and Adult, whole, five seeds)"},
		{Name: "lossy", About: "takes days on two cores (all of CIFAR-10 in a lossy copy, the program's networks, five seeds)"},
		{Name: "collections", About: "takes weeks on two cores (CIFAR-10, CIFAR-100 and Tiny-ImageNet, those whose files are there, five seeds)"},
	}
}

// modelRecipe is a recipe with a row per model.
func modelRecipe(r paper.Recipe, study func(scale string) (Study, error), show func(*evidence) *paper.Output) paper.Recipe {
	return paper.StudyRecipe(r, study, measurements, func(e *paper.Env, s Study, found *paper.Evidence[Row]) *paper.Output {
		out := show(&evidence{s, e, found})
		out.Runs = paper.RunRecords(found.Rows, Row.record)
		return out
	})
}

// leakRecipe is a recipe on what uploads reveal.
func leakRecipe(r paper.Recipe, study func(scale string) (Study, error), show func(*leaks) *paper.Output) paper.Recipe {
	return paper.StudyRecipe(r, study, leakMeasurements, func(e *paper.Env, s Study, found *paper.Evidence[Leak]) *paper.Output {
		out := show(&leaks{s, e, found})
		out.Runs = paper.RunRecords(found.Rows, Leak.record)
		return out
	})
}
