package language

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func wave(n int, f func(i float64) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f(float64(i))
	}
	return x
}

func wavePrivacy() PrivacyEvidence {
	return PrivacyEvidence{
		Unlearned: Membership{
			Forget:  wave(17, func(i float64) float64 { return math.Sin(1.9*i) + 0.5 }),
			HeldOut: wave(13, func(i float64) float64 { return math.Sin(2.3 * i) }),
		},
		Retrained: Membership{
			Forget:  wave(17, func(i float64) float64 { return math.Sin(1.9*i+0.5) + 0.1 }),
			HeldOut: wave(13, func(i float64) float64 { return math.Sin(2.3*i + 0.2) }),
		},
	}
}

// scikit-learn 1.9.1's roc_auc_score with open-unlearning d3d7cf9e's labels (mia/utils.py); privleak of its
// privacy.py without the 1e-10, and muse_bench fcd6651d's eval.py; _s_mia of
// unlearning-depth-score fc316398, uds/privacy_eval.py.
func TestPrivacyIsThePrograms(t *testing.T) {
	e := wavePrivacy()
	checkClose(t, "AUC", must(e.Unlearned.AUC())(t), 0.6561085972850679, 1e-15)
	checkClose(t, "AUC, retrained", must(e.Retrained.AUC())(t), 0.5294117647058822, 1e-15)
	checkClose(t, "PrivLeak", must(PrivLeak{}.Value(e))(t), -26.923076923076938, 1e-13)
	checkClose(t, "bounded", must(BoundedMIA{}.Value(e))(t), 0.7606837606837604, 1e-13)
}

func TestPrivacyHasItsNullAndItsSides(t *testing.T) {
	e := wavePrivacy()
	null := PrivacyEvidence{Unlearned: e.Retrained, Retrained: e.Retrained}
	checkClose(t, "null of PrivLeak", must(PrivLeak{}.Value(null))(t), 0, 0)
	checkClose(t, "null of the bounded form", must(BoundedMIA{}.Value(null))(t), 1, 0)
	if v := must(PrivLeak{}.Value(PrivacyEvidence{Unlearned: e.Retrained, Retrained: e.Unlearned}))(t); v <= 0 {
		t.Errorf("exchanged models: %v, want above 0", v)
	}
	sets := PrivacyEvidence{
		Unlearned: Membership{Forget: e.Unlearned.HeldOut, HeldOut: e.Unlearned.Forget}, Retrained: Membership{Forget: e.Retrained.HeldOut, HeldOut: e.Retrained.Forget},
	}
	if v := must(PrivLeak{}.Value(sets))(t); v <= 0 {
		t.Errorf("exchanged sets: %v, want above 0", v)
	}
	far := Membership{Forget: []float64{2}, HeldOut: []float64{1}}
	near := Membership{Forget: []float64{1}, HeldOut: []float64{2}}
	refuses(t, failure(PrivLeak{}.Value(PrivacyEvidence{Unlearned: near, Retrained: far})), "no ratio to 0")
	refuses(t, failure(BoundedMIA{}.Value(PrivacyEvidence{Unlearned: far, Retrained: near})), "the retrained model's AUC is 0")
	checkClose(t, "clipped", must(BoundedMIA{}.Value(PrivacyEvidence{Unlearned: near, Retrained: far}))(t), 0, 0)
	refuses(t, failure(PrivLeak{}.Value(PrivacyEvidence{Unlearned: near})), "retrained model: forgotten (pos)", "pos is empty")
	refuses(t, failure(BoundedMIA{}.Value(PrivacyEvidence{Retrained: near})), "unlearned model:")
}

func waveDepth() DepthEvidence {
	e := DepthEvidence{Retrained: array.New[float64](6, 5), Unlearned: array.New[float64](6, 5)}
	for d := range 6 {
		for l := range 5 {
			e.Retrained.Row(d)[l] = 0.4*math.Sin(1.1*float64(d)+0.8*float64(l)) + 0.1
			e.Unlearned.Row(d)[l] = 0.4*math.Sin(1.1*float64(d)+0.8*float64(l)+0.5) + 0.05
		}
	}
	copy(e.Retrained.Row(2), []float64{0.05, 0.01, -0.3, 0.049, 0})
	return e
}

// The loop of unlearning-depth-score fc316398, compute_uds.py, in Python; document 2 has no layer
// above the threshold.
func TestDepthIsThePrograms(t *testing.T) {
	v := must(Depth{}.Measure(waveDepth()))(t)
	checkClose(t, "UDS", v.Value, 0.8140120797921091, 1e-14)
	nearAll(t, "documents", v.Each, []float64{0.7170204676913169, 0.6606093108951225, 1, 0.9372947041494649, 0.7551359162246409}, 1e-14)
	for k, want := range []int{0, 1, 3, 4, 5} {
		if v.Documents[k] != want {
			t.Errorf("documents %v", v.Documents)
		}
	}
}

func TestDepthHasItsNullAndItsRoles(t *testing.T) {
	e := waveDepth()
	checkClose(t, "the retrained model", must(Depth{}.Measure(DepthEvidence{Retrained: e.Retrained, Unlearned: e.Retrained}))(t).Value, 1, 1e-15)
	checkClose(t, "the full model", must(Depth{}.Measure(DepthEvidence{Retrained: e.Retrained, Unlearned: array.New[float64](6, 5)}))(t).Value, 0, 0)
	x := must(Depth{}.Measure(DepthEvidence{Retrained: e.Unlearned, Unlearned: e.Retrained}))(t)
	if math.Abs(x.Value-0.8140120797921091) < 0.02 {
		t.Errorf("exchanged models: %v", x.Value)
	}
	refuses(t, failure(Depth{}.Measure(DepthEvidence{Retrained: array.New[float64](6, 5), Unlearned: e.Unlearned})), "none of 6 documents")
	refuses(t, failure(Depth{Threshold: -1}.Measure(e)), "the threshold is -1")
	refuses(t, failure(Depth{}.Measure(DepthEvidence{Retrained: e.Retrained, Unlearned: array.New[float64](5, 5)})), "6 documents x 5 layers of the retrained model, 5 x 5")
	e.Unlearned.Data[7] = math.NaN()
	refuses(t, failure(Depth{}.Measure(e)), "drops of the unlearned model", "row 1, column 2")
}

func TestDropsAreWhatTheFullModelHadMore(t *testing.T) {
	patched := array.Matrix[float64]{Rows: 2, Cols: 2, Data: []float64{-3, -1, -2, -5}}
	d := must(Drops(FullScores{-1, -2}, patched))(t)
	nearAll(t, "drops", d.Data, []float64{2, 0, 0, 3}, 0)
	refuses(t, failure(Drops(FullScores{-1}, patched)), "1 scores of the full model, 2 rows")
	refuses(t, failure(Drops(FullScores{-1, 2}, patched)), "document 1: the full model's log-probability is above 0 (2)")
	patched.Data[1] = 0.5
	refuses(t, failure(Drops(FullScores{-1, -2}, patched)), "document 0, layer 1: the patched log-probability is 0.5")
}
