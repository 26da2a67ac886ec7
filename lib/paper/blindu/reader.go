package blindu

// Functions that notebooks call to open a case of BlindU, measure its methods and read the rows.

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/information"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/privacy"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// For notebooks: the functions use the first case of the scale that LETHE_SCALE names.

// OpenedCase is the first case with a seed, and its original model.
type OpenedCase struct {
	*lab.Case
	Before nn.Params // its weights
	spec   Case
}

// Open opens the first case of the scale with a seed, by default a backdoor in images; changes
// modify its setting. It trains the original, or finds it in the store.
func Open(ctx context.Context, seed int, changes ...func(*lab.Setting)) (*OpenedCase, error) {
	e, s, err := openScale()
	if err != nil {
		return nil, err
	}
	of := s.Cases[0]
	for _, change := range changes {
		change(&of.Setting)
	}
	c, err := e.Lab().Case(ctx, of.setting(seed))
	if err != nil {
		return nil, err
	}
	original, err := c.TrainedModel(ctx, c.Setting.Original())
	if err != nil {
		return nil, err
	}
	return &OpenedCase{Case: c, Before: original.Final, spec: of}, nil
}

// Normal is a change for Open: random records without a backdoor are to be forgotten.
func Normal(s *lab.Setting) { s.Forget = lab.Random{Fraction: 0.06} }

func openScale() (*paper.Env, Study, error) {
	s, err := StudyAt(paper.ScaleName())
	if err != nil {
		return nil, s, err
	}
	e, err := paper.Open()
	return e, s, err
}

// Source is the source line of figures of the case.
func (o *OpenedCase) Source() string {
	forgets := "a backdoor is to be forgotten"
	if o.Backdoor() == nil {
		forgets = "any records are to be forgotten"
	}
	return fmt.Sprintf("%s, %s; scale %s, seed %d, data %.12s", o.About.Title, forgets, paper.ScaleName(), o.Seed, o.Hash)
}

// recordsPerRow is the number of records in a row of Pictures.
const recordsPerRow = 8

// Pictures shows the first eight records of several sets, each set in a row under its label.
func (o *OpenedCase) Pictures(title string, labels []string, sets ...array.Matrix[float32]) plot.Figure {
	channels, height, width := o.About.Shape[0], o.About.Shape[1], o.About.Shape[2]
	f := plot.Images{Meta: plot.Meta{Title: title, Source: o.Source()}, Shape: [3]int{height, width, channels}, Columns: recordsPerRow}
	f.Pixels = array.New[float32](recordsPerRow*len(sets), height*width*channels)
	for k, set := range sets {
		for i := range recordsPerRow {
			to, from := f.Pixels.Row(k*recordsPerRow+i), set.Row(i)
			for at := range to {
				to[at] = from[at%channels*height*width+at/channels]
			}
			f.Labels = append(f.Labels, labels[k])
		}
	}
	return f
}

// Evaluate computes the accuracies of weights, as in a Row.
func (o *OpenedCase) Evaluate(w nn.Params) (*Row, error) {
	row := &Row{Case: o.spec.Label, Seed: o.Seed}
	return row, row.addAccuracies(o.Case, o.spec, w)
}

// Beta is a change for Open: another weight of the divergence, 0 for none.
func Beta(beta float64) func(*lab.Setting) {
	return func(s *lab.Setting) { s.Goal = lab.Compression{Beta: new(beta)} }
}

// Latent is a change for Open: codes of n variables.
func Latent(n int) func(*lab.Setting) {
	return func(s *lab.Setting) {
		b := s.Model.(ib.Bottleneck)
		b.Latent = n
		s.Model = b
	}
}

// CodeInformation is the information of codes, in nats.
type CodeInformation struct {
	// Record is an upper bound of a code's information about its record
	// (information.GaussianBound).
	Record float64
	// Label is a lower bound of a sampled code's information about the label, H(Y) + E[log p(y |
	// z)].
	Label float64
}

// Information measures the codes of the unseen records that no method uses.
func (o *OpenedCase) Information() (*CodeInformation, error) {
	test := o.Test.Gather(o.EvalRows())
	codes, err := o.Runner.Predict(o.Before, test.X)
	if err != nil {
		return nil, err
	}
	wide := func(name string) array.Matrix[float64] { return array.Convert[float64](codes.Outputs[name]) }
	bound, err := information.GaussianBound(wide(loss.LatentMean), wide(loss.LatentLogVar))
	if err != nil {
		return nil, err
	}
	logits, err := predictSampled(o.Case, o.Before, test)
	if err != nil {
		return nil, err
	}
	lost, err := stats.Mean(train.Losses(logits, test.Y))
	return &CodeInformation{bound.Value, entropy(test.Y) - lost}, err
}

// entropy is the entropy of labels, in nats.
func entropy(labels []int) (sum float64) {
	count := map[int]float64{}
	for _, y := range labels {
		count[y]++
	}
	for _, y := range slices.Sorted(maps.Keys(count)) {
		share := count[y] / float64(len(labels))
		sum -= float64(share * math.Log(share))
	}
	return sum
}

// UploadSpec says what the owner of records uploads.
type UploadSpec struct {
	Masking *privacy.Masking // nil: no masking
	Bare    bool             // the records themselves instead of their codes
}

// Send is what is uploaded for records, with the random numbers of each record's number. If the
// masking does not set Channels, a position is masked in all channels.
func (o *OpenedCase) Send(s UploadSpec, d unlearn.Data) (array.Matrix[float32], error) {
	if s.Masking != nil {
		m := *s.Masking
		m.Channels = cmp.Or(m.Channels, o.spec.channels())
		s.Masking = &m
	}
	switch {
	case !s.Bare:
		e, err := unlearn.NewErasure(o.Runner, o.Before, d, s.Masking, engine.Root(lab.UnlearnSeed+o.Shift))
		return e.Codes, err
	case s.Masking == nil:
		return d.X, nil
	}
	return maskRecords(o.Case, *s.Masking, d)
}

// Reconstruct runs an attacker that reconstructs the forgotten records from the uploads. It
// learns on the public records, which the server has, uploaded in the same way.
func (o *OpenedCase) Reconstruct(ctx context.Context, a representation.Reconstruction, s UploadSpec) (*representation.Reconstructed, error) {
	r, err := o.Request(ctx, unlearn.BlindU{})
	if err != nil {
		return nil, err
	}
	for i := range r.HeldOut.IDs {
		r.HeldOut.IDs[i] += o.Train.X.Rows // one numbering for both
	}
	known, err := o.Send(s, r.HeldOut)
	if err != nil {
		return nil, err
	}
	seen, err := o.Send(s, r.Forget)
	if err != nil {
		return nil, err
	}
	shadow := representation.Shadow{Numbers: r.HeldOut.IDs, Codes: known, Records: r.HeldOut.X, Labels: r.HeldOut.Y}
	victims := representation.Victims{Numbers: r.Forget.IDs, Codes: seen, Originals: r.Forget.X, Labels: r.Forget.Y}
	return a.Run(ctx, o.Lab.Engine, shadow, victims, r.Seed)
}

// Rows are the rows of several models and variants.
type Rows []Row

// Measure computes the rows of variants of the caller's.
func (o *OpenedCase) Measure(ctx context.Context, variants ...lab.Variant) (Rows, error) {
	var methods []unlearn.Method
	for _, a := range variants {
		methods = append(methods, a.Method)
	}
	if err := o.Precompute(ctx, methods...); err != nil {
		return nil, err
	}
	var rows Rows
	for _, a := range variants {
		row, err := rowOf(ctx, o.Case, o.spec, a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Label, err)
		}
		rows = append(rows, *row)
	}
	return rows, nil
}

// Values are the values of a variant, one per model.
func (r Rows) Values(variant string, value func(Row) float64) []float64 {
	var out []float64
	for _, row := range r {
		if row.Variant == variant && row.Diverged == "" {
			out = append(out, value(row))
		}
	}
	return out
}
