// Package fishing reproduces the tables and figures of "Fishing for Privacy": a variational
// autoencoder of single cells unlearns a rare cell type, and attackers test whether it has
// forgotten.
package fishing

import "github.com/lethe-ml/lethe/lib/paper"

// Results is the version of the numbers of the tables with attackers. 2: the composition of the
// cells that can be matched is recorded. 3: an attacker without errors has AUC 1 in folds of any
// size. 4: rows have their steps and the privacy spent; a retrained model's row has the
// attacker's null.
const Results = 4

// Paper is the list of tables and figures, for the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: "fishing", Title: "Fishing for Privacy",
		Scales: scales(),
		Recipes: []paper.Recipe{
			modelRecipe(table1, table1Study, (*evidence).table1), modelRecipe(table2, StudyAt, (*evidence).table2),
			modelRecipe(table3, byForgetSet, (*evidence).table3),
			modelRecipe(table4, StudyAt, (*evidence).table4), modelRecipe(table5, acrossStudy, (*evidence).table5),
			modelRecipe(table6, StudyAt, (*evidence).table6),
			overlapRecipe(table7, (*overlaps).table7), modelRecipe(table8, StudyAt, (*evidence).table8), modelRecipe(table9, bySize, (*evidence).table9),
			modelRecipe(steps, bySteps, (*evidence).steps),
			shadowRecipe(within), modelRecipe(weights, byWeight, (*evidence).weights), modelRecipe(protocols, byProtocol, (*evidence).protocols),
			overlapRecipe(proposition1, (*overlaps).proposition1), overlapRecipe(largest, (*overlaps).largest),
			modelRecipe(grids, byGrid, (*evidence).grids), modelRecipe(scatteredSizes, byScattered, (*evidence).scatteredSizes),
			modelRecipe(conditional, byConditional, (*evidence).conditional), mixtureRecipe(mixture), modelRecipe(mouseSweep, byLambda, (*evidence).mouseSweep),
			modelRecipe(figure1, StudyAt, (*evidence).figure1), modelRecipe(figure2, StudyAt, (*evidence).figure2), overlapRecipe(figure3, (*overlaps).figure3),
		},
	}
}

// scales are the scales of the recipes.
func scales() []paper.Scale {
	return []paper.Scale{
		{Name: "quick", About: "takes minutes on two cores and no file (2,000 simulated cells, a small network, three seeds)"},
		{Name: "hour", About: "takes about an hour on two cores (PBMC-3k, its dendritic cells, the paper's network for 40 epochs, three seeds)"},
		{Name: "standard", About: "takes an evening on two cores (the same cells, in Table 5 its platelets too, 100 epochs, five seeds)"},
		{Name: "atlas", About: "takes hours on two cores for Table 2, and no file (as many simulated cells and genes as the paper has, " +
			"its network and epochs, one seed, without critics, games and private training)"},
		{Name: "paper", About: "takes weeks on two cores (PBMC-33k and Tabula Muris, those whose files are there, five seeds)"},
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

// overlapRecipe is a recipe on the Fisher information of a study's models.
func overlapRecipe(r paper.Recipe, show func(*overlaps) *paper.Output) paper.Recipe {
	return paper.StudyRecipe(r, StudyAt, overlapPieces, func(e *paper.Env, s Study, found *paper.Evidence[Overlap]) *paper.Output {
		out := show(&overlaps{s, e, found})
		out.Runs = paper.RunRecords(found.Rows, func(o Overlap) any { return o.record(r.Kind() == paper.Figure) })
		return out
	})
}

// shadowRecipe is the recipe with shadow models.
func shadowRecipe(r paper.Recipe) paper.Recipe {
	r = paper.StudyRecipe(r, ShadowStudyAt, shadowMeasurements, func(e *paper.Env, s ShadowStudy, found *paper.Evidence[AttackResult]) *paper.Output {
		return (&shadowEvidence{s, e, found}).table()
	})
	r.FromRuns = nil // the published rows of the models do not contain the rates over all of them
	return r
}
