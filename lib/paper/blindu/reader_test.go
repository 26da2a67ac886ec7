package blindu

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// smallCase is a change that makes a case small.
func smallCase(s *lab.Setting) { s.Data, s.Fit.Epochs = lab.Limit(s.Data, 900, 400), 12 }

func openCase(t *testing.T, changes ...func(*lab.Setting)) *OpenedCase {
	t.Helper()
	t.Setenv("LETHE_DATA", t.TempDir())
	o, err := Open(t.Context(), 0, append(changes, smallCase)...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// useOwnStore keeps what a test trains.
func useOwnStore(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	t.Setenv(paper.ScaleEnv, "quick")
}

// The information of codes agrees with equation 2's divergence and the losses of sampled codes;
// a larger beta lowers both.
func TestWhatCodesSay(t *testing.T) {
	useOwnStore(t)
	o := openCase(t, Normal, Latent(4))
	if b := o.Problem.Arch.(ib.Bottleneck); b.Latent != 4 || o.Backdoor() != nil || len(o.Forget) != 54 {
		t.Fatalf("%d variables, backdoor %v, %d records to forget", b.Latent, o.Backdoor(), len(o.Forget))
	}
	said, err := o.Information()
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.Runner.Predict(o.Before, o.Test.Gather(o.EvalRows()).X)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, mu := range p.Outputs[loss.LatentMean].Data {
		s := float64(p.Outputs[loss.LatentLogVar].Data[i])
		sum += (float64(mu)*float64(mu) + math.Exp(s) - s - 1) / 2
	}
	if want := sum / float64(p.Logits().Rows); math.Abs(said.Record-want) > 1e-9*want {
		t.Errorf("%v nats of the record, want %v", said.Record, want)
	}
	if said.Label < 0.3 || said.Label > math.Log(10) {
		t.Errorf("%v nats of the label", said.Label)
	}
	narrow, err := openCase(t, Normal, Latent(4), Beta(10)).Information()
	if err != nil || narrow.Record > said.Record/10 || narrow.Label > said.Label/2 {
		t.Errorf("with beta 10: %+v, %v; with the paper's: %+v", narrow, err, said)
	}
	if open, err := openCase(t, Normal, Latent(4), Beta(0)).Information(); err != nil || open.Record < said.Record {
		t.Errorf("with beta 0: %+v, %v; with the paper's: %+v", open, err, said)
	}
}

func TestEntropy(t *testing.T) {
	for want, labels := range map[float64][]int{0: {3, 3, 3}, math.Ln2: {0, 7, 0, 7}, 1.5 * math.Ln2: {0, 0, 1, 2}} {
		if got := entropy(labels); math.Abs(got-want) > 1e-15 {
			t.Errorf("%v: %v nats, want %v", labels, got, want)
		}
	}
}

// What is sent is what a request's owner uploads; an attacker reconstructs less from less.
func TestWhatIsSentAndWhatIsDrawnOfIt(t *testing.T) {
	useOwnStore(t)
	o := openCase(t, Normal)
	r, err := o.Request(t.Context(), unlearn.BlindU{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := unlearn.BlindU{}.PrepareRequest(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	send := func(s UploadSpec) []float32 {
		x, err := o.Send(s, r.Forget)
		if err != nil {
			t.Fatal(err)
		}
		return x.Data
	}
	if codes := send(UploadSpec{Masking: &privacy.Masking{}}); !slices.Equal(codes, b.Erasure.Codes.Data) {
		t.Error("the codes are not those of the request")
	}
	if codes := send(UploadSpec{}); slices.Equal(codes, b.Erasure.Codes.Data) {
		t.Error("codes of records that are not masked are those of masked ones")
	}
	if bare := send(UploadSpec{Bare: true}); !slices.Equal(bare, r.Forget.X.Data) {
		t.Error("bare records that are not masked are changed")
	}
	black := 0
	for i, v := range send(UploadSpec{Masking: &privacy.Masking{}, Bare: true}) {
		if v != r.Forget.X.Data[i] {
			black++
		}
		if v != 0 && v != r.Forget.X.Data[i] {
			t.Fatalf("pixel %d is %v, and was %v", i, v, r.Forget.X.Data[i])
		}
	}
	if share := float64(black) / float64(len(r.Forget.X.Data)); share < 0.25 || share > 0.41 {
		t.Errorf("%v of the pixels are black that were not", share)
	}
	patient := representation.Reconstruction{Epochs: 60, Batch: 50, LR: 1e-3, Standardised: true}
	var gains []float64
	for _, s := range []UploadSpec{{Bare: true}, {Masking: &privacy.Masking{}}} {
		d, err := o.Reconstruct(t.Context(), patient, s)
		if err != nil {
			t.Fatal(err)
		}
		gains = append(gains, d.Gain.Value)
	}
	if gains[0] <= gains[1] || gains[0] <= 0 {
		t.Errorf("drawn from records: nearer than their labels' mean by %v, from masked codes: %v", gains[0], gains[1])
	}
}

// Rows measured in a notebook are those of the tables.
func TestAReadersRows(t *testing.T) {
	useOwnStore(t)
	o := openCase(t)
	if source := o.Source(); !strings.Contains(source, "a backdoor") || !strings.Contains(source, "seed 0") {
		t.Errorf("source %q", source)
	}
	forgotten := o.Records(o.Forget).X
	f := o.Pictures("Twice", []string{"a", "b"}, forgotten, o.Test.X).(plot.Images)
	if got := f.Pixels.Row(9); !slices.Equal(got, o.Test.X.Row(1)) || !slices.Equal(f.Pixels.Row(0), forgotten.Row(0)) || f.Labels[9] != "b" || f.Labels[7] != "a" {
		t.Errorf("the pictures are not those of the records, labels %q", f.Labels)
	}
	o.About.Shape = [3]int{2, 16, 8} // two channels: the second half of a record goes between the first
	if row := o.Pictures("", []string{"a"}, forgotten).(plot.Images).Pixels.Row(0); row[2] != forgotten.Row(0)[1] || row[3] != forgotten.Row(0)[129] {
		t.Errorf("channels: %v", row[:4])
	}
	o.About.Shape = [3]int{1, 16, 16}
	rows, err := o.Measure(t.Context(), lab.Variant{Label: Original, Method: unlearn.NoOp{}, Control: true}, lab.Variant{Label: WithoutReplacement, Method: unlearn.BlindU{Epochs: 1}})
	if err != nil || len(rows) != 2 || rows[1].Steps == 0 {
		t.Fatalf("%+v, %v", rows, err)
	}
	row := rows[0]
	said, err := o.Evaluate(o.Before)
	if err != nil {
		t.Fatal(err)
	}
	said.Variant, said.Control, said.Forget, said.Train, said.Judged, said.Weights = row.Variant, row.Control, row.Forget, row.Train, row.Judged, row.Weights
	if *said != row || row.Erased < 0.8 {
		t.Errorf("the original is %+v, its weights %+v", row, *said)
	}
	rows = Rows{{Variant: "a", Test: 1}, {Variant: "b", Test: 2}, {Variant: "a", Test: 3, Diverged: "yes"}, {Variant: "a", Test: 4}}
	if got := rows.Values("a", func(r Row) float64 { return r.Test }); !slices.Equal(got, []float64{1, 4}) {
		t.Errorf("rows of a: %v", got)
	}
}
