package learned

// PA trains on the original model, and scores what it was trained on too: "NB03",
// behind the rows of Fisher scrubbing, for both kinds of forget sets.
func PA() Protocol {
	return Protocol{
		Name: "P-A", About: "the original's attacker, transferred; 80 % of the cells known, all scored",
		Features: "70, neighbours among the first 5,000 retained cells", Attacker: MLP{}, Transferred: true, Share: 0.8, FirstRetained: 5000,
	}
}

// PAKept is PA as "NB05" and "NB09" have it, behind the paper's rows of Fisher scrubbing:
// the retained cells that the last feature is measured to keep the codes of the original,
// while the cells in question have those of the scrubbed model.
func PAKept() Protocol {
	p := PA()
	p.Name, p.About, p.OriginalCodes = "P-A, kept codes", p.About+"; distances to codes of the original", true
	return p
}

// PB is PA with another reference sample for the last feature: "eval_multiseed",
// behind the rows of fine-tuning, ascent, SSD, SCRUB, contrastive, extra-gradient
// and DP-SGD.
func PB() Protocol {
	p := PA()
	p.Name, p.Features, p.FirstRetained = "P-B", "70, neighbours among 5,000 retained cells drawn by RandomState(42)", 0
	return p
}

// PC trains anew on every model, on all cells that it scores: "NB04", behind the
// rows of frozen critics.
func PC() Protocol {
	return Protocol{
		Name: "P-C", About: "an attacker per model, known and scored on all cells",
		Features: "69", WithoutDistance: true, Attacker: MLP{Batch: 32, Epochs: 100},
	}
}

// PD holds 30 % of either role out and bounds no weight: "NB16/17", whose AUC of
// 1.000 for two methods is in no table of the paper.
func PD() Protocol {
	return Protocol{
		Name: "P-D", About: "an attacker per model without spectral norm, scored on held-out cells",
		Features: "69 of posterior means, decoded without library size", WithoutDistance: true,
		Attacker: MLP{Hidden: []int{64, 32}, Plain: true, Decay: 1e-4, Batch: 32, Epochs: 100},
		Share:    0.7, Stratified: true, HeldOut: true,
	}
}

// PE trains anew on every model and scores what it was trained on too: "NB19",
// with seeds 0 to 4.
func PE() Protocol {
	return Protocol{
		Name: "P-E", About: "an attacker per model; 80 % of either role known, all scored",
		Features: "70", Attacker: MLP{}, Share: 0.8, Stratified: true,
	}
}

// PF takes 200 steps on all cells that it scores: "NB30", for the conditional
// autoencoder.
func PF() Protocol {
	return Protocol{
		Name: "P-F", About: "an attacker per model, 200 steps on all cells, which it scores",
		Features: "69", WithoutDistance: true, Attacker: MLP{Batch: WholeBatch, Epochs: 200},
	}
}

// CrossFitted is ours: an attacker of the model under attack on standardised
// features, five folds, every cell scored by one that has not seen it, nor, of matched
// cells, the other half of a pair (Question.NearestMember); there are fewer folds where strangers
// lie beside fewer than five members. nil stands for Logistic.
func CrossFitted(a Attacker) Protocol {
	if a == nil {
		a = Logistic{}
	}
	return Protocol{
		Name: "cross-fitted-" + a.Name(), About: "an attacker per model on standardised features, five folds, scored on held-out cells",
		Features: "any", Attacker: a, Standardised: true, Folds: 5, HeldOut: true,
	}
}

// WithinGroups is CrossFitted with logistic regression on features less the mean of the
// group that a record is of, its type of cell for instance. It finds what tells members
// from non-members of the same group. From a group that is all one role it learns nothing;
// where every group is, the AUC is 0.5 exactly.
//
// The program of "Fishing for Privacy" has a correction of that name too, in no table: it
// fits a logistic regression on the attacker's score and the groups and scores by the
// first term alone. That is one number times the score: the AUC is that of the score, or
// 1 less it, whatever the groups.
func WithinGroups() Protocol {
	p := CrossFitted(Logistic{})
	p.Name, p.Residual = "within-groups", true
	p.About = "logistic regression per model on features less their group's mean, five folds, scored on held-out cells"
	return p
}

// Protocols returns the paper's six, PA in both of its forms, and ours with every attacker.
func Protocols() []Protocol {
	out := []Protocol{PA(), PAKept(), PB(), PC(), PD(), PE(), PF()}
	for _, a := range Attackers() {
		out = append(out, CrossFitted(a))
	}
	return append(out, WithinGroups())
}
