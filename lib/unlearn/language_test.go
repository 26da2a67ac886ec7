// Methods for language models that predict the next token.

package unlearn_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

// textCase is a method at a rate for a small model, and what it minimises: weight times the mean of
// forget over the forget set, plus the mean of retain over the retain set. The objectives are
// written anew from the papers' formulas, in float64, dropout off; nil: not compared.
type textCase struct {
	m              unlearn.Method
	forget, retain func(v tokenView) float64
	weight         float64
}

var onTexts = map[string]textCase{
	"grad-diff": {unlearn.GradDiff{TextFit: fast}, func(v tokenView) float64 { return v.mean(v.logP) }, ownRetain, 1},
	"npo": {unlearn.NPO{Beta: 0.3, TextFit: fast}, func(v tokenView) float64 {
		return 2 / 0.3 * math.Log1p(math.Exp(0.3*(v.sum(v.logP)-v.sum(v.before))))
	}, ownRetain, 1},
	"simnpo": {unlearn.SimNPO{Delta: 0.5, TextFit: fast}, func(v tokenView) float64 {
		return 2 / 4.5 * math.Log1p(math.Exp(4.5*(v.mean(v.logP)+0.5)))
	}, ownRetain, 0.125},
	"wga":             {unlearn.WGA{TextFit: fast}, func(v tokenView) float64 { return v.mean(v.probability) }, ownRetain, 1},
	"satimp":          {unlearn.SatImp{TextFit: fast}, func(v tokenView) float64 { return v.mean(v.satImp) }, ownRetain, 0.1},
	"undial":          {unlearn.UNDIAL{LR: 5e-3, Epochs: 40, Retain: 1}, func(v tokenView) float64 { return v.mean(v.adjusted) }, ownRetain, 1},
	"rmu":             {unlearn.RMU{TextFit: fast}, nil, nil, 0},
	"refusal-tuning":  {unlearn.RefusalTuning{TextFit: fast}, nil, nil, 0},
	"idk-dpo":         {unlearn.IdkDPO{TextFit: fast}, nil, nil, 0},
	"grad-diff-tuned": {unlearn.TextTuned[unlearn.GradDiff]{Of: unlearn.GradDiff{TextFit: unlearn.TextFit{Epochs: 4}}, Rates: []float64{5e-3, 2e-2}}, nil, nil, 0},
	"task-vector":     {unlearn.TaskVector{LR: 5e-3}, ownRetain, nil, 1}, // what its training lowers
}

var fast = unlearn.TextFit{LR: 5e-3}

func (c textCase) objective(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
	out := c.weight * meanOver(t, y, p, y.Request.Forget, c.forget)
	if c.retain != nil {
		out += meanOver(t, y, p, y.Request.Retain, c.retain)
	}
	return out
}

func (c textCase) options() []unlearntest.Option {
	switch {
	case strings.HasSuffix(c.m.Info().Name, "-tuned"):
		return []unlearntest.Option{unlearntest.ChoosesByHeldOut()}
	case c.forget == nil:
		return nil
	case c.m.Info().Name == "task-vector":
		return []unlearntest.Option{unlearntest.LowersObjective(forgetGain)}
	}
	return []unlearntest.Option{unlearntest.LowersObjective(c.objective)}
}

// The loss of the first step, with dropout off, is the objective at the original's weights.
func TestMethodsForLanguageModelsMinimiseTheirFormulas(t *testing.T) {
	y := toyWithoutDropout(t)
	for name, c := range onTexts {
		if c.forget == nil {
			continue
		}
		_, rep, err := unlearn.Apply(t.Context(), c.m, y.Request)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := rep.History[0].Loss, c.objective(t, y, y.Request.Original); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
			t.Errorf("%s: the first loss is %v, by the formula %v", name, got, want)
		}
	}
}

func toyWithoutDropout(t testing.TB) *unlearntest.Toy {
	t.Helper()
	y := unlearntest.NewLanguageToy(t)
	arch := y.Request.Runner.Arch.(text.Decoder)
	arch.Dropout = new(0.0)
	var err error
	if y.Request.Runner, err = model.NewRunner(y.Request.Runner.Engine, arch); err != nil {
		t.Fatal(err)
	}
	return y
}

// tokenView is what two models say of a record's tokens: the one that is looked at and the original.
type tokenView struct {
	now, was [][]float64 // log probabilities of the vocabulary, token by token
	tokens   []int
}

func (v tokenView) logP(k int) float64        { return v.now[k][v.tokens[k]] }
func (v tokenView) before(k int) float64      { return v.was[k][v.tokens[k]] }
func (v tokenView) probability(k int) float64 { return math.Exp(v.logP(k)) }

// satImp is the integral of p^4 (1 - p).
func (v tokenView) satImp(k int) float64 {
	p := v.probability(k)
	return math.Pow(p, 5)/5 - math.Pow(p, 6)/6
}

// adjusted is the divergence from the original's probabilities, the true token's score lowered by 10.
func (v tokenView) adjusted(k int) float64 {
	var total, out float64
	weight := func(t int) float64 {
		z := v.was[k][t]
		if t == v.tokens[k] {
			z -= 10
		}
		return math.Exp(z)
	}
	for t := range v.was[k] {
		total += weight(t)
	}
	for t := range v.was[k] {
		p := weight(t) / total
		out += p * (math.Log(p) - v.now[k][t])
	}
	return out
}

func (v tokenView) sum(of func(k int) float64) (out float64) {
	for k := range v.tokens {
		out += of(k)
	}
	return out
}

func (v tokenView) mean(of func(k int) float64) float64 { return v.sum(of) / float64(len(v.tokens)) }

func ownRetain(v tokenView) float64 { return -v.mean(v.logP) }

func meanOver(t testing.TB, y *unlearntest.Toy, p nn.Params, d unlearn.Data, of func(v tokenView) float64) float64 {
	t.Helper()
	now, was := allLogProbs(t, y, p, d), allLogProbs(t, y, y.Request.Original, d)
	var total float64
	for i := range d.X.Rows {
		v := tokenView{now: now[i], was: was[i]}
		for _, at := range d.X.Row(i)[6:] {
			if at > 0 {
				v.tokens = append(v.tokens, int(d.X.Row(i)[int(at)]))
			}
		}
		total += of(v)
	}
	return total / float64(d.X.Rows)
}

// allLogProbs returns record by record and place by place the log probabilities of the vocabulary.
func allLogProbs(t testing.TB, y *unlearntest.Toy, p nn.Params, d unlearn.Data) [][][]float64 {
	t.Helper()
	pred, err := y.Request.Runner.PredictOutputs(p, d.X, loss.NextLogits)
	if err != nil {
		t.Fatal(err)
	}
	const vocabulary, places = 12, 4
	out := make([][][]float64, d.X.Rows)
	for i := range out {
		z := pred.Outputs[loss.NextLogits].Row(i)
		for k := range places {
			row, total := make([]float64, vocabulary), 0.0
			for v := range row {
				row[v] = float64(z[v*places+k])
				total += math.Exp(row[v])
			}
			for v := range row {
				row[v] -= math.Log(total)
			}
			out[i] = append(out[i], row)
		}
	}
	return out
}

func TestEveryMethodForLanguageModelsConforms(t *testing.T) {
	names := map[string]bool{}
	for _, m := range unlearn.LanguageModels() {
		name := m.Info().Name
		names[name] = true
		of, listed := onTexts[name]
		if !listed || of.m.Info().Name != name {
			t.Errorf("the table does not know %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) { unlearntest.RunLanguage(t, of.m, of.options()...) })
	}
	if len(names) != len(onTexts) {
		t.Error("the table knows more than the list")
	}
}

// The loss of the forget set rises by more than that of the retain set, which none of them may
// exchange, and which neither has a share in the other's term.
func TestMethodsForLanguageModelsForgetTheForgetSet(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	for name, c := range onTexts {
		p, _, err := unlearn.Apply(t.Context(), c.m, y.Request)
		if err != nil {
			t.Fatal(err)
		}
		rise := func(d unlearn.Data) float64 { return y.Loss(t, p, d) - y.Loss(t, y.Request.Original, d) }
		if forget, retain := rise(y.Request.Forget), rise(y.Request.Retain); c.forget != nil && !(forget > retain+0.05) {
			t.Errorf("%s: the loss of the forget set rose by %v, that of the retain set by %v", name, forget, retain)
		}
	}
}

// A pair of texts is wider than a record, which an augmenter does not know.
func TestIdkDPORefusesAugmentedTexts(t *testing.T) {
	r := unlearntest.NewLanguageToy(t).Request
	r.Augment = train.AugmentFunc(func(dst, src []float32, _, _ int) error { copy(dst, src); return nil })
	if _, _, err := unlearn.Apply(t.Context(), unlearn.IdkDPO{}, r); err == nil || !strings.Contains(err.Error(), "the request augments them") {
		t.Error(err)
	}
}

// The refusals become probable, and the true answers less so than retained ones.
func TestRefusalTuningTeachesTheRefusals(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	p, rep, err := unlearn.Apply(t.Context(), unlearn.RefusalTuning{TextFit: unlearn.TextFit{LR: 5e-3, Epochs: 60}}, y.Request)
	if err != nil {
		t.Fatal(err)
	}
	r := y.Request
	want := meanOver(t, y, r.Original, r.Refusals, ownRetain) + meanOver(t, y, r.Original, r.Retain, ownRetain)
	if got := rep.History[0].Loss; math.Abs(got-want) > 0.1*want { // with dropout
		t.Errorf("the first loss is %v, by the formula %v", got, want)
	}
	rise := func(d unlearn.Data) float64 { return y.Loss(t, p, d) - y.Loss(t, r.Original, d) }
	if refused, retain := rise(r.Refusals), rise(r.Retain); !(refused < -0.5 && retain < 0.2) {
		t.Errorf("the loss of refusals rose by %v, that of the retain set by %v", refused, retain)
	}
}

// The rate is the smallest of a list, and of the middles between the two rates at which the criterion is passed, of those that are
// as near as the nearest but for a standard error; the result is the method's at that rate. Where the held-out texts are the forgotten
// ones, nothing is to be forgotten.
func TestTheTunedRateMakesForgottenTextsAsProbableAsUnseenOnes(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	r := y.Request
	of := unlearn.GradDiff{TextFit: unlearn.TextFit{Epochs: 10}}
	gap := func(rate float64) float64 {
		p, _, err := unlearn.Apply(t.Context(), of.AtRate(rate), r)
		if err != nil {
			t.Fatal(err)
		}
		return y.Loss(t, p, r.Forget) - y.Loss(t, r.Original, r.HeldOut)
	}
	rates := []float64{4e-4, 1e-2, 5e-2}
	low, high := rates[0], rates[1]
	if gap(low) > 0 || gap(high) <= 0 {
		t.Fatalf("%v and %v are not on both sides", low, high)
	}
	tried := slices.Clone(rates)
	for range 5 {
		middle, err := strconv.ParseFloat(fmt.Sprintf("%.3g", math.Sqrt(low*high)), 64)
		if err != nil {
			t.Fatal(err)
		}
		if tried = append(tried, middle); gap(middle) < 0 {
			low = middle
		} else {
			high = middle
		}
	}
	tokens, err := text.Measure(r.Runner, r.Original, r.HeldOut.X)
	if err != nil {
		t.Fatal(err)
	}
	unseen := tokens.MeanLoss()
	within := stat.StdErr(stat.StdDev(unseen, nil), float64(len(unseen)))
	slices.SortFunc(tried, func(a, b float64) int { return cmp.Compare(math.Abs(gap(a)), math.Abs(gap(b))) })
	nearest := tried[0]
	tried = slices.DeleteFunc(tried, func(rate float64) bool { return math.Abs(gap(rate)) > math.Abs(gap(nearest))+within })
	best := slices.Min(tried)
	if slices.Contains(rates, best) || best == nearest {
		t.Fatalf("the rate is %v, the nearest %v: the case shows nothing", best, nearest)
	}
	p, rep, err := unlearn.Apply(t.Context(), unlearn.TextTuned[unlearn.GradDiff]{Of: of, Rates: rates, Halvings: 5}, r)
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := unlearn.Apply(t.Context(), of.AtRate(best), r)
	if err != nil || p.Hash() != want.Hash() || rep.Note != fmt.Sprintf("rate %g", best) {
		t.Errorf("the note is %q, the best rate %v (%v)", rep.Note, best, err)
	}
	r.HeldOut = r.Forget
	if _, rep, err := unlearn.Apply(t.Context(), unlearn.TextTuned[unlearn.GradDiff]{Of: of, Rates: rates}, r); err != nil || rep.Note != "rate 0.0004" {
		t.Errorf("with the forgotten texts held out: %v (%v)", rep, err)
	}
}

// RMU draws the activations of forgotten texts, and of no others, to one direction.
func TestRMUMisdirectsTheForgetSet(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	p, _, err := unlearn.Apply(t.Context(), unlearn.RMU{TextFit: unlearn.TextFit{LR: 5e-3, Epochs: 40}, Coefficient: 4}, y.Request)
	if err != nil {
		t.Fatal(err)
	}
	arch, width, err := y.Request.Runner.Arch.(text.Decoder).WithActivations(0)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := model.NewRunner(y.Request.Runner.Engine, arch)
	if err != nil {
		t.Fatal(err)
	}
	along := func(p nn.Params, d unlearn.Data) (out []float64) { // mean activations
		pred, err := runner.PredictOutputs(p, d.X, loss.TokenActivations)
		if err != nil {
			t.Fatal(err)
		}
		out = make([]float64, width)
		for i := range d.X.Rows {
			for c := range width {
				out[c] += float64(pred.Outputs[loss.TokenActivations].Row(i)[c*4]) / float64(d.X.Rows)
			}
		}
		return out
	}
	moved := func(d unlearn.Data) float64 {
		before, after, norm := along(y.Request.Original, d), along(p, d), 0.0
		for c := range before {
			norm = math.Hypot(norm, after[c]-before[c])
		}
		return norm
	}
	if forget, retain := moved(y.Request.Forget), moved(y.Request.Retain); !(forget > 2*retain) {
		t.Errorf("mean activations of the forget set moved by %v, those of the retain set by %v", forget, retain)
	}
	if _, _, err := unlearn.Apply(t.Context(), unlearn.RMU{TextFit: unlearn.TextFit{KL: true}}, y.Request); err == nil || !strings.Contains(err.Error(), "KL") {
		t.Errorf("with KL: %v", err)
	}
	if _, _, err := unlearn.Apply(t.Context(), unlearn.RMU{Layer: 3}, y.Request); err == nil || !strings.Contains(err.Error(), "layers 1 to 2") {
		t.Errorf("a layer too many: %v", err)
	}
}

// With KL the retain part keeps the original's probabilities, at a retain set whose own loss the
// method would lower otherwise.
func TestKLKeepsTheOriginalsProbabilities(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	apart := func(m unlearn.Method) float64 {
		p, _, err := unlearn.Apply(t.Context(), m, y.Request)
		if err != nil {
			t.Fatal(err)
		}
		return meanOver(t, y, p, y.Request.Retain, func(v tokenView) float64 {
			return v.mean(func(k int) (d float64) {
				for c, was := range v.was[k] {
					d += math.Exp(was) * (was - v.now[k][c])
				}
				return d
			})
		})
	}
	kl := fast
	kl.KL, kl.Retain = true, new(20.0)
	if with, without := apart(unlearn.GradDiff{TextFit: kl}), apart(unlearn.GradDiff{TextFit: fast}); !(with < 0.5*without) {
		t.Errorf("KL to the original on the retain set: %v with KL, %v without", with, without)
	}
}

// SCRUB and Bad Teacher distil a language model that predicts the next token too.
func TestNextTokensAreDistilled(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	for _, m := range []unlearn.Method{unlearn.SCRUB{LR: 5e-3}, unlearn.BadTeacher{LR: 5e-3, Epochs: 60}} {
		p, _, err := unlearn.Apply(t.Context(), m, y.Request)
		if err != nil {
			t.Fatal(err)
		}
		rise := func(d unlearn.Data) float64 { return y.Loss(t, p, d) - y.Loss(t, y.Request.Original, d) }
		if forget, retain := rise(y.Request.Forget), rise(y.Request.Retain); !(forget > retain+0.05) {
			t.Errorf("%s: the loss of the forget set rose by %v, that of the retain set by %v", m.Info().Name, forget, retain)
		}
	}
}

// An epoch goes once over the forget set, whatever the size of the retain set.
func TestAnEpochGoesOnceOverTheForgetSet(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	r := y.Request
	r.Batch = 3 // 8 forgotten texts, 40 retained
	_, rep, err := unlearn.Apply(t.Context(), unlearn.NPO{TextFit: unlearn.TextFit{Epochs: 4}}, r)
	if err != nil || rep.Steps != 4*3 {
		t.Errorf("%d steps (%v), want 4 epochs of 3", rep.Steps, err)
	}
}

// The task vector of a text: with Scale -1 it is training on the forget set, with 1 the mirror image.
func TestATaskVectorIsSubtracted(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	apply := func(scale float64) nn.Params {
		p, _, err := unlearn.Apply(t.Context(), unlearn.TaskVector{LR: 1e-3, Scale: scale}, y.Request)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	r := y.Request
	c := train.Config{Epochs: 5, Seed: r.Seed, Optimizer: nn.AdamW{LR: 1e-3, WeightDecay: 0.01}}
	trained, _, err := train.Fit(context.Background(), r.Runner, r.Original, y.Objective(t, r.Forget), c, train.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	added, subtracted := apply(-1), apply(1)
	for i, v := range r.Original {
		for k, w := range v.Data {
			if d := math.Abs(float64(trained[i].Data[k] - added[i].Data[k])); d > 1e-6 {
				t.Fatalf("%s, element %d: %v away from training", v.Name, k, d)
			}
			if d := math.Abs(float64(added[i].Data[k]+subtracted[i].Data[k]) - 2*float64(w)); d > 1e-6 {
				t.Fatalf("%s, element %d: no mirror image, by %v", v.Name, k, d)
			}
		}
	}
}

// The defaults are those of open-unlearning (commit d3d7cf9e, configs/trainer).
func TestDefaultsOfOpenUnlearning(t *testing.T) {
	var got []unlearn.TextFit
	simnpo, undial, satimp, wga := defaults.Fill(unlearn.SimNPO{}), defaults.Fill(unlearn.UNDIAL{}), defaults.Fill(unlearn.SatImp{}), defaults.Fill(unlearn.WGA{})
	got = append(got, defaults.Fill(unlearn.GradDiff{}).TextFit, defaults.Fill(unlearn.NPO{}).TextFit, simnpo.TextFit, wga.TextFit, satimp.TextFit,
		defaults.Fill(unlearn.RMU{}).TextFit)
	for i, want := range []struct {
		epochs             int
		lr, forget, retain float64
	}{{10, 1e-5, 1, 1}, {10, 1e-5, 1, 1}, {10, 1e-5, 0.125, 1}, {5, 1e-5, 1, 1}, {5, 1e-5, 0.1, 1}, {10, 1e-5, 1, 1}} {
		if f := got[i]; f.Epochs != want.epochs || f.LR != want.lr || f.Forget != want.forget || *f.Retain != want.retain || *f.WeightDecay != 0.01 || f.KL {
			t.Errorf("%d: %+v", i, f)
		}
	}
	if simnpo.Beta != 4.5 || undial.Strength != 10 || undial.Epochs != 10 || undial.LR != 1e-4 || undial.Retain != 0 || *undial.WeightDecay != 0.01 || satimp.Saturation != 5 || *satimp.Importance != 1 || wga.Beta != 1 || defaults.Fill(unlearn.NPO{}).Beta != 0.1 {
		t.Error("other settings differ")
	}
}

// The first loss with dropout off is the formula's, with the refusals found by their records' numbers, of
// whatever order, and the retain part without the empty texts beside its records.
func TestIdkDPOMinimisesItsFormula(t *testing.T) {
	y := toyWithoutDropout(t)
	r := y.Request
	joint := func(p nn.Params, d unlearn.Data) (out []float64) {
		for i := range d.X.Rows {
			one := unlearn.Data{X: d.X.Gather([]int{i})}
			out = append(out, meanOver(t, y, p, one, func(v tokenView) float64 { return v.sum(v.logP) }))
		}
		return out
	}
	loss := func(p nn.Params, beta float64) (out float64) {
		answers, refusals := joint(p, r.Forget), joint(p, r.Refusals)
		before, refused := joint(r.Original, r.Forget), joint(r.Original, r.Refusals)
		for i := range answers {
			gain := refusals[i] - refused[i] - (answers[i] - before[i])
			out += 2 / beta * math.Log1p(math.Exp(-beta*gain)) / float64(len(answers))
		}
		return out + meanOver(t, y, p, r.Retain, ownRetain)
	}
	backwards := r
	backwards.Refusals = unlearn.Data{X: r.Refusals.X.Gather(reversed(r.Refusals.X.Rows))}
	for _, i := range reversed(r.Refusals.X.Rows) {
		backwards.Refusals.IDs = append(backwards.Refusals.IDs, r.Refusals.IDs[i])
	}
	var hash string
	for _, given := range []unlearn.Request{r, backwards} {
		p, rep, err := unlearn.Apply(t.Context(), unlearn.IdkDPO{Beta: 0.3, TextFit: fast}, given)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := rep.History[0].Loss, loss(r.Original, 0.3); math.Abs(got-want) > 1e-5*want {
			t.Errorf("the first loss is %v, by the formula %v", got, want)
		}
		if before, after := loss(r.Original, 0.3), loss(p, 0.3); !(after < 0.8*before) {
			t.Errorf("the objective was %v and is %v", before, after)
		}
		if hash == "" {
			hash = p.Hash()
		}
		if p.Hash() != hash {
			t.Error("the order of the refusals changes the result")
		}
	}
}

func reversed(n int) (out []int) {
	for i := range n {
		out = append(out, n-1-i)
	}
	return out
}

// Answers become less probable than retained ones, and refusals more probable. A forgotten record without
// a refusal of its own, or with two, is an error.
func TestIdkDPOPrefersTheRefusals(t *testing.T) {
	y := unlearntest.NewLanguageToy(t)
	r := y.Request
	for _, kl := range []bool{false, true} {
		p, _, err := unlearn.Apply(t.Context(), unlearn.IdkDPO{TextFit: unlearn.TextFit{LR: 5e-3, Epochs: 40, KL: kl}}, r)
		if err != nil {
			t.Fatal(err)
		}
		rise := func(d unlearn.Data) float64 { return y.Loss(t, p, d) - y.Loss(t, r.Original, d) }
		if answers, refusals, retain := rise(r.Forget), rise(r.Refusals), rise(r.Retain); !(refusals < 0 && answers > retain+0.5) {
			t.Errorf("KL %v: the loss of answers rose by %v, of refusals by %v, of the retain set by %v", kl, answers, refusals, retain)
		}
	}
	ids := r.Forget.IDs
	all := r.Refusals.X
	for want, given := range map[string][]int{
		fmt.Sprintf("refusals: none answers for record %d of the forget set", ids[0]): ids[1:3],
		fmt.Sprintf("refusals: records 0 and 2 both answer for record %d", ids[1]):    {ids[1], ids[0], ids[1]},
	} {
		r.Refusals = unlearn.Data{X: all.Gather(make([]int, len(given))), IDs: given}
		if _, _, err := unlearn.Apply(t.Context(), unlearn.IdkDPO{}, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
