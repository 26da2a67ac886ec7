// Package fishing makes the tables and figures of "Fishing for Privacy" again: a
// variational autoencoder of single cells is to forget a rare type of cell, and
// attackers ask whether it has.
package fishing

import "github.com/lethe-ml/lethe/lib/paper"

// Results is the version of the numbers of the tables that attackers have a part in. 2: what is counted
// among the cells that are open to matching. 3: of folds with few strangers and folds with
// many, an attacker without a mistake has an AUC of 1. 4: rows know their steps and what
// private training spent, that of a retrained model what the attacker says of nobody's cells.
const Results = 4

// Paper lists the tables and figures to the command line.
func Paper() paper.Paper {
	return paper.Paper{
		Name: "fishing", Title: "Fishing for Privacy",
		Scales: scales(),
		Recipes: []paper.Recipe{
			ofModels(table1, described, (*evidence).table1), ofModels(table2, StudyAt, (*evidence).table2), ofModels(table3, byForgetSet, (*evidence).table3),
			ofModels(table4, StudyAt, (*evidence).table4), ofModels(table5, acrossAt, (*evidence).table5), ofModels(table6, StudyAt, (*evidence).table6),
			ofOverlaps(table7, (*overlaps).table7), ofModels(table8, StudyAt, (*evidence).table8), ofModels(table9, bySize, (*evidence).table9),
			ofModels(steps, bySteps, (*evidence).steps),
			ofFleets(within), ofModels(weights, byWeight, (*evidence).weights), ofModels(protocols, byProtocol, (*evidence).protocols),
			ofOverlaps(proposition1, (*overlaps).proposition1), ofOverlaps(largest, (*overlaps).largest),
			ofModels(grids, byGrid, (*evidence).grids), ofModels(scatteredSizes, byScattered, (*evidence).scatteredSizes),
			ofModels(conditional, byConditional, (*evidence).conditional), ofMixture(mixture), ofModels(mouseSweep, byLambda, (*evidence).mouseSweep),
			ofModels(figure1, StudyAt, (*evidence).figure1), ofModels(figure2, StudyAt, (*evidence).figure2), ofOverlaps(figure3, (*overlaps).figure3),
		},
	}
}

// scales are how much of the paper's grid there is to choose from.
func scales() []paper.Scale {
	return []paper.Scale{
		{Name: "quick", About: "takes a few minutes on two cores and no file (2,000 simulated cells, a small network, three seeds)"},
		{Name: "hour", About: "takes about an hour (PBMC-3k, its dendritic cells, the paper's network for 40 epochs, three seeds)"},
		{Name: "standard", About: "an evening on two cores (the same cells, in Table 5 its platelets too, 100 epochs, five seeds)"},
		{Name: "atlas", About: "takes two hours on two cores for Table 2, and no file (as many simulated cells and genes as the paper has, " +
			"its network and epochs, one seed, without critics, games and private training)"},
		{Name: "paper", About: "takes weeks on two cores (PBMC-33k and Tabula Muris, those whose files are there, five seeds)"},
	}
}

// ofModels is a recipe whose rows are those of models in a study.
func ofModels(r paper.Recipe, study func(scale string) (Study, error), show func(*evidence) *paper.Output) paper.Recipe {
	return paper.OfStudy(r, study, pieces, func(e *paper.Env, s Study, found *paper.Evidence[Row]) *paper.Output {
		out := show(&evidence{s, e, found})
		out.Runs = paper.Runs(found.Rows, Row.given)
		return out
	})
}

// ofOverlaps is a recipe about the Fisher information of a study's models.
func ofOverlaps(r paper.Recipe, show func(*overlaps) *paper.Output) paper.Recipe {
	return paper.OfStudy(r, StudyAt, overlapPieces, func(e *paper.Env, s Study, found *paper.Evidence[Overlap]) *paper.Output {
		out := show(&overlaps{s, e, found})
		out.Runs = paper.Runs(found.Rows, func(o Overlap) any { return o.given(r.Kind() == paper.Figure) })
		return out
	})
}

// ofFleets is the recipe about fleets of models.
func ofFleets(r paper.Recipe) paper.Recipe {
	r = paper.OfStudy(r, FleetStudyAt, fleetPieces, func(e *paper.Env, s FleetStudy, found *paper.Evidence[Found]) *paper.Output {
		return (&fleets{s, e, found}).table()
	})
	r.Again = nil // what is given of each model does not hold the rates over all of them
	return r
}
