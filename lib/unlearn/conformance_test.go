// Every method passes the conformance suite.

package unlearn_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

// about says what a method lowers or which property it has, besides what the suite checks
// for all. The objectives are written anew from the papers' formulas and evaluated in
// float64 with dropout off.
var about = map[string][]unlearntest.Option{
	"gradient-ascent": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		return -y.CrossEntropy(t, p, y.Request.Forget)
	})},
	"neggrad": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		return 0.6*y.CrossEntropy(t, p, y.Request.Retain) - 0.4*y.CrossEntropy(t, p, y.Request.Forget)
	})},
	"fine-tuning": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		return y.CrossEntropy(t, p, y.Request.Retain)
	})},
	"scrub": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		teacher := y.Request.Original
		return 0.6*y.Divergence(t, teacher, p, y.Request.Retain, 2) - 0.4*y.Divergence(t, teacher, p, y.Request.Forget, 2)
	})},
	"bad-teacher": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		teacher := model.InitialWeights(y.Request.Runner.Arch, engine.Root(101).Stream(engine.StreamInit))
		return 0.6*y.CrossEntropy(t, p, y.Request.Retain) + 0.4*y.Divergence(t, teacher, p, y.Request.Retain, 2) +
			y.Divergence(t, teacher, p, y.Request.Forget, 2)
	})},
	"bad-teacher-chundawat": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		bad := model.InitialWeights(y.Request.Runner.Arch, engine.Root(101).Stream(engine.StreamInit))
		return 8*y.Divergence(t, bad, p, y.Request.Forget, 1) + 12*y.Divergence(t, y.Request.Original, p, y.Request.Retain, 1)
	})},
	"scrub-kurmanji": {unlearntest.ChoosesByHeldOut(), unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		return y.CrossEntropy(t, p, y.Request.Retain) + 0.5*y.Divergence(t, y.Request.Original, p, y.Request.Retain, 2)
	})},
	// The labels are uniform, so that what is lowered on Df is the cross-entropy
	// against all classes alike.
	"random-label": {unlearntest.LowersObjective(againstAllClasses)},
	"salun":        {unlearntest.LowersObjective(againstAllClasses)},

	"random-label-tuned":        {unlearntest.LowersObjective(againstAllClasses)},
	"salun-tuned":               {unlearntest.LowersObjective(againstAllClasses)},
	"random-label-step-matched": {unlearntest.EpochsByBatch(), unlearntest.LowersObjective(againstAllClasses)},
	"salun-step-matched":        {unlearntest.EpochsByBatch(), unlearntest.LowersObjective(againstAllClasses)},
	"unroll-thudi":              {unlearntest.Deterministic(), unlearntest.LowersObjective(ascends)},
	"l1-sparsity": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		return y.CrossEntropy(t, p, y.Request.Retain) + 5e-4*magnitudes(p)
	})},
	"unroll":           {unlearntest.Deterministic(), unlearntest.LowersObjective(ascends)},
	"retain-tuning":    {unlearntest.EpochsByBatch(), unlearntest.LowersObjective(retainLoss)},
	"ascent-tuning":    {unlearntest.EpochsByBatch(), unlearntest.LowersObjective(retainLoss)},
	"retrain-share":    {unlearntest.ForgetsAlike(), unlearntest.LowersObjective(sinceTheStart)},
	"dp-retrain":       {unlearntest.ForgetsAlike(), unlearntest.EpochsByBatch(), unlearntest.LowersObjective(sinceTheStart)},
	"ssd":              nil,
	"ssd-foster":       {unlearntest.Deterministic()},
	"fisher-scrub":     nil,
	"hbfu-ascent":      {unlearntest.EpochsByBatch(), unlearntest.OwnBatches(), unlearntest.LowersObjective(ascends)},
	"rapid-retraining": {unlearntest.OwnBatches(), unlearntest.ForgetsAlike(), unlearntest.LowersObjective(sinceTheStart)},

	"federated-retraining": {unlearntest.OwnBatches(), unlearntest.LowersObjective(sinceTheStart)},
	"retrain":              {unlearntest.HasProperty("fits the retain set and not the forget set", fitsRetainOnly)},
	"retrain-other-seed":   {unlearntest.HasProperty("fits the retain set and not the forget set", fitsRetainOnly)},
	"do-nothing": {unlearntest.Deterministic(), unlearntest.HasProperty("is the original", func(t testing.TB, y *unlearntest.Toy, p nn.Params) {
		if p.Hash() != y.Request.Original.Hash() {
			t.Error("the weights have changed")
		}
	})},
	"auxiliary-tuning": {unlearntest.LowersObjective(heldOutLoss)},
	"random-weights": {unlearntest.HasProperty("is an untrained model", func(t testing.TB, y *unlearntest.Toy, p nn.Params) {
		drawn := y.Request.Seed + y.Request.Fit.Seed
		if p.Hash() != model.InitialWeights(y.Request.Runner.Arch, drawn.Stream(engine.StreamInit)).Hash() {
			t.Error("the weights are not those that the seeds draw")
		}
		other := y.Request
		other.Fit.Seed++
		if q, _, err := unlearn.Apply(t.Context(), unlearn.RandomWeights{}, other); err != nil || q.Hash() == p.Hash() {
			t.Errorf("another training seed has the same random weights (%v)", err)
		}
	})},
}

func ascends(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
	return -y.CrossEntropy(t, p, y.Request.Forget)
}

func againstAllClasses(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
	total := y.CrossEntropy(t, p, y.Request.Retain)
	d := y.Request.Forget
	d.Y = make([]int, len(d.Y))
	for class := range classesOf(y.Request) {
		for i := range d.Y {
			d.Y[i] = class
		}
		total += y.CrossEntropy(t, p, d) / float64(classesOf(y.Request))
	}
	return total
}

func magnitudes(p nn.Params) float64 {
	var total float64
	for _, v := range p {
		for _, x := range v.Data {
			total += math.Abs(float64(x))
		}
	}
	return total
}

// The labels of the toy are noisy: a model that never saw a record cannot know
// its label as well as the original, which fitted it.
func fitsRetainOnly(t testing.TB, y *unlearntest.Toy, p nn.Params) {
	r := y.Request
	fresh := model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit))
	if after, before := y.CrossEntropy(t, p, r.Retain), y.CrossEntropy(t, fresh, r.Retain); !(after < before-0.1) {
		t.Errorf("cross-entropy of the retain set is %v, %v untrained", after, before)
	}
	if oracle, original := y.CrossEntropy(t, p, r.Forget), y.CrossEntropy(t, r.Original, r.Forget); !(oracle > original) {
		t.Errorf("cross-entropy of the forget set is %v, %v of the original that was trained on it", oracle, original)
	}
}

func TestEveryMethodConforms(t *testing.T) {
	names := map[string]bool{}
	for _, m := range unlearn.All() {
		if names[m.Info().Name] {
			t.Errorf("two methods are called %s", m.Info().Name)
		}
		names[m.Info().Name] = true
		t.Run(m.Info().Name, func(t *testing.T) {
			if _, listed := generative[m.Info().Name]; m.Info().General != listed {
				t.Errorf("it is General: %v; the table of autoencoders knows it: %v", m.Info().General, listed)
			}
			options := append(slices.Clone(about[m.Info().Name]), unlearntest.OnAutoencoders(generative[m.Info().Name]...))
			unlearntest.Run(t, shortened(m), options...)
		})
	}
	for name := range about {
		if !names[name] {
			t.Errorf("the table knows %s, the list does not", name)
		}
	}
}

// generative has what General methods lower or which property they have on a variational autoencoder.
var generative = map[string][]unlearntest.Option{
	"fine-tuning":     {unlearntest.LowersObjective(retainLoss)},
	"gradient-ascent": {unlearntest.LowersObjective(forgetGain)},
	"neggrad": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		return 0.6*y.Loss(t, p, y.Request.Retain) - 0.4*y.Loss(t, p, y.Request.Forget)
	})},
	"l1-sparsity": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
		return y.Loss(t, p, y.Request.Retain) + 5e-4*magnitudes(p)
	})},
	"unroll":             {unlearntest.LowersObjective(forgetGain)},
	"unroll-thudi":       {unlearntest.LowersObjective(forgetGain)},
	"retrain":            {unlearntest.HasProperty("fits the retain set and not the forget set", reconstructsRetainOnly)},
	"retrain-other-seed": {unlearntest.HasProperty("fits the retain set and not the forget set", reconstructsRetainOnly)},
	"retain-tuning":      {unlearntest.EpochsByBatch(), unlearntest.LowersObjective(retainLoss)},
	"ascent-tuning":      {unlearntest.EpochsByBatch(), unlearntest.LowersObjective(retainLoss)},
	"retrain-share":      {unlearntest.LowersObjective(sinceTheStart)},
	"dp-retrain":         {unlearntest.LowersObjective(sinceTheStart)},
	"ssd":                nil,
	"ssd-foster":         nil,
	"fisher-scrub":       nil,
	"hbfu-ascent":        {unlearntest.LowersObjective(forgetGain)},
	"rapid-retraining":   {unlearntest.LowersObjective(sinceTheStart)},

	"federated-retraining": {unlearntest.LowersObjective(sinceTheStart)},
	"auxiliary-tuning":     {unlearntest.LowersObjective(heldOutLoss)},
	"do-nothing":           nil,
	"random-weights":       nil,
}

func retainLoss(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
	return y.Loss(t, p, y.Request.Retain)
}

func forgetGain(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
	return -y.Loss(t, p, y.Request.Forget)
}

// sinceTheStart is the retain set's loss over that of the initial weights, and above it for
// the original, so that training from there lowers it.
func sinceTheStart(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
	r := y.Request
	if p.Hash() == r.Original.Hash() {
		return 1
	}
	return y.Loss(t, p, r.Retain) / y.Loss(t, model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit)), r.Retain)
}

func reconstructsRetainOnly(t testing.TB, y *unlearntest.Toy, p nn.Params) {
	r := y.Request
	fresh := model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit))
	if after, before := y.Loss(t, p, r.Retain), y.Loss(t, fresh, r.Retain); !(after < before-0.1) {
		t.Errorf("the loss on the retain set is %v, %v untrained", after, before)
	}
	if oracle, original := y.Loss(t, p, r.Forget), y.Loss(t, r.Original, r.Forget); !(oracle > original) {
		t.Errorf("the loss on the forget set is %v, %v of the original that was trained on it", oracle, original)
	}
}

// onAutoencoders has the properties of the methods of Generative.
var onAutoencoders = map[string][]unlearntest.Option{
	"latent-contrast": {unlearntest.LowersObjective(func(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 { return latentNorm(t, y, p) })},
	"scrub-latent":    nil,
	"frozen-critics":  nil,
	// How many steps it takes is left to an attacker's value.
	"extra-gradient":      {unlearntest.EpochsByBatch()},
	"extra-gradient-true": nil,
}

// abridged are shorter versions of slow methods, and settings that fit the small problem.
var abridged = map[string]unlearn.Method{
	// With the paper's alpha of 10 no weight is dampened where a sixth of the records is to be forgotten.
	"ssd-foster":           unlearn.SSDFoster{Alpha: 2},
	"rapid-retraining":     unlearn.RapidRetraining{Users: federatedUsers},
	"federated-retraining": unlearn.RapidRetraining{Users: federatedUsers, Plain: true},
	"hbfu-ascent":          unlearn.HBFU{Users: federatedUsers, Eta: 2e-3},
	"bfu":                  unlearn.BFU{Users: federatedUsers, LR: 5e-3},
	"frozen-critics":       unlearn.FrozenCritics{Epochs: 3, Critics: few},
	"extra-gradient":       unlearn.ExtraGradient{Epochs: 4, Critics: few},
	"extra-gradient-true":  unlearn.ExtraGradientTrue{Epochs: 3, Critics: few},
}

// federatedUsers is a small federation.
var federatedUsers = unlearn.Users{Count: 4, Rounds: 3, LocalEpochs: 2, ErasingEpochs: 4}

// shortened returns the method, or its abridged version.
func shortened(m unlearn.Method) unlearn.Method {
	if short, dear := abridged[m.Info().Name]; dear {
		return short
	}
	return m
}

var few = unlearn.CriticConfig{Hidden: 8, Steps: 5, Batch: 16}

// heldOutLoss is the original's objective on as many held-out records as there are to
// forget.
func heldOutLoss(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
	r := y.Request
	drawn := unlearn.Data{IDs: r.Seed.Stream(engine.StreamAuxiliary).Perm(r.HeldOut.X.Rows)[:r.Forget.X.Rows]}
	drawn.X = r.HeldOut.X.Gather(drawn.IDs)
	for _, i := range drawn.IDs {
		if r.HeldOut.Y != nil {
			drawn.Y = append(drawn.Y, r.HeldOut.Y[i])
		}
	}
	return y.Loss(t, p, drawn)
}

// onBottlenecks has the properties of the methods of Bottlenecks, which stop when they have
// forgotten.
var onBottlenecks = map[string][]unlearntest.Option{
	"blindu": {unlearntest.EpochsByBatch(), unlearntest.LowersObjective(ascends)},
	"vbu":    {unlearntest.EpochsByBatch(), unlearntest.LowersObjective(ascends)},
	"bfu":    {unlearntest.EpochsByBatch(), unlearntest.OwnBatches(), unlearntest.LowersObjective(ascends)},
}

func TestEveryMethodOfBottlenecksConforms(t *testing.T) {
	for _, m := range unlearn.Bottlenecks() {
		options, listed := onBottlenecks[m.Info().Name]
		if !listed {
			t.Errorf("the table does not know %s", m.Info().Name)
		}
		t.Run(m.Info().Name, func(t *testing.T) { unlearntest.RunBottleneck(t, shortened(m), options...) })
	}
	if len(onBottlenecks) != len(unlearn.Bottlenecks()) {
		t.Error("the table knows more than the list")
	}
}

// Methods as the published program has them pass the same suite.
func TestTheProgramsMethodsConform(t *testing.T) {
	stop := &unlearn.Stop{Batch: 0.02, Epoch: 0.1}
	ends := []unlearntest.Option{unlearntest.EpochsByBatch(), unlearntest.LowersObjective(ascends)}
	for name, m := range map[string]unlearn.Method{
		"blindu": unlearn.BlindU{Critic: 3, Epochs: 6, Coded: &unlearn.Coded{Stop: unlearn.Stop{Epoch: 0.05, Times: 2}}},
		"vbu":    unlearn.VBU{Divergence: new(0.0), Stop: stop},
	} {
		t.Run(name, func(t *testing.T) { unlearntest.RunBottleneck(t, m, ends...) })
	}
	federation := unlearn.HBFU{Users: federatedUsers, Eta: 2e-3, Stop: stop}
	federation.Portion = 0.5
	t.Run("hbfu-ascent", func(t *testing.T) { unlearntest.Run(t, federation, append(ends, unlearntest.OwnBatches())...) })
}

// latentNorm is the mean squared length of the forget set's latent means.
func latentNorm(t testing.TB, y *unlearntest.Toy, p nn.Params) float64 {
	t.Helper()
	pred, err := y.Request.Runner.Predict(p, y.Request.Forget.X)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for _, v := range pred.Outputs[loss.LatentMean].Data {
		total += float64(v) * float64(v)
	}
	return total
}

func TestEveryGenerativeMethodConforms(t *testing.T) {
	for _, m := range unlearn.Generative() {
		options, listed := onAutoencoders[m.Info().Name]
		if !listed {
			t.Errorf("the table does not know %s", m.Info().Name)
		}
		t.Run(m.Info().Name, func(t *testing.T) { unlearntest.RunGenerative(t, shortened(m), options...) })
	}
	if len(onAutoencoders) != len(unlearn.Generative()) {
		t.Error("the table knows more than the list")
	}
}
