// Package diffusion is SDE's case study of a generative model (appendix E, figure
// 6) on a small scale.
package diffusion

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Setting is the paper's case study of a generative model (appendix E, figure 6) on a small
// scale. A denoising network is trained on the retained half of its images. SDE then judges,
// from the output of the network's encoder, which sets of images were in training, with kernels
// of bandwidth 1 to dim.
//
// The zero value is the quick setting, which is smaller than the paper's: 500 retained and 500
// forgotten digits of MNIST and the compact U-Net of package diffusion instead of EDM's network
// on CIFAR-10, AFHQv2 and FFHQ.
//
// Choices where the paper says nothing:
//  1. The encoder's input is the image plus normal noise of standard deviation
//     Noise, drawn once per image. Noise must be positive, because c_noise is a
//     logarithm.
//  2. Sets of Subset records; Subsets of them from the retained and as many from
//     the forgotten records. References are drawn Draws times, each time with
//     new targets from the remaining records; intervals are Student's over these
//     draws. All draws share one model and one set of records, so that the
//     intervals show the variation by the choice of sets only.
//  3. The out-of-training reference comes from the published test part.
//
// A verdict that is always "in" has an F1 of 2/3 and one that is always "out" an F1 of 0, so
// that F1 alone is misleading. Accuracy, whose null is 0.5 for any mix of verdicts, is reported
// as well.
type Setting struct {
	DataSet string         `json:"data_set,omitempty"` // "": mnist; or another image set
	Records int            `json:"records,omitempty"`  // retained and as many forgotten, 0: 500
	HeldOut int            `json:"held_out,omitempty"` // of the test part, 0: 500
	Subset  int            `json:"subset,omitempty"`   // records per set, 0: 100
	Subsets int            `json:"subsets,omitempty"`  // of either kind per draw, 0: 20
	Draws   int            `json:"draws,omitempty"`    // of references, 0: 20
	Sigmas  []float64      `json:"sigmas,omitempty"`   // bandwidths, nil: 11 from 1 to dim and sqrt(dim)
	Noise   float64        `json:"noise,omitempty"`    // of the encoder's input, 0: 0.05
	Samples int            `json:"samples,omitempty"`  // images in the gallery, 0: 10
	Net     diffusion.UNet `json:"net"`                // Side and Channels follow from the data
	Loss    diffusion.EDM  `json:"loss"`               // its seed is Seed
	Fit     train.Config   `json:"fit"`                // the zero value: 60 epochs of Adam, batches of 32, a rate that falls along half a cosine
	Seed    int            `json:"seed,omitempty"`
}

// Result is the result of Setting.Run.
type Result struct {
	Setting   Setting   `json:"-"` // with defaults filled in; the store's key holds it
	DataHash  string    `json:"data_hash"`
	Synthetic bool      `json:"synthetic"`
	Dim       int       `json:"dim"` // of the encoder's output
	Sigmas    []float64 `json:"sigmas"`
	Variants  []Variant `json:"arms"`
	// History is the training loss, relative to that of the initial network.
	History []train.Epoch `json:"history"`
	// Errors are mean squared errors per pixel of the denoised images.
	Errors  []Denoised `json:"errors"`
	Gallery Gallery    `json:"gallery"`
	Runs    []string   `json:"runs"` // of the store
}

// Variant is one curve of figure 6 or one control.
type Variant struct {
	Name    string `json:"name"`
	About   string `json:"about"`
	Control bool   `json:"control"`
	// Per bandwidth, over draws of references and targets; both have null 0.5.
	F1       []stats.Estimate `json:"f1"`
	Accuracy []stats.Estimate `json:"accuracy"`
	// First is F1 of the first draw with its interval over subsets.
	First []stats.Estimate `json:"first"`
	// Undecided is the share of sets without a verdict, which count as errors.
	Undecided []float64 `json:"undecided"`
	// Gate is the share of draws that pass the paper's Mann-Whitney gate, nil for
	// methods without one.
	Gate []float64 `json:"gate,omitempty"`
}

// Denoised is the denoising error on the images of one group.
type Denoised struct {
	Group string         `json:"group"`
	Noise float64        `json:"noise"`
	MSE   stats.Estimate `json:"mse"` // Student's interval over images
}

// Gallery has images for display, rows of pixels between -1 and 1.
type Gallery struct {
	Shape                    [3]int // channels, height, width
	Clean, Noisy, Guess, New [][]float32
	NoiseShown               float64
}

// withDefaults replaces zeros by the defaults; the image's shape and the bandwidths follow from
// the data.
func (d Setting) withDefaults() Setting {
	d.DataSet = cmp.Or(d.DataSet, "mnist")
	d.Records, d.HeldOut = cmp.Or(d.Records, 500), cmp.Or(d.HeldOut, 500)
	d.Subset, d.Subsets, d.Draws = cmp.Or(d.Subset, 100), cmp.Or(d.Subsets, 20), cmp.Or(d.Draws, 20)
	d.Samples, d.Noise = cmp.Or(d.Samples, 10), cmp.Or(d.Noise, 0.05)
	d.Fit.Epochs, d.Fit.Batch = cmp.Or(d.Fit.Epochs, 60), cmp.Or(d.Fit.Batch, 32)
	if d.Fit.Schedule == nil {
		d.Fit.Schedule = train.Cosine()
	}
	d.Fit = d.Fit.WithDefaults()
	d.Loss = defaults.Fill(d.Loss)
	d.Fit.Seed, d.Loss.Seed = engine.Root(d.Seed), engine.Root(d.Seed)
	return d
}

func (d Setting) check() error {
	// A control splits the forgotten records into two halves.
	if least := 2 * d.Subset; d.Subset < 4 || d.Records/2 < least || d.HeldOut < d.Subset {
		return fmt.Errorf("diffusion: sets of %d need at least %d forgotten and %d held-out records, there are %d and %d",
			d.Subset, 2*least, d.Subset, d.Records, d.HeldOut)
	}
	if d.Subsets < 1 || d.Draws < 2 || d.Samples < 1 {
		return fmt.Errorf("diffusion: %d subsets, %d draws of references and %d samples; at least 1, 2 and 1 are needed", d.Subsets, d.Draws, d.Samples)
	}
	if !(d.Noise > 0) || math.IsInf(d.Noise, 0) {
		return fmt.Errorf("diffusion: the encoder's noise is %v, want a positive number", d.Noise)
	}
	return nil
}

// Sigmas are n bandwidths in geometric progression from 1 to dim, and sqrt(dim).
func Sigmas(dim, n int) []float64 {
	out := []float64{math.Sqrt(float64(dim))}
	for i := range n {
		out = append(out, math.Pow(float64(dim), float64(i)/float64(n-1)))
	}
	slices.Sort(out)
	return slices.CompactFunc(out, func(a, b float64) bool { return math.Abs(a-b) < 1e-9*b })
}

// Run trains the model, or takes it from the store, and judges. An interrupted training is
// continued; a finished result is read back.
func (d Setting) Run(ctx context.Context, l *lab.Lab) (*Result, error) {
	d = d.withDefaults()
	if err := d.check(); err != nil {
		return nil, err
	}
	data, err := d.load(ctx)
	if err != nil {
		return nil, err
	}
	d = d.withData(data)
	m, err := d.trained(ctx, l, data)
	if err != nil {
		return nil, err
	}
	run, err := l.Store.Do(ctx, d.evidenceKey(l.Engine, data), func(ctx context.Context, w *store.Work) error {
		ctx, task := lab.StartJob(ctx, d.evidenceJob().ID, "a denoiser on "+d.DataSet)
		defer task.Done()
		r, err := d.judge(ctx, m, data)
		if err != nil {
			return err
		}
		return w.WriteJSON("result.json", r)
	})
	if err != nil {
		return nil, err
	}
	lab.ReportDone(ctx, d.evidenceJob().ID)
	r := &Result{Setting: d}
	if err := run.JSON("result.json", r); err != nil {
		return nil, err
	}
	r.Runs = []string{m.run, run.ID}
	return r, nil
}

// withData sets what follows from the data: the image's shape and the bandwidths.
func (d Setting) withData(data *imageGroups) Setting {
	d.Net.Channels, d.Net.Side = data.shape[0], data.shape[1]
	d.Net = defaults.Fill(d.Net)
	if len(d.Sigmas) == 0 {
		d.Sigmas = Sigmas(d.Net.Encoded(), 11)
	}
	return d
}

// evidence is the configuration of the results in the store.
type evidence struct {
	Setting Setting `json:"setting"`
	Measure int     `json:"measure"` // version of package verify/sde
}

func (d Setting) evidenceKey(e *engine.Engine, data *imageGroups) store.Key {
	return d.key(e, data, "evidence/sde-diffusion", evidence{d, sde.Version})
}

// trainJob is the job of the training; evidenceJob is the job of the verdict, which processes
// every set in every draw.
func (d Setting) trainJob() lab.Job {
	return lab.Job{ID: fmt.Sprintf("train/denoiser/%s/%d/seed-%d", d.DataSet, d.Records, d.Seed), Cost: lab.Cost(d.Net, 3*d.Records*d.Fit.Epochs)}
}

func (d Setting) evidenceJob() lab.Job {
	return lab.Job{
		ID:    fmt.Sprintf("evidence/sde-diffusion/%s/%d/seed-%d", d.DataSet, d.Records, d.Seed),
		Needs: []string{d.trainJob().ID}, Cost: lab.Cost(d.Net, d.Draws*d.Subsets*d.Subset),
	}
}

// Jobs lists the training and the verdict at a scale.
func Jobs(ctx context.Context, l *lab.Lab, scale string) ([]lab.Job, error) {
	d, err := openSetting(ctx, scale)
	if err != nil {
		return nil, err
	}
	return d.jobs(ctx, l)
}

func (d Setting) jobs(ctx context.Context, l *lab.Lab) ([]lab.Job, error) {
	d = d.withDefaults()
	data, err := d.load(ctx)
	if err != nil {
		return nil, err
	}
	d = d.withData(data)
	t, err := d.training(l, data)
	if err != nil {
		return nil, err
	}
	out := []lab.Job{d.trainJob(), d.evidenceJob()}
	out[0].Work = func(ctx context.Context) (string, error) {
		m, err := d.trained(ctx, l, data)
		if err != nil {
			return "", err
		}
		return m.run, nil
	}
	out[1].Work = func(ctx context.Context) (string, error) {
		r, err := d.Run(ctx, l)
		if err != nil {
			return "", err
		}
		return r.Runs[1], nil // after the training's run
	}
	if _, err := l.Lookup(&out[0], l.TrainKey(t)); err != nil {
		return nil, err
	}
	_, err = l.Lookup(&out[1], d.evidenceKey(l.Engine, data))
	return out, err
}

func (d Setting) key(e *engine.Engine, data *imageGroups, recipe string, config any) store.Key {
	return store.Key{
		Recipe: recipe, Config: config, Seeds: map[string]int64{"root": int64(d.Seed)},
		Data: map[string]string{d.DataSet: data.hash}, Engine: e.Info().String(), Results: lab.ResultsVersion,
	}
}

// judge computes the results from the trained model.
func (d Setting) judge(ctx context.Context, m *network, data *imageGroups) (*Result, error) {
	r := &Result{Setting: d, DataHash: data.hash, Synthetic: data.synthetic, History: m.history, Dim: d.Net.Encoded(), Sigmas: d.Sigmas}
	for _, s := range r.Sigmas {
		if _, err := sde.Fixed(s).Resolve(&sde.Matrix{Cols: 1}); err != nil || s == 0 {
			return nil, fmt.Errorf("diffusion: the bandwidth %v is not a positive number", s)
		}
	}
	var err error
	if r.Variants, err = d.variants(ctx, m, data, r.Sigmas); err != nil {
		return nil, err
	}
	if r.Errors, err = d.errors(m.trained, data); err != nil {
		return nil, err
	}
	r.Gallery, err = d.gallery(ctx, m.trained, data)
	return r, err
}

// rowsOf copies a matrix into JSON's shape.
func rowsOf(m array.Matrix[float32]) [][]float32 {
	out := make([][]float32, m.Rows)
	for i := range out {
		out[i] = slices.Clone(m.Row(i))
	}
	return out
}

// MarshalJSON and UnmarshalJSON store one byte per pixel.
func (g Gallery) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedGallery{g.Shape, packRows(g.Clean), packRows(g.Noisy), packRows(g.Guess), packRows(g.New), g.NoiseShown})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (g *Gallery) UnmarshalJSON(b []byte) error {
	var s storedGallery
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	*g = Gallery{s.Shape, unpackRows(s.Clean), unpackRows(s.Noisy), unpackRows(s.Guess), unpackRows(s.New), s.NoiseShown}
	return nil
}

type storedGallery struct {
	Shape      [3]int   `json:"shape"`
	Clean      [][]byte `json:"clean"`
	Noisy      [][]byte `json:"noisy"`
	Guess      [][]byte `json:"guess"`
	New        [][]byte `json:"new"`
	NoiseShown float64  `json:"noise_shown"`
}

func packRows(rows [][]float32) [][]byte {
	out := make([][]byte, len(rows))
	for i, row := range rows {
		for _, v := range row {
			out[i] = append(out[i], byte(math.Round(127.5*(1+min(1, max(-1, float64(v)))))))
		}
	}
	return out
}

func unpackRows(rows [][]byte) [][]float32 {
	out := make([][]float32, len(rows))
	for i, row := range rows {
		for _, v := range row {
			out[i] = append(out[i], float32(float64(v)/127.5-1))
		}
	}
	return out
}
