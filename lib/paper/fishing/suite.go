package fishing

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
)

// coded marks an attack that decodes without library size.
const coded = ", coded"

// suiteAttacks are the columns of Table 4: the attacks without training; those on the
// reconstruction also as coded.
func suiteAttacks() []string {
	var out []string
	for _, a := range generative.All() {
		out = append(out, a.Name())
		if hasBareForm(a) {
			out = append(out, a.Name()+coded)
		}
	}
	return out
}

// hasBareForm reports whether an attack has a form without library size.
func hasBareForm(a generative.Attack) bool {
	switch a.(type) {
	case generative.Recon, generative.ELBO:
		return true
	}
	return false
}

// membersAndNonmembers are a model's outputs on members and matched non-members.
func (v splitOutputs) membersAndNonmembers(negatives []int, bare bool) generative.Views {
	of := func(s cellOutputs) generative.View {
		recon := s.recon
		if bare {
			recon = s.bare
		}
		return generative.View{Recon: recon, KL: s.divergence, Codes: s.mean}
	}
	return generative.Views{Members: of(v.forget), Nonmembers: of(v.unseen.gather(negatives))}
}

// runSuite runs every attack without training. The reference of the likelihood ratio is an
// independently retrained model.
func runSuite(v, reference splitOutputs, negatives []int) (map[string]*attack.ScoreReport, error) {
	out := map[string]*attack.ScoreReport{}
	for _, a := range generative.All() {
		for _, bare := range []bool{false, true} {
			name := a.Name()
			if bare && !hasBareForm(a) {
				continue
			}
			if bare {
				name += coded
			}
			other := reference.membersAndNonmembers(negatives, bare)
			r, err := generative.Run(a, generative.Evidence{Model: v.membersAndNonmembers(negatives, bare), Reference: &other, Retained: v.retain.mean})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name] = r
		}
	}
	return out, nil
}
