package judge

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// permuted returns losses in another order.
func permuted(x []float64, rng *rand.Rand) []float64 {
	out := make([]float64, len(x))
	for k, i := range rng.Perm(len(x)) {
		out[k] = x[i]
	}
	return out
}

// Losses in another order are doubted, of the model that has them, with one other model too; those of worse and better
// models are not.
func TestLossesInAnotherOrderAreDoubted(t *testing.T) {
	found, foundOfTwo := 0, 0
	for seed := range uint64(60) {
		s := drawTexts(seed, 240)
		kind := []quality{{}, {boost: -2}, {boost: 2}, {sharp: 0.3}, {sharp: 3}, {noise: 0.5}, {uniform: 0.5}, {blank: true}}[seed%8]
		e := s.evidence(s.losses(kind))
		if e.warnOrder(); len(e.Notes) > 0 {
			t.Errorf("seed %d, %+v: %q", seed, kind, e.Notes)
		}
		e = s.evidence(permuted(s.losses(kind), s.rng))
		e.warnOrder()
		said := strings.Join(e.Notes, "\n")
		if strings.HasPrefix(said, "unlearned: over ") && len(e.Notes) == 1 && e.doubtOf("unlearned") != "" {
			found++
		} else if said != "" {
			t.Errorf("seed %d: %q", seed, said)
		}
		e.Models, e.Notes = e.Models[:2], nil // the unlearned model and the original
		if e.warnOrder(); len(e.Notes) == 1 && strings.HasPrefix(e.Notes[0], "unlearned: over ") {
			foundOfTwo++
		}
	}
	if found < 57 || foundOfTwo < 45 {
		t.Errorf("doubted in %d of 60 folders, with one other model in %d", found, foundOfTwo)
	}
}

// Rows of the retained records alone may be in another order.
func TestRetainedRecordsInAnotherOrderAreDoubted(t *testing.T) {
	s := drawTexts(3, 300)
	losses := s.losses(quality{})
	copy(losses, permuted(losses[:150], s.rng))
	e := s.evidence(losses)
	if e.warnOrder(); len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "over 150 retained records") {
		t.Errorf("%q", e.Notes)
	}
}

// Rows of the forgotten records alone may be in another order in one of three retrained models: the others show it. Those of
// an unlearned model, which may differ there as much as it likes, are not looked at.
func TestForgottenRecordsInAnotherOrderAreDoubtedOfRetrainedModels(t *testing.T) {
	s := drawTexts(6, 300)
	e := s.evidence(s.losses(quality{}))
	e.Models = append(e.Models, &Model{Name: "retrained-3", Role: Retrained, Losses: s.losses(quality{})})
	e.Forget, e.Retain = e.Retain[:80], e.Retain[80:]
	scramble := func(m *Model) {
		for k, l := range permuted(m.Losses[:80], s.rng) {
			m.Losses[k] = l
		}
	}
	scramble(e.Models[0])
	if e.warnOrder(); e.Models[0].Role != Unlearned || len(e.Notes) > 0 {
		t.Errorf("the unlearned model: %q", e.Notes)
	}
	scramble(e.Models[len(e.Models)-1])
	if e.warnOrder(); len(e.Notes) != 1 || !strings.HasPrefix(e.Notes[0], "retrained-3: over 80 forgotten records") || e.doubtOf("unlearned") == "" {
		t.Errorf("a retrained model: %q", e.Notes)
	}
}

// Losses with the other sign are not said to be in another order.
func TestLossesThatRiseWhereOthersFallAreDoubted(t *testing.T) {
	s := drawTexts(4, 300)
	losses := s.losses(quality{})
	for k := range losses {
		losses[k] = 20 - losses[k]
	}
	e := s.evidence(losses)
	if e.warnOrder(); len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "are they losses, or log-probabilities?") || e.doubtOf("unlearned") == "" {
		t.Errorf("%q", e.Notes)
	}
}

// While a doubt stands no answer clears a model, in any form of the report; a memory that is seen stays.
func TestADoubtWithholdsAnAnswerWithoutAMemory(t *testing.T) {
	m := newFixture(61, 60, 120, 120)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	if r := audited(t, dir); r.Answer("unlearned") != NoMemory || r.Headline("unlearned").Doubt != "" {
		t.Fatalf("in order: %s", r.Headline("unlearned"))
	}
	path := filepath.Join(dir, "unlearned", "outputs.npy")
	x, err := npy.ReadMatrix(path)
	must(t, err)
	must(t, npy.Write(path, x.Gather(m.rng.Perm(x.Rows))))
	r := audited(t, dir)
	h := r.Headline("unlearned")
	if h.Answer != Doubtful || h.Answer.Tells() || h.Answer.Accuses() || !strings.Contains(h.String(), "its losses go along with no other model's") {
		t.Errorf("%s", h)
	}
	model := r.Evidence.ModelsOf(Unlearned)[0]
	if text := r.headline(model); !strings.Contains(text, "cannot tell") || !strings.Contains(text, "Why: its losses") {
		t.Errorf("%q", text)
	}
	m.write(t, dir, m.all, 0)
	e, err := Open(dir)
	must(t, err)
	e.doubt(e.Models[0], "it is odd")
	r, err = e.Report(t.Context())
	must(t, err)
	if a := r.Answer("unlearned"); !a.Memory() {
		t.Error(a)
	}
}

// Rows of several models may be in one other order: whichever they are, and though only a model that the unlearned one is
// compared with is doubted, nothing is cleared.
func TestModelsInOneOtherOrderAreDoubted(t *testing.T) {
	for _, c := range []struct{ moved, gone []string }{
		{moved: []string{"unlearned", "original"}}, {moved: []string{"unlearned", "retrained"}}, {moved: []string{"retrained", "retrained-2"}},
		{moved: []string{"unlearned", "original"}, gone: []string{"retrained-2"}}, {moved: []string{"retrained"}, gone: []string{"retrained-2"}},
	} {
		m := newFixture(63, 60, 120, 120)
		dir := t.TempDir()
		m.write(t, dir, m.retained, 0)
		order := m.rng.Perm(len(m.y))
		for _, name := range c.moved {
			for _, file := range []string{"outputs.npy", "embedding.npy"} {
				path := filepath.Join(dir, name, file)
				x, err := npy.ReadMatrix(path)
				must(t, err)
				must(t, npy.Write(path, x.Gather(order)))
			}
		}
		for _, name := range c.gone {
			must(t, os.RemoveAll(filepath.Join(dir, name)))
		}
		h := audited(t, dir).Headline("unlearned")
		if h.Answer.Tells() && !h.Answer.Accuses() || h.Doubt == "" && !h.Answer.Accuses() {
			t.Errorf("%v in another order: %s", c.moved, h)
		}
	}
}

// Of losses alone: two of four models in one other order are noted, and a doubt about one that the unlearned model is compared
// with is one about the answer; a reference model's is not.
func TestADoubtAboutWhatAModelIsComparedWithIsOneAboutIt(t *testing.T) {
	s := drawTexts(5, 300)
	e := s.evidence(s.losses(quality{}))
	order := s.rng.Perm(e.Records)
	for _, m := range e.Models[:2] {
		moved := make([]float64, e.Records)
		for k, i := range order {
			moved[k] = m.Losses[i]
		}
		m.Losses = moved
	}
	e.warnOrder()
	if said := strings.Join(e.Notes, "\n"); len(e.Notes) != 4 || !strings.Contains(said, "unlearned: over 300 retained and held-out records its losses go along with those of some models") {
		t.Errorf("two models in one other order: %q", e.Notes)
	}
	for role, doubted := range map[audit.Role]bool{Original: true, Retrained: true, audit.Reference: false, Shadow: false} {
		e := s.evidence(s.losses(quality{}))
		other := &Model{Name: "other", Role: role}
		e.Models = append(e.Models, other)
		e.doubt(other, "it is odd")
		if got := e.doubtOf("unlearned"); (got != "") != doubted || doubted && !strings.HasPrefix(got, "other: it is odd") {
			t.Errorf("a doubt about the %s: %q", role, got)
		}
	}
}

// layered writes models whose outputs are a linear function of their embeddings.
func layered(t *testing.T, dir string, probabilities bool) *fixture {
	t.Helper()
	m := newFixture(5, 60, 120, 120)
	m.write(t, dir, m.retained, 0)
	for _, name := range []string{"unlearned", "original", "retrained", "retrained-2"} {
		x, err := npy.ReadMatrix(filepath.Join(dir, name, "embedding.npy"))
		must(t, err)
		z, w := array.New[float64](x.Rows, fixtureClasses), array.Normal(m.rng, fixtureWidth, fixtureClasses, 0.2)
		for i := range z.Rows {
			sum := 0.0
			for c := range fixtureClasses {
				z.Row(i)[c] = 2*x.Row(i)[c] + float64(c)/3
				for j, v := range x.Row(i) {
					z.Row(i)[c] += v * w.Row(j)[c]
				}
				sum += math.Exp(z.Row(i)[c])
			}
			for c := range fixtureClasses {
				if probabilities {
					z.Row(i)[c] = math.Exp(z.Row(i)[c]) / sum
				}
			}
		}
		must(t, npy.Write(filepath.Join(dir, name, "outputs.npy"), z))
	}
	return m
}

// An embedding in another order, or of another model, does not give the outputs, in logits and in probabilities.
func TestAnEmbeddingOfOtherRowsIsDoubted(t *testing.T) {
	for _, probabilities := range []bool{false, true} {
		dir := t.TempDir()
		m := layered(t, dir, probabilities)
		notes := func() string {
			e, err := Open(dir)
			must(t, err)
			if (len(e.doubts["unlearned"]) > 0) != (len(e.Notes) > 0) {
				t.Errorf("notes %q, doubts %q", e.Notes, e.doubts)
			}
			return strings.Join(e.Notes, "\n")
		}
		if said := notes(); said != "" {
			t.Errorf("in order: %q", said)
		}
		path := filepath.Join(dir, "unlearned", "embedding.npy")
		x, err := npy.ReadMatrix(path)
		must(t, err)
		must(t, npy.Write(path, x.Gather(m.rng.Perm(x.Rows))))
		const want = "unlearned/embedding.npy: no linear function of it gives unlearned's outputs"
		if said := notes(); !strings.HasPrefix(said, want) || strings.Contains(said, "\n") {
			t.Errorf("permuted: %q", said)
		}
		other, err := npy.ReadMatrix(filepath.Join(dir, "retrained", "embedding.npy"))
		must(t, err)
		for k := range other.Data { // another model of the same records
			other.Data[k] += 0.5 * m.rng.NormFloat64()
		}
		must(t, npy.Write(path, other))
		if said := notes(); !strings.HasPrefix(said, want) {
			t.Errorf("of another model: %q", said)
		}
	}
}

// Logarithms of probabilities to the bases 2 and 10 are refused, and natural ones are logits.
func TestOutputsOfAnotherBaseAreRefused(t *testing.T) {
	dir := t.TempDir()
	layered(t, dir, true)
	path := filepath.Join(dir, "unlearned", "outputs.npy")
	p, err := npy.ReadMatrix(path)
	must(t, err)
	for want, by := range map[string]float64{"": 1, "x * numpy.log(2)": math.Ln2, "x * numpy.log(10)": math.Ln10} {
		x := array.New[float64](p.Rows, p.Cols)
		for k, v := range p.Data {
			x.Data[k] = math.Log(v) / by
		}
		must(t, npy.Write(path, x))
		said := ""
		if _, err := Open(dir); err != nil {
			said = err.Error()
		}
		if (want == "") != (said == "") || !strings.Contains(said, want) || want != "" && !strings.Contains(said, "unlearned/outputs.npy: logarithms of prob") {
			t.Errorf("%q: %q", want, said)
		}
	}
}

// Outputs with many more columns than classes are noted, where no class can be missing by chance.
func TestOutputsWithTooManyColumnsAreNoted(t *testing.T) {
	for columns, want := range map[int]bool{4: false, 5: false, 7: false, 8: true, 48: true} {
		e := &Evidence{}
		e.Records, e.Classes, e.Models = 300, columns, []*Model{{Name: "unlearned", Role: Unlearned, Outputs: &stack{}}}
		for i := range e.Records {
			e.Labels = append(e.Labels, i%4)
		}
		if e.warnColumns(); (len(e.Notes) == 1) != want {
			t.Errorf("%d columns: %q", columns, e.Notes)
		}
	}
}

// Masks of other shadow models, of most of them or of all, and the other way round, are noted; true ones, and those of
// models in which training does not show, are not.
func TestMasksOfOtherShadowModelsAreNoted(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 8))
	draw := func(models int, gap float64) (scores [][]float64, in [][]bool) {
		hard := make([]float64, 300)
		for i := range hard {
			hard[i] = 2 * rng.NormFloat64()
		}
		for range models {
			s, mask := make([]float64, len(hard)), make([]bool, len(hard))
			for i, h := range hard {
				s[i] = h + 0.5*rng.NormFloat64()
				if mask[i] = rng.IntN(2) == 0; mask[i] {
					s[i] += gap
				}
			}
			scores, in = append(scores, s), append(in, mask)
		}
		return scores, in
	}
	for _, models := range []int{4, 16} {
		for range 20 {
			scores, in := draw(models, 0.5)
			turned := append(append([][]bool{}, in[1:]...), in[0])
			most := append(append(append([][]bool{}, in[1:3*models/4]...), in[0]), in[3*models/4:]...)
			inverted := make([][]bool, models)
			for k, mask := range in {
				for _, v := range mask {
					inverted[k] = append(inverted[k], !v)
				}
			}
			for name, c := range map[string]struct {
				in   [][]bool
				want string
			}{"true": {in, ""}, "of the next": {turned, "the shadow models fit"}, "inverted": {inverted, "the shadow models fit"}, "most": {most, "shadow models fit"}} {
				if got := MembershipDoubt(scores, c.in); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
					t.Errorf("%d models, %s: %q", models, name, got)
				}
			}
		}
	}
	if scores, in := draw(2, 0); MembershipDoubt(scores, in) != "" {
		t.Error("of two models")
	}
}

// In a folder the masks are doubted where training shows elsewhere.
func TestMasksOfOtherShadowModelsAreNotedInAFolder(t *testing.T) {
	m := newFixture(5, 60, 120, 120)
	dir := t.TempDir()
	m.write(t, dir, m.all, 6)
	e, err := Open(dir)
	must(t, err)
	noted := func() bool {
		e.Notes = nil
		e.warnShadows()
		return strings.Contains(strings.Join(e.Notes, "\n"), "in.npy: the shadow models fit")
	}
	if noted() {
		t.Errorf("%q", e.Notes)
	}
	shadows := e.ModelsOf(Shadow)
	first := shadows[0].In
	for k, s := range shadows[1:] {
		shadows[k].In = s.In
	}
	shadows[len(shadows)-1].In = first
	if !noted() {
		t.Errorf("%q", e.Notes)
	}
	e.Models = shadows
	if noted() {
		t.Errorf("training shows nowhere: %q", e.Notes)
	}
}
