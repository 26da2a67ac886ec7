// The attacks without training, columns of Table 4, on members and matched non-members.

package fishing

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
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

// membersAndNonmembers are a model's outputs on members, followed by those on matched non-members,
// and which are members.
func (v splitOutputs) membersAndNonmembers(negatives []int, bare bool) (generative.View, []bool) {
	in, out := v.forget, v.unseen.gather(negatives)
	recon, member := attack.Samples{Members: in.recon, Nonmembers: out.recon}.Joined()
	if bare {
		recon = slices.Concat(in.bare, out.bare)
	}
	codes := array.Matrix[float32]{Rows: len(member), Cols: in.mean.Cols, Data: slices.Concat(in.mean.Data, out.mean.Data)}
	return generative.View{Recon: recon, KL: slices.Concat(in.divergence, out.divergence), Codes: codes}, member
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
			model, member := v.membersAndNonmembers(negatives, bare)
			other, _ := reference.membersAndNonmembers(negatives, bare)
			r, err := attack.Run(a, generative.Evidence{Model: model, Member: member, Reference: &other, Retained: v.retain.mean}, member)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out[name] = r
		}
	}
	return out, nil
}
