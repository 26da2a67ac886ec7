package sdepaper

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// logits are sure of the labels of the given rows and of nothing else.
func logits(y []int, classes int, sure []int) array.Matrix[float32] {
	z := array.New[float32](len(y), classes)
	for _, i := range sure {
		z.Row(i)[y[i]] = 9
	}
	return z
}

// Who is a known member, who a known stranger, who is judged and what the judged
// are read against: an exchange of any two gives another answer here.
func TestTheAttackOfTableFourJudgesTheForgottenImages(t *testing.T) {
	p := opened(t, environment(t))
	forget, retain, err := p.divide(0.3)
	if err != nil {
		t.Fatal(err)
	}
	everybody := append(append([]int{}, forget...), retain...)
	strangers := logits(p.Test.Y, p.Classes(), nil)
	for name, c := range map[string]struct {
		sureOf []int
		want   float64
	}{
		"an original": {everybody, 1},
		"an oracle":   {retain, 0},
	} {
		var u Unlearned
		if err := u.attack(p, logits(p.Train.Y, p.Classes(), c.sureOf), strangers, forget, retain); err != nil {
			t.Fatal(err)
		}
		if u.ASR.Value != c.want || u.ASR.N != len(forget) || u.HeldOut.Value != 0 || u.HeldOut.N != len(p.Test.Y)-len(p.Test.Y)/2 {
			t.Errorf("%s: %+v of the forgotten and %+v of the held-out images pass for members, expected %v and 0", name, u.ASR, u.HeldOut, c.want)
		}
	}
	// Over-unlearned: the strangers are known by heart, the forgotten are not.
	var u Unlearned
	known := logits(p.Test.Y, p.Classes(), firstRows(len(p.Test.Y)))
	if err := u.attack(p, logits(p.Train.Y, p.Classes(), everybody), known, forget, retain); err != nil {
		t.Fatal(err)
	}
	if u.ASR.Value != u.HeldOut.Value {
		t.Errorf("images that look alike pass for members in %v and %v of the cases", u.ASR.Value, u.HeldOut.Value)
	}
}
