package representation

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
)

var background = context.Background()

func open(t testing.TB) *engine.Engine {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func checkClose(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func refused(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("error %v, want one with %q", err, words)
	}
}

func wave(data []float32, at float64) {
	for k := range data {
		data[k] = float32(math.Sin(at + 1.7*float64(k)))
	}
}

// PyTorch 2.15.0: Linear(3, 4), ReLU, Linear(4, 5) and a sigmoid, or none, six
// full-batch steps of Adam(lr=0.05) on the sum of squares over 6.
func TestTheAttackerTrainsAsPyTorchs(t *testing.T) {
	e := open(t)
	for _, c := range []struct {
		linear       bool
		drawn, error []float64
	}{
		{false, []float64{0.2591380476951599, 0.2881065309047699, 0.5595176815986633, 0.6471729874610901, 0.4308766722679138,
			0.5665609836578369, 0.4375690221786499, 0.6577419638633728, 0.6967043280601501, 0.5368979573249817},
			[]float64{0.6522684693336487, 0.9067682027816772, 0.2795231342315674, 0.5296918749809265, 1.1265913248062134, 0.2745547294616699}},
		{true, []float64{0.022095441818237305, -0.7646487355232239, 0.27385878562927246, 1.0477275848388672, 0.26650089025497437,
			0.6712958812713623, 0.20461130142211914, 0.8832740187644958, 1.3970541954040527, 0.31251636147499084},
			[]float64{3.3321731090545654, 2.5712552070617676, 0.179653137922287, 2.762119770050049, 4.721507549285889, 0.9000456929206848}},
	} {
		arch := Decoder{Features: 3, Hidden: 4, Outputs: 5, Linear: c.linear}
		r, err := model.NewRunner(e, arch)
		if err != nil {
			t.Fatal(err)
		}
		p := model.InitialWeights(arch, engine.Root(1).Stream(engine.StreamInit))
		for k := range p {
			wave(p[k].Data, float64(k))
		}
		x, y := array.New[float32](6, 3), array.New[float32](6, 5)
		wave(x.Data, 4)
		wave(y.Data, 5)
		for k := range y.Data {
			y.Data[k] = (y.Data[k] + 1) / 2
		}
		plan := train.Plan{Passes: func(int) ([]train.Objective, error) { return []train.Objective{reconstructionObjective(x, y)}, nil }}
		p, _, err = train.FitPlan(background, r, p, plan, train.Config{Epochs: 6, Optimizer: nn.Adam{LR: 0.05}}, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := r.Predict(p, x)
		if err != nil {
			t.Fatal(err)
		}
		drawn := out.Outputs[nn.Output]
		checkClose(t, "drawn", array.Convert[float64](drawn).Data[:10], c.drawn, 1e-5)
		checkClose(t, "errors", squaredErrors(drawn, y), c.error, 2e-5)
	}
}

// quickAttack is an attacker that learns the planted cases in no time.
var quickAttack = Reconstruction{Hidden: 24, Epochs: 40, Batch: 20, LR: 0.01}

// plantRecords draws records in (0, 1) of six columns and codes that tell three of their four
// hidden causes; with blind, codes that tell nothing.
func plantRecords(seed uint64, first, n int, blind bool) (numbers []int, codes, records array.Matrix[float32]) {
	rng := rand.New(rand.NewPCG(seed, uint64(first)))
	codes, records = array.New[float32](n, 3), array.New[float32](n, 6)
	for i := range n {
		var u [4]float64
		for k := range u {
			u[k] = rng.NormFloat64()
		}
		for j := range records.Cols {
			z := 1.5*u[j%4] - u[(j+1)%4]
			records.Row(i)[j] = float32(1 / (1 + math.Exp(-z)))
		}
		for k := range codes.Cols {
			codes.Row(i)[k] = float32(u[k])
			if blind {
				codes.Row(i)[k] = float32(rng.NormFloat64())
			}
		}
		numbers = append(numbers, first+i)
	}
	return numbers, codes, records
}

func sides(seed uint64, blind bool) (Shadow, Victims) {
	n, z, x := plantRecords(seed, 0, 200, blind)
	m, y, w := plantRecords(seed, 1000, 80, blind)
	return Shadow{Numbers: n, Codes: z, Records: x}, Victims{Numbers: m, Codes: y, Originals: w}
}

func reconstruct(t *testing.T, e *engine.Engine, a Reconstruction, s Shadow, v Victims, seed engine.Root) *Reconstructed {
	t.Helper()
	r, err := a.Run(background, e, s, v, seed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCodesThatTellAreReconstructedAndOthersAreNot(t *testing.T) {
	e := open(t)
	s, v := sides(1, false)
	before := fmt.Sprint(s, v)
	r := reconstruct(t, e, quickAttack, s, v, 1)
	if r.Gain.Low < 0.4*r.Mean.Value || *r.Gain.Null != 0 || r.Gain.N != 80 {
		t.Errorf("of telling codes: gain %v of %v", r.Gain, r.Mean)
	}
	if fmt.Sprint(s, v) != before {
		t.Error("the attack writes to its evidence")
	}
	if again := reconstruct(t, e, quickAttack, s, v, 1); !slices.Equal(again.Errors, r.Errors) {
		t.Error("the same attack answers anew")
	}
	// Without a signal an attacker cannot beat the mean record; what it has
	// memorised makes it worse.
	var gains []float64
	for seed := range uint64(8) {
		s, v := sides(10+seed, true)
		gains = append(gains, reconstruct(t, e, quickAttack, s, v, engine.Root(seed)).Gain.Value)
	}
	if g := stats.MeanInterval(gains, 0.99, "draws"); g.High > 0.01 {
		t.Errorf("of blind codes: gain %v", g)
	}
}

// Whose codes and records are which: an attacker taught on wrong pairs draws worse
// than the mean record, and so does one who is judged on wrong pairs.
func TestExchangedRolesOfAReconstructionAreNoticed(t *testing.T) {
	e := open(t)
	s, v := sides(1, false)
	turned := func(m array.Matrix[float32]) array.Matrix[float32] { // 1 - x, which no code of the true pairs says
		out := array.New[float32](m.Rows, m.Cols)
		for k, x := range m.Data {
			out.Data[k] = 1 - x
		}
		return out
	}
	taught, judged := s, v
	taught.Records, judged.Originals = turned(s.Records), turned(v.Originals)
	for what, c := range map[string]*Reconstructed{
		"taught on others": reconstruct(t, e, quickAttack, taught, v, 1),
		"judged by others": reconstruct(t, e, quickAttack, s, judged, 1),
	} {
		if c.Gain.High > 0 {
			t.Errorf("%s: gain %v", what, c.Gain)
		}
	}
	both := reconstruct(t, e, quickAttack, taught, judged, 1)
	if both.Gain.Low < 0.4*both.Mean.Value {
		t.Errorf("taught and judged by the same other records: gain %v", both.Gain)
	}
}

// Every number anew, from what was drawn.
func TestReconstructionsAreScoredByTheirSquares(t *testing.T) {
	s, v := sides(2, false)
	for i := range s.Numbers {
		s.Labels = append(s.Labels, i%3)
	}
	for i := range v.Numbers {
		v.Labels = append(v.Labels, i%4) // the shadow has no record of class 3
	}
	r := reconstruct(t, open(t), quickAttack, s, v, 3)
	var all [6]float64
	byClass, counts := map[int]*[6]float64{0: {}, 1: {}, 2: {}}, map[int]float64{}
	for i := range s.Records.Rows {
		counts[s.Labels[i]]++
		for j, x := range s.Records.Row(i) {
			all[j] += float64(x) / 200
			byClass[s.Labels[i]][j] += float64(x)
		}
	}
	var sse, mean, class float64
	for i := range v.Originals.Rows {
		for j, x := range v.Originals.Row(i) {
			m := all[j]
			if n := counts[v.Labels[i]]; n > 0 {
				m = byClass[v.Labels[i]][j] / n
			}
			sse += math.Pow(float64(r.Records.Row(i)[j])-float64(x), 2) / 80
			mean += math.Pow(all[j]-float64(x), 2) / 80
			class += math.Pow(m-float64(x), 2) / 80
		}
	}
	checkClose(t, "SSE, MSE, mean record, mean of the class, gain",
		[]float64{r.SSE.Value, r.MSE.Value, r.Mean.Value, r.ClassMean.Value, r.Gain.Value},
		[]float64{sse, sse / 6, mean, class, min(mean, class) - sse}, 1e-6)
	checkClose(t, "ends of MSE", []float64{6 * r.MSE.Low, 6 * r.MSE.High}, []float64{r.SSE.Low, r.SSE.High}, 1e-12)
	s.Labels = nil
	if without := reconstruct(t, open(t), quickAttack, s, v, 3); without.ClassMean != nil {
		t.Error("a mean of classes that the attacker does not know")
	}
}

// As coded the attacker was trained on the records that it is scored on, and the truth is
// what masking left of them.
func TestTheCodedReconstructionIsTaughtAndScoredOnTheErased(t *testing.T) {
	e := open(t)
	_, codes, records := plantRecords(3, 0, 120, false)
	_, _, other := plantRecords(4, 0, 120, false)
	run := func(i CodedEvidence) *Reconstructed {
		t.Helper()
		r, err := quickAttack.Coded(background, e, i, 1)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(CodedEvidence{codes, records, codes, records}); r.Gain.Low < 0.4*r.Mean.Value {
		t.Errorf("gain %v of %v", r.Gain, r.Mean)
	}
	if r := run(CodedEvidence{codes, records, codes, other}); r.Gain.Value > 0 {
		t.Errorf("scored against what was not masked: gain %v", r.Gain)
	}
	if r := run(CodedEvidence{codes, other, codes, records}); r.Gain.High > 0.1*r.Mean.Value {
		t.Errorf("taught on what was not erased: gain %v", r.Gain)
	}
	_, err := quickAttack.Coded(background, e, CodedEvidence{codes, records, codes.Gather([]int{1}), records}, 1)
	refused(t, err, "masked victims: 1 codes, 120 records")
	_, err = quickAttack.Coded(background, e, CodedEvidence{codes, records, records, records}, 1)
	refused(t, err, "codes of 3 columns for records of 6, masked 6 for 6")
}

// Codes of very different size are learned from when they are standardised, with the
// shadow's mean and spread on either side.
func TestCodesAreStandardisedByTheShadow(t *testing.T) {
	e := open(t)
	s, v := sides(5, false)
	plain := quickAttack
	plain.Standardised = true
	want := reconstruct(t, e, plain, s, v, 1)
	for _, m := range []array.Matrix[float32]{s.Codes, v.Codes} {
		for k := range m.Data {
			m.Data[k] = m.Data[k]/1024 + 8
		}
	}
	got := reconstruct(t, e, plain, s, v, 1)
	if math.Abs(got.SSE.Value-want.SSE.Value) > 0.02*want.SSE.Value || got.Gain.Low < 0.4*got.Mean.Value {
		t.Errorf("SSE %v, of the same codes in other units %v", got.SSE, want.SSE)
	}
	plain.Standardised = false
	if raw := reconstruct(t, e, plain, s, v, 1); raw.Gain.Value > got.Gain.Value/2 {
		t.Errorf("without it the gain is %v, with it %v", raw.Gain, got.Gain)
	}
}

func TestNonsenseIsNotReconstructed(t *testing.T) {
	e := open(t)
	for words, corrupt := range map[string]func(s *Shadow, v *Victims){
		"victims: row 2 is record 7, which the attacker has": func(_ *Shadow, v *Victims) { v.Numbers[2] = 7 },
		"shadow: 200 codes, 200 records and 199 numbers":     func(s *Shadow, _ *Victims) { s.Numbers = s.Numbers[1:] },
		"victims: codes of 0 x 0":                            func(_ *Shadow, v *Victims) { v.Codes = array.Matrix[float32]{} },
		"shadow, codes: row 1, column 2 is NaN":              func(s *Shadow, _ *Victims) { s.Codes.Data[5] = float32(math.NaN()) },
		"victims, records: row 1, column 0 is +Inf":          func(_ *Shadow, v *Victims) { v.Originals.Data[6] = float32(math.Inf(1)) },
		"victims: 3 labels of 80 records":                    func(_ *Shadow, v *Victims) { v.Labels = make([]int, 3) },
		"shadow: codes of 3 columns for records of 6; victims: 6 for 6": func(_ *Shadow, v *Victims) {
			v.Codes = v.Originals
		},
	} {
		s, v := sides(1, false)
		corrupt(&s, &v)
		_, err := quickAttack.Run(background, e, s, v, 1)
		refused(t, err, words)
	}
	s, v := sides(1, false)
	_, err := Reconstruction{Epochs: -1}.Run(background, e, s, v, 1)
	refused(t, err, "-1 epochs")
	_, err = Reconstruction{Hidden: -3}.Run(background, e, s, v, 1)
	refused(t, err, "layers of 3, -3 and 6 units")
}

// The gradient of ||x^ - x||^2 by the last bias of a linear decoder is 2 (x^ - x), of
// every record by itself; and by it a record can be drawn.
func TestGradientsAreEveryRecordsOwn(t *testing.T) {
	e := open(t)
	_, codes, records := plantRecords(6, 0, 30, false)
	arch := Decoder{Features: 3, Hidden: 4, Outputs: 6, Linear: true}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	p := model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit))
	out, err := r.Predict(p, codes)
	if err != nil {
		t.Fatal(err)
	}
	o := reconstructionObjective(codes, records)
	got, err := Gradients(background, r, p, o, "record.bias", train.Mode{})
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range out.Outputs[nn.Output].Data {
		if want := 2 * (v - records.Data[k]); math.Abs(float64(got.Data[k]-want)) > 1e-5 {
			t.Fatalf("record %d, element %d is %v, want %v", k/6, k%6, got.Data[k], want)
		}
	}
	weight, err := Gradients(background, r, p, o, "hidden.weight", train.Mode{})
	if err != nil || weight.Rows != 30 || weight.Cols != 12 {
		t.Fatalf("gradients of %d x %d: %v", weight.Rows, weight.Cols, err)
	}
	for i := range 30 { // one column of a record's gradient by the first weights is its code, times a number per unit
		for unit := range 4 {
			g, z := weight.Row(i)[3*unit:3*unit+3], codes.Row(i)
			if math.Abs(float64(g[0]*z[1]-g[1]*z[0])) > 1e-5 || math.Abs(float64(g[1]*z[2]-g[2]*z[1])) > 1e-5 {
				t.Fatalf("record %d, unit %d: gradient %v is no multiple of the code %v", i, unit, g, z)
			}
		}
	}
	_, err = Gradients(background, r, p, o, "decoder.weight", train.Mode{})
	refused(t, err, `has no weights "decoder.weight"`)
	_, err = Gradients(background, r, p, append(o, o...), "record.bias", train.Mode{})
	refused(t, err, "an objective of 2 terms")
}
