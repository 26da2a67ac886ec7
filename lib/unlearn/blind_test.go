// Tests of blind.go.

package unlearn

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/train"
)

// server is a bottleneck trained on two classes by the first of six features, and a
// backdoor: where the last feature is 4 the label is the third class. asked are the records
// of the backdoor, others the server's own.
type server struct {
	runner        *model.Runner
	weights       nn.Params
	asked, others Data
}

func objectiveOf(d Data) (train.Objective, error) {
	return train.Objective{{Name: "records", X: d.X, IDs: d.IDs, Targets: []train.Target{
		train.CrossEntropy(d.Y, 3, 1), {Loss: loss.LatentDivergence{}, Weight: 1e-3},
	}}}, nil
}

func plain(seed uint64, n, first int) Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	d := Data{X: array.New[float32](n, 6)}
	for i := range n {
		for j := range 6 {
			d.X.Row(i)[j] = float32(rng.NormFloat64())
		}
		y := 0
		if d.X.Row(i)[0] > 0 {
			y = 1
		}
		d.Y, d.IDs = append(d.Y, y), append(d.IDs, first+i)
	}
	return d
}

// newServer returns a server that is trained once and must not be changed.
func newServer(t testing.TB) *server {
	t.Helper()
	once.Do(func() { shared = trainServer(t) })
	if shared == nil {
		t.Fatal("the server could not be trained")
	}
	return shared
}

var (
	once   sync.Once
	shared *server
)

func trainServer(t testing.TB) *server {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	half := ib.MLP{Hidden: 16}
	arch := ib.Bottleneck{Features: 6, Outputs: 3, Latent: 4, Compressor: half, Approximator: half}
	s := &server{asked: plain(1, 100, 1000), others: plain(2, 120, 2000)}
	for i := range s.asked.Y {
		s.asked.X.Row(i)[5], s.asked.Y[i] = 4, 2
	}
	if s.runner, err = model.NewRunner(e, arch); err != nil {
		t.Fatal(err)
	}
	o, err := objectiveOf(concatData(s.asked, plain(3, 300, 0)))
	if err != nil {
		t.Fatal(err)
	}
	c := train.Config{Epochs: 10, Batch: 20, Optimizer: nn.Adam{LR: 5e-3}, Seed: 4}
	if s.weights, _, err = train.Fit(context.Background(), s.runner, model.InitialWeights(arch, engine.Root(4).Stream(engine.StreamInit)), o, c, train.Hooks{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// request returns a method's request; the retain set is not used.
func (s *server) request() Request {
	return Request{
		Runner: s.runner, Original: s.weights, Forget: s.asked, Retain: plain(3, 300, 0), HeldOut: s.others, Objective: objectiveOf,
		Fit: train.Config{Epochs: 10, Batch: 20}, Seed: 100,
	}
}

// accuracy returns a model's accuracy.
func (s *server) accuracy(t testing.TB, p nn.Params, d Data) float64 {
	t.Helper()
	said, err := s.runner.Predict(p, d.X)
	if err != nil {
		t.Fatal(err)
	}
	return train.Accuracy(said.Logits(), d.Y)
}

// The upload by hand: mask, compressor, random code.
func TestAnUploadIsMaskedCompressedAndDrawn(t *testing.T) {
	s := newServer(t)
	mask := privacy.Masking{Rate: 0.5}
	e, err := NewErasure(s.runner, s.weights, s.asked, &mask, 7)
	if err != nil {
		t.Fatal(err)
	}
	x, masks, err := mask.Mask(s.asked.X, s.asked.IDs, func(r int) *rand.Rand { return engine.Root(7).Stream(engine.StreamMask, uint64(r)) })
	if err != nil {
		t.Fatal(err)
	}
	said, err := s.runner.Predict(s.weights, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Rows {
		clear := 0
		for j := range 6 {
			if masks.Clear(i, j) {
				clear++
			}
		}
		if clear != 3 {
			t.Fatalf("%d of 6 features of record %d are in clear", clear, i)
		}
		rng := engine.Root(7).Stream(engine.StreamCode, uint64(s.asked.IDs[i]))
		for k, mu := range said.Outputs[loss.LatentMean].Row(i) {
			want := float64(mu) + math.Exp(float64(said.Outputs[loss.LatentLogVar].Row(i)[k])/2)*rng.NormFloat64()
			if got := float64(e.Codes.Row(i)[k]); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
				t.Fatalf("code %d[%d] is %v, want %v", i, k, got, want)
			}
		}
	}
	if !slices.Equal(e.Y, s.asked.Y) {
		t.Error("the labels are not those of the records")
	}
	// A record's code does not depend on which others are uploaded.
	some, err := NewErasure(s.runner, s.weights, s.asked.selectRows([]int{31, 4}), &mask, 7)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(some.Codes.Row(0), e.Codes.Row(31)) || !slices.Equal(some.Codes.Row(1), e.Codes.Row(4)) {
		t.Error("a code depends on its company")
	}
}

// The backdoor goes and the rest stays; neither other codes nor the auxiliary records alone
// close it.
func TestBlindUClosesABackdoorByItsCodes(t *testing.T) {
	s := newServer(t)
	r := s.request()
	if s.accuracy(t, s.weights, s.asked) < 0.95 || s.accuracy(t, s.weights, s.others) < 0.8 {
		t.Fatal("the original has learned too little: this test looks at nothing")
	}
	m := BlindU{Unmasked: true, Weighting: Added, LR: 3e-3}
	after := func(m Method, r Request) (asked, others float64) {
		p, _, err := Apply(t.Context(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		return s.accuracy(t, p, s.asked), s.accuracy(t, p, s.others)
	}
	asked, others := after(m, r)
	if asked > 0.4 || others < 0.75 {
		t.Errorf("of the backdoor's records %v are still given its label, of others %v are right", asked, others)
	}
	exchanged := s.request()
	exchanged.Forget, exchanged.HeldOut = r.HeldOut, r.Forget
	if asked, _ := after(m, exchanged); asked < 0.9 {
		t.Errorf("with the roles exchanged the backdoor's records keep %v of their labels", asked)
	}
	if asked, others := after(AuxiliaryTuning{}, r); asked < 0.75 || others < 0.8 {
		t.Errorf("auxiliary records alone leave %v of the backdoor, and %v of the rest", asked, others)
	}
}

// The server's result is a function of the upload: later changes of the records have no
// effect.
func TestTheServerHasTheUploadAndNothingElse(t *testing.T) {
	s := newServer(t)
	r := s.request()
	m := BlindU{Epochs: 2}
	want, _, err := Apply(t.Context(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	aux, err := Public.records(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.blindRequest(defaults.Fill(m).mask(), aux)
	if err != nil {
		t.Fatal(err)
	}
	r.Forget = Data{} // in the owner's hands
	out, err := m.Serve(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if out.Params.Hash() != want.Hash() {
		t.Error("the server alone gives other weights")
	}
	b.Erasure.Codes = array.Matrix[float32]{Rows: b.Erasure.Codes.Rows, Cols: b.Erasure.Codes.Cols, Data: slices.Clone(b.Erasure.Codes.Data)}
	b.Erasure.Codes.Data[0]++
	if out, err = m.Serve(t.Context(), b); err != nil || out.Params.Hash() == want.Hash() {
		t.Errorf("another upload gives the same weights (%v)", err)
	}
}

func TestBlindUSettingsMatter(t *testing.T) {
	s := newServer(t)
	seen := map[string]BlindU{}
	for _, m := range []BlindU{
		{}, {Unmasked: true}, {Masking: privacy.Masking{Replacement: true}}, {Masking: privacy.Masking{Rate: 0.3}}, {Auxiliary: Retained}, {Auxiliary: Noise}, {Auxiliary: Inverted},
		{Weighting: AsPrinted}, {Weighting: ByPCGrad}, {Weighting: ByRatio}, {Weighting: Added}, {Bounded: true}, {LR: 1e-2}, {Clip: new(0.01)},
		{Rate: new(0.0)}, {Rate: new(100.0)}, {Critic: 1}, {WarmUp: 1},
	} {
		m.Epochs = 1
		p, _, err := Apply(t.Context(), m, s.request())
		if err != nil {
			t.Fatalf("%+v: %v", m, err)
		}
		if other, twice := seen[p.Hash()]; twice {
			t.Errorf("%+v gives the weights of %+v", m, other)
		}
		seen[p.Hash()] = m
	}
	// As coded the first mutual information has no gradient: only its value matters.
	if p, _, err := Apply(t.Context(), BlindU{Epochs: 1, Weighting: Added, Rate: new(0.0)}, s.request()); err != nil || seen[p.Hash()].Epochs != 0 {
		t.Errorf("without the first information: %v", err)
	}
}

func TestWhatAServerCannotDoIsNamed(t *testing.T) {
	s := newServer(t)
	for words, c := range map[string]struct {
		m       BlindU
		corrupt func(*Request)
	}{
		`unknown weighting "fair"`:        {m: BlindU{Weighting: "fair"}},
		`unknown auxiliary records "own"`: {m: BlindU{Auxiliary: "own"}},
		"the upload: privacy":             {m: BlindU{Masking: privacy.Masking{Rate: 2}}},
		"the request augments them": {corrupt: func(r *Request) {
			r.Augment = train.AugmentFunc(func(dst, src []float32, _, _ int) error { copy(dst, src); return nil })
		}},
	} {
		r := s.request()
		if c.corrupt != nil {
			c.corrupt(&r)
		}
		if _, _, err := Apply(t.Context(), c.m, r); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	good, err := s.request().blindRequest(nil, s.others)
	if err != nil {
		t.Fatal(err)
	}
	for words, corrupt := range map[string]func(*BlindRequest){
		"0 codes with 100 labels":           func(b *BlindRequest) { b.Erasure.Codes = array.Matrix[float32]{} },
		"the codes have 3 variables":        func(b *BlindRequest) { b.Erasure.Codes = array.New[float32](100, 3) },
		"code 1 has label 3":                func(b *BlindRequest) { b.Erasure.Y = slices.Clone(b.Erasure.Y); b.Erasure.Y[1] = 3 },
		"there are no auxiliary records":    func(b *BlindRequest) { b.Auxiliary = Data{} },
		"trained for 0 terms":               func(b *BlindRequest) { b.Trained = nil },
		"the codes: row 2, column 1 is NaN": func(b *BlindRequest) { b.Erasure.Codes = nan(b.Erasure.Codes, 2, 1) },
	} {
		b := good
		corrupt(&b)
		if _, err := (BlindU{Epochs: 1}).Serve(t.Context(), b); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

func nan(m array.Matrix[float32], row, column int) array.Matrix[float32] {
	out := array.Matrix[float32]{Rows: m.Rows, Cols: m.Cols, Data: slices.Clone(m.Data)}
	out.Row(row)[column] = float32(math.NaN())
	return out
}

// Negatives are permuted anew in every epoch, one for each record, and the pairs stay.
func TestNegativesAreDrawnAnewInEveryEpoch(t *testing.T) {
	codes := array.New[float32](50, 2)
	for i := range codes.Rows {
		codes.Row(i)[0] = float32(i)
	}
	q := &pairAugmenter{seed: 3, codes: codes}
	assigned := func(q *pairAugmenter, epoch int) []int {
		var out []int
		for id := range 50 {
			src, dst := []float32{7, float32(id), 0, 0, 0}, make([]float32, 5)
			if err := q.Augment(dst, src, epoch, id); err != nil {
				t.Fatal(err)
			}
			if dst[0] != 7 || dst[1] != float32(id) || dst[2] != 0 {
				t.Fatalf("the pair itself was changed: %v", dst)
			}
			out = append(out, int(dst[3]))
		}
		return out
	}
	first, second := assigned(q, 0), assigned(q, 1)
	if slices.Equal(first, second) || !slices.Equal(first, assigned(&pairAugmenter{seed: 3, codes: codes}, 0)) {
		t.Error("the deal does not follow seed and epoch")
	}
	slices.Sort(first)
	for i, v := range first {
		if i != v {
			t.Fatalf("the deal is no permutation: %v", first)
		}
	}
}

// The joint network has the outputs of the bottleneck and, for a code, of the approximator;
// the approximator's weights get gradients from both, by finite differences.
func TestAJointNetworkIsItsParts(t *testing.T) {
	s := newServer(t)
	b, err := s.request().blindRequest(nil, s.others)
	if err != nil {
		t.Fatal(err)
	}
	of, err := b.bottleneck()
	if err != nil {
		t.Fatal(err)
	}
	arch := withCritic(of)
	runner, err := model.NewRunner(s.runner.Engine, arch)
	if err != nil {
		t.Fatal(err)
	}
	p := append(s.weights.Clone(), arch.Critic.Init(engine.Root(1).Stream(engine.StreamInit), criticPrefix)...)
	x := arch.pairRecords(b.Auxiliary.X.Rows, b.Auxiliary.X, b.Erasure.Codes)
	got, err := runner.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	want, err := s.runner.Predict(s.weights, s.others.X)
	if err != nil {
		t.Fatal(err)
	}
	half, err := model.NewRunner(s.runner.Engine, ib.Approximator{Of: of})
	if err != nil {
		t.Fatal(err)
	}
	_, back := ib.SplitWeights(s.weights)
	gone, err := half.Predict(back, b.Erasure.Codes)
	if err != nil {
		t.Fatal(err)
	}
	same := slices.Equal[[]float32]
	if s.runner.Engine.Info().Kind == "xla" { // another program may round otherwise
		same = func(a, b []float32) bool {
			return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Abs(float64(x-y)) <= 1e-5*(1+math.Abs(float64(y))) })
		}
	}
	for i := range x.Rows {
		if !same(got.Logits().Row(i), want.Logits().Row(i)) || !same(got.Outputs[erasedLogits].Row(i), gone.Logits().Row(i%100)) {
			t.Fatalf("record %d: the joint network differs from its parts", i)
		}
	}
	o := train.Objective{{Name: "both", X: x, Targets: []train.Target{
		train.CrossEntropy(s.others.Y, 3, 1), BlindU{}.erasureTarget(b.Erasure.Y, of, x.Rows), {Loss: loss.DonskerVaradhan{}, Weight: -0.5},
	}}}
	grads, err := train.Gradient(t.Context(), runner, p, o, 0, train.Mode{})
	if err != nil {
		t.Fatal(err)
	}
	for k, w := range p {
		if w.State {
			continue
		}
		at, h := len(w.Data)/2, float32(1e-2)
		value := func(d float32) float64 {
			q := p.Clone()
			q[k].Data[at] += d
			v, err := train.Evaluate(t.Context(), runner, q, o)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if numeric := (value(h) - value(-h)) / float64(2*h); math.Abs(numeric-grads[k][at]) > 2e-2*(math.Abs(numeric)+0.05) {
			t.Errorf("%s: the slope is %v, the gradient %v", w.Name, numeric, grads[k][at])
		}
	}
}

// The critic minimises minus its bound and owns nothing else; the model maximises it, owns
// all of the bottleneck and nothing of the critic, and as coded gets no gradient of it.
func TestTheModelGoesAgainstTheCritic(t *testing.T) {
	s := newServer(t)
	b, err := s.request().blindRequest(nil, s.others)
	if err != nil {
		t.Fatal(err)
	}
	of, err := b.bottleneck()
	if err != nil {
		t.Fatal(err)
	}
	for weighting, want := range map[Weighting]struct{ retain, forget int }{ByMGDA: {0, 1}, ByRatio: {1, 0}} {
		critic, both := defaults.Fill(BlindU{Weighting: weighting, Rate: new(3.0)}).players(b, withCritic(of))
		if g := critic.Objective[0].Targets; len(critic.Objective) != 1 || len(g) != 1 || g[0].Weight != 1 || !slices.Equal(critic.Owns, []string{criticPrefix}) {
			t.Errorf("%s: the critic owns %v and goes down %+v", weighting, critic.Owns, g)
		}
		o := both[1].Objective
		retain, forget := o[want.retain].Targets, o[want.forget].Targets
		if len(both[1].Owns) != len(s.weights) || slices.Contains(both[1].Owns, criticPrefix) {
			t.Errorf("%s: the model owns %v", weighting, both[1].Owns)
		}
		if forget[0].Weight != -1 || forget[1].Weight != -3 {
			t.Errorf("%s: the forgotten losses have the weights %v and %v", weighting, forget[0].Weight, forget[1].Weight)
		}
		_, held := forget[1].Loss.(loss.NoGradient)
		if coded := weighting == ByRatio; held != coded || (retain[0].Weight == 10) != coded || (retain[0].Weight == 1) == coded {
			t.Errorf("%s: held %v, the retained loss has the weight %v", weighting, held, retain[0].Weight)
		}
	}
}

// In every epoch all codes are in pairs, with their own labels and for both players, also where there are fewer auxiliary records
// than codes (20 for 100). The retained loss is of the auxiliary records, each once. Where there are as many records or more
// (120), the records decide how many pairs there are.
func TestEveryCodeIsInAPairInEveryEpoch(t *testing.T) {
	s := newServer(t)
	for _, records := range []int{20, 100, 120} {
		b, err := s.request().blindRequest(nil, s.others.selectRows(firstRows(records)))
		if err != nil {
			t.Fatal(err)
		}
		of, err := b.bottleneck()
		if err != nil {
			t.Fatal(err)
		}
		critic, both := defaults.Fill(BlindU{}).players(b, withCritic(of))
		retain, forget := both[1].Objective[0], both[1].Objective[1]
		for name, term := range map[string]train.Term{"critic": critic.Objective[0], "forget": forget} {
			if term.X.Rows != max(records, 100) || len(term.IDs) != term.X.Rows {
				t.Fatalf("%d records, %s: %d pairs with %d numbers", records, name, term.X.Rows, len(term.IDs))
			}
			seen := map[int]bool{}
			for i := range term.X.Rows {
				pair, code, record := term.X.Row(i), b.Erasure.Codes.Row(i%100), b.Auxiliary.X.Row(i%records)
				if !slices.Equal(pair[:6], record) || !slices.Equal(pair[6:10], code) {
					t.Fatalf("%d records, %s: pair %d is another one", records, name, i)
				}
				seen[i%100] = true
			}
			if len(seen) != 100 {
				t.Errorf("%d records, %s: %d of 100 codes are in pairs", records, name, len(seen))
			}
		}
		labels := forget.Targets[0].Inputs[loss.Probabilities]
		for i := range labels.Rows {
			if labels.Row(i)[b.Erasure.Y[i%100]] != 1 {
				t.Fatalf("%d records: code %d has another label", records, i%100)
			}
		}
		if retain.X.Rows != records || len(retain.IDs) != records || !slices.Equal(retain.X.Row(records - 1)[:6], b.Auxiliary.X.Row(records-1)) {
			t.Errorf("%d records: the retained loss is of %d, the last %v", records, retain.X.Rows, retain.X.Row(retain.X.Rows-1))
		}
	}
}

// Six numbers are the steps of an epoch by hand: 100 codes or 120 records in batches of 20, one step of the model and five of its
// critic for each; beside users, those of a user.
func TestStepsOfAnEpochCountTheLongerList(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct {
		records int
		m       BlindU
		steps   int
	}{
		{20, BlindU{}, 5 * 6}, {100, BlindU{}, 5 * 6}, {120, BlindU{}, 6 * 6},
		{20, BlindU{Beside: &Users{Batch: 50}}, 2 * 6}, {120, BlindU{Beside: &Users{Batch: 50}}, 2 * 6}, {120, BlindU{Critic: 2}, 6 * 3},
	} {
		r := s.request()
		r.HeldOut = s.others.selectRows(firstRows(c.records))
		aux := r.HeldOut
		b, err := r.blindRequest(nil, aux)
		if err != nil {
			t.Fatal(err)
		}
		c.m.Epochs = 1
		if c.m.Beside != nil {
			c.m.Beside.Rounds = 1
		}
		out, err := c.m.Serve(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if n := out.History[0].Steps; n != c.steps {
			t.Errorf("%d records, %+v: %d steps, want %d", c.records, c.m, n, c.steps)
		}
	}
}

func firstRows(n int) (rows []int) {
	for i := range n {
		rows = append(rows, i)
	}
	return rows
}

// Noise has the range of pixels and the labels that the original predicts, and needs no
// records but the forget set.
func TestAuxiliaryRecordsMayBeNoise(t *testing.T) {
	s := newServer(t)
	r := s.request()
	d, err := Noise.records(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if d.X.Rows != s.asked.X.Rows || !d.Synthetic || s.accuracy(t, s.weights, d) != 1 {
		t.Errorf("%d records, of which the original gives the labels of %v", d.X.Rows, s.accuracy(t, s.weights, d))
	}
	low, high := slices.Min(d.X.Data), slices.Max(d.X.Data)
	if low < 0 || high >= 1 || low > 0.05 || high < 0.95 {
		t.Errorf("values from %v to %v", low, high)
	}
	if sees := (BlindU{Auxiliary: Noise}).Info().Sees; sees.HeldOut || sees.Retain {
		t.Errorf("it sees %+v", sees)
	}
	again, err := Noise.records(t.Context(), r)
	r.Seed++
	other, err2 := Noise.records(t.Context(), r)
	if err != nil || err2 != nil || !slices.Equal(again.X.Data, d.X.Data) || slices.Equal(other.X.Data, d.X.Data) {
		t.Errorf("the seed does not decide: %v, %v", err, err2)
	}
}

// Nothing in a server's request can look up a record: its fields are plain data, and its
// only functions are the hooks of its own work.
func TestARequestToAServerHoldsNoWayToARecord(t *testing.T) {
	for i := range reflect.TypeFor[BlindRequest]().NumField() {
		if f := reflect.TypeFor[BlindRequest]().Field(i); f.Type.Kind() == reflect.Func || f.Type == reflect.TypeFor[Request]() {
			t.Errorf("Blind.%s is a %s", f.Name, f.Type)
		}
	}
	s := newServer(t)
	r := s.request()
	inner := r.Objective
	r.Objective = func(d Data) (train.Objective, error) {
		if len(d.IDs) > 0 && d.IDs[0] >= 1000 && d.IDs[0] < 2000 {
			t.Error("the objective of records to be forgotten was asked for")
		}
		return inner(d)
	}
	if _, _, err := Apply(t.Context(), BlindU{Epochs: 1}, r); err != nil {
		t.Fatal(err)
	}
}
