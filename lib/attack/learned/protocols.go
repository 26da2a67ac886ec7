package learned

// PA trains on the original model and also scores what it was trained on: "NB03", behind the rows
// of Fisher scrubbing, for both kinds of forget sets.
func PA() Protocol {
	return Protocol{
		Name: "P-A", About: "the original's attacker, transferred; 80 % of the cells known, all scored",
		Features: "70, neighbours among the first 5,000 retained cells", Attacker: MLP{}, Transferred: true, Share: 0.8, FirstRetained: 5000,
	}
}

// PAKept is PA as in "NB05" and "NB09", behind the paper's rows of Fisher scrubbing: the retained
// cells for the last feature keep the codes of the original, while the cells under attack have
// those of the scrubbed model.
func PAKept() Protocol {
	p := PA()
	p.Name, p.About, p.OriginalCodes = "P-A, kept codes", p.About+"; distances to codes of the original", true
	return p
}

// PB is PA with another reference sample for the last feature: "eval_multiseed", behind the rows of
// fine-tuning, ascent, SSD, SCRUB, contrastive, extra-gradient and DP-SGD.
func PB() Protocol {
	p := PA()
	p.Name, p.Features, p.FirstRetained = "P-B", "70, neighbours among 5,000 retained cells drawn by RandomState(42)", 0
	return p
}

// PC trains on every model separately, on all cells that it scores: "NB04", behind the rows of
// frozen critics.
func PC() Protocol {
	return Protocol{
		Name: "P-C", About: "an attacker per model, known and scored on all cells",
		Features: "69", WithoutDistance: true, Attacker: MLP{Batch: 32, Epochs: 100},
	}
}

// PD holds out 30 % of either role and has no spectral norm: "NB16/17", whose AUC of 1.000 for two
// methods is in no table of the paper.
func PD() Protocol {
	return Protocol{
		Name: "P-D", About: "an attacker per model without spectral norm, scored on held-out cells",
		Features: "69 of posterior means, decoded without library size", WithoutDistance: true,
		Attacker: MLP{Hidden: []int{64, 32}, Plain: true, Decay: 1e-4, Batch: 32, Epochs: 100},
		Share:    0.7, Stratified: true, HeldOut: true,
	}
}

// PE trains on every model separately and also scores what it was trained on: "NB19", with seeds 0
// to 4.
func PE() Protocol {
	return Protocol{
		Name: "P-E", About: "an attacker per model; 80 % of either role known, all scored",
		Features: "70", Attacker: MLP{}, Share: 0.8, Stratified: true,
	}
}

// PF takes 200 steps on all cells that it scores: "NB30", for the conditional autoencoder.
func PF() Protocol {
	return Protocol{
		Name: "P-F", About: "an attacker per model, 200 steps on all cells, which it scores",
		Features: "69", WithoutDistance: true, Attacker: MLP{Batch: WholeBatch, Epochs: 200},
	}
}

// CrossFitted is our protocol: an attacker of the model under attack, on standardised features,
// with five folds. Every cell is scored by an attacker that was not trained on it nor, for matched
// cells, on the other half of its pair (Target.NearestMember). There are fewer folds if non-members
// are matched to fewer than five members. nil stands for Logistic.
func CrossFitted(a Attacker) Protocol {
	if a == nil {
		a = Logistic{}
	}
	return Protocol{
		Name: "cross-fitted-" + a.Name(), About: "an attacker per model on standardised features, five folds, scored on held-out cells",
		Features: "any", Attacker: a, Standardised: true, Folds: 5, HeldOut: true,
	}
}

// WithinGroups is CrossFitted with logistic regression on features minus the mean of the record's
// group, for instance its type of cell. It finds differences between members and non-members of the
// same group. A group with one role only teaches it nothing; if every group is like that, the AUC
// is exactly 0.5.
//
// The program of "Fishing for Privacy" has a correction of that name, which is in no table. It fits
// a logistic regression on the attacker's score and the groups, and scores by the first term alone.
// That is the score times one number: the AUC is that of the score, or 1 minus it, whatever the
// groups.
func WithinGroups() Protocol {
	p := CrossFitted(Logistic{})
	p.Name, p.Residual = "within-groups", true
	p.About = "logistic regression per model on features less their group's mean, five folds, scored on held-out cells"
	return p
}

// Protocols returns the paper's six protocols, PA in both forms, and ours with every attacker.
func Protocols() []Protocol {
	out := []Protocol{PA(), PAKept(), PB(), PC(), PD(), PE(), PF()}
	for _, a := range Attackers() {
		out = append(out, CrossFitted(a))
	}
	return append(out, WithinGroups())
}
