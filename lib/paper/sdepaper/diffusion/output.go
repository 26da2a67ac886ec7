package diffusion

// The table of the denoiser's verdicts and Figure 6.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The names of the recipe and the paper's claim.
const (
	ID    = "sde/figure6"
	Title = "SDE Fig. 6. In or out of a denoiser's training set, by bandwidth"
	Doc   = "A denoising network is trained on half of the images. SDE judges sets of retained and of forgotten images from the " +
		"output of the network's encoder. " +
		"The paper finds an F1 that rises steeply from sigma 1 to about 100 and stays high, about 0.8 at sqrt(dim). " +
		"Closed form and spread only see the same activations and no pair of halves; the other controls hold nothing that training " +
		"could have left. One that reaches SDE's curve shows what the curve is made of."
)

// SettingAt is the setting of a scale: quick is the zero value, standard is larger. The paper's
// own size, EDM's network on CIFAR-10, AFHQv2 and FFHQ, is not included: its training takes days
// on eight large GPUs.
func SettingAt(scale string) (Setting, error) {
	switch scale {
	case "quick", "hour":
		return Setting{}, nil
	case "standard":
		d := Setting{Records: 2000, HeldOut: 2000, Subset: 400, Net: diffusion.UNet{Width: 32}}
		d.Fit.Epochs = 200
		return d, nil
	}
	return Setting{}, fmt.Errorf("%s: no scale %q; the scales are quick, which is also hour, and standard (the paper's own network and "+
		"data sets are beyond this recipe)", ID, scale)
}

// openSetting is the setting of a scale on this machine. If MNIST is not on it, generated glyphs
// replace it, and the table says so.
func openSetting(ctx context.Context, scale string) (Setting, error) {
	d, err := SettingAt(scale)
	if err != nil {
		return d, err
	}
	_, err = d.withDefaults().load(ctx)
	if errors.Is(err, datasets.ErrMissing) {
		// Glyphs' test part holds 1,000 images, and their training part 3,000.
		d.DataSet, d.Records, d.HeldOut = "glyphs", min(d.Records, 1500), min(d.HeldOut, 1000)
		d.Subset = min(d.Subset, 300)
		return d, nil
	}
	return d, err
}

// Output makes figure 6.
func Output(ctx context.Context, l *lab.Lab, scale string) (*report.Table, plot.Figure, error) {
	d, err := openSetting(ctx, scale)
	if err != nil {
		return nil, nil, err
	}
	d.Seed += l.Shift
	r, err := d.Run(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	p := r.provenance(l.Engine, scale)
	f, err := r.Figure(p)
	return r.Table(p), f, err
}

func (r *Result) provenance(e *engine.Engine, scale string) report.Provenance {
	h := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(r.Runs)), "\n")))
	info := e.Info()
	return report.Provenance{
		Scale: scale, Seeds: []int64{int64(r.Setting.Seed)}, Engine: info.Kind, Kernel: info.Kernel, Device: info.Device.String(),
		ResultsVersion: fmt.Sprint(lab.ResultsVersion),
		Data:           map[string]string{r.Setting.DataSet: r.DataHash}, Command: "lethe figure sde 6 --scale " + scale,
		Runs: len(r.Runs), RunsHash: hex.EncodeToString(h[:]),
	}
}

// bandwidthIndex is the index of the bandwidth nearest to sigma on a logarithmic axis.
func (r *Result) bandwidthIndex(sigma float64) int {
	best := 0
	for k, s := range r.Sigmas {
		if math.Abs(math.Log(s/sigma)) < math.Abs(math.Log(r.Sigmas[best]/sigma)) {
			best = k
		}
	}
	return best
}

// shownBandwidths are the bandwidths that have a column: the smallest, about 10, sqrt(dim),
// and the largest.
func (r *Result) shownBandwidths() []int {
	dim := float64(r.Dim)
	ks := []int{0, r.bandwidthIndex(10), r.bandwidthIndex(math.Sqrt(dim)), len(r.Sigmas) - 1}
	slices.Sort(ks)
	return slices.Compact(ks)
}

// Table lists F1 and accuracy of SDE and its controls at a few bandwidths.
func (r *Result) Table(p report.Provenance) *report.Table {
	t := &report.Table{ID: ID, Title: Title, Caption: Doc, Provenance: p,
		Columns: []report.Column{{Name: "method or control"}}}
	for _, k := range r.shownBandwidths() {
		t.Columns = append(t.Columns, report.Column{Name: fmt.Sprintf("F1, sigma %.4g", r.Sigmas[k])})
	}
	root := r.bandwidthIndex(math.Sqrt(float64(r.Dim)))
	t.Columns = append(t.Columns,
		report.Column{Name: "accuracy, sqrt(dim)", Note: "Share of right verdicts; null 0.5. F1 is 2/3 for who always says in and 0 for who always says out."},
		report.Column{Name: "F1 of one draw, sqrt(dim)", Note: "First draw of references; interval over its subsets, which overlap, hence too narrow."},
		report.Column{Name: "gate", Note: "Share of draws that pass the paper's Mann-Whitney gate at sqrt(dim)."})
	for _, a := range r.Variants {
		row := report.Row{Cells: []report.Cell{report.Str(a.Name)}}
		if a.Control {
			row.Kind = report.Control
		}
		for _, k := range r.shownBandwidths() {
			row.Cells = append(row.Cells, report.Est(a.F1[k], 2))
		}
		gate := report.Gap("the method has none")
		if a.Gate != nil {
			gate = report.Num(a.Gate[root], 2)
		}
		row.Cells = append(row.Cells, report.Est(a.Accuracy[root], 2), report.Est(a.First[root], 2), gate)
		t.Rows = append(t.Rows, row)
	}
	t.Notes = r.notes()
	return t
}

func (r *Result) notes() []string {
	d, last := r.Setting, r.History[len(r.History)-1]
	out := []string{
		fmt.Sprintf("One model: a U-Net with %d values behind its encoder, trained for %d epochs on %d images of %s; its loss fell "+
			"from %.2f in the first epoch to %.2f. The paper trains EDM's network (dim 16384) on CIFAR-10, AFHQv2 and FFHQ.",
			r.Dim, last.Epoch, d.Records, d.DataSet, r.History[0].Loss, last.Loss),
		fmt.Sprintf("Sets of %d records; %d draws of references, %d subsets of either kind in each. Intervals are Student's over the "+
			"draws, which share the model and the records. The encoder sees images with noise of standard deviation %g (our choice).",
			d.Subset, d.Draws, d.Subsets, d.Noise),
	}
	for _, a := range r.Variants {
		out = append(out, a.Name+": "+a.About+".")
	}
	var parts []string
	for _, a := range r.Variants {
		parts = append(parts, fmt.Sprintf("%s %.2f", a.Name, a.Undecided[0]))
	}
	out = append(out, fmt.Sprintf("Share of sets without a verdict, which count as wrong, at sigma %.3g, where a kernel sees next to "+
		"no neighbours: %s.", r.Sigmas[0], strings.Join(parts, ", ")))
	parts = nil
	for _, e := range r.Errors {
		parts = append(parts, fmt.Sprintf("%s at noise %g: %.4f [%.4f, %.4f]", e.Group, e.Noise, e.MSE.Value, e.MSE.Low, e.MSE.High))
	}
	out = append(out, "Mean squared error per pixel of the denoised image; a network that knows its training images errs "+
		"less on them: "+strings.Join(parts, "; ")+".")
	if r.Synthetic {
		out = append(out, "Generated glyphs stand in for MNIST, whose files are not on this machine. Get them with: lethe data get mnist")
	}
	return out
}

// Figure draws F1 and accuracy against the bandwidth, and below them the network's outputs for
// held-out images and for noise.
func (r *Result) Figure(p report.Provenance) (plot.Figure, error) {
	panels := []plot.Figure{
		r.curves("F1 of the verdict in", "F1", func(a Variant) []stats.Estimate { return a.F1 }),
		r.curves("share of right verdicts", "accuracy", func(a Variant) []stats.Estimate { return a.Accuracy }),
	}
	images, err := r.images()
	if err != nil {
		return nil, err
	}
	return plot.Panels{
		Meta: plot.Meta{Title: Title, Source: p.Line(),
			Caption: Doc + " Bands: 95 % intervals over draws of references, of one model. Sigma = sqrt(dim) is the paper's rule."},
		Columns: 1, Figures: append(panels, images),
	}, nil
}

func (r *Result) curves(title, label string, of func(Variant) []stats.Estimate) plot.Figure {
	zero, one := 0.0, 1.0
	f := plot.Curves{Meta: plot.Meta{Title: title, Height: 280}, X: plot.Axis{Label: "bandwidth sigma", Log: true},
		Y: plot.Axis{Label: label, Min: &zero, Max: &one}, Null: &plot.Null{Value: 0.5, Label: "chance"},
		Marks: []plot.Mark{{X: math.Sqrt(float64(r.Dim)), Label: "sqrt(dim)"}}}
	for _, a := range r.Variants {
		c := plot.Curve{Name: a.Name, X: r.Sigmas}
		banded := true
		for _, e := range of(a) {
			banded = banded && e.HasInterval()
			c.Y, c.Low, c.High = append(c.Y, e.Value), append(c.Low, e.Low), append(c.High, e.High)
		}
		if !banded {
			c.Low, c.High = nil, nil
		}
		f.Curves = append(f.Curves, c)
	}
	return f
}

// images is a grid with a row each of held-out images, the same with noise, the denoised ones,
// and new ones.
func (r *Result) images() (plot.Figure, error) {
	g := r.Gallery
	h, w, c := g.Shape[1], g.Shape[2], g.Shape[0]
	f := plot.Images{Meta: plot.Meta{Title: fmt.Sprintf("Held-out images, the same with noise %g, denoised, and images drawn out of noise", g.NoiseShown)},
		Shape: [3]int{h, w, c}, Black: -1, White: 1, Columns: len(g.Clean)}
	f.Pixels = array.Matrix[float32]{Cols: h * w * c}
	for _, group := range []struct {
		label string
		rows  [][]float32
	}{{"held out", g.Clean}, {"noisy", g.Noisy}, {"denoised", g.Guess}, {"drawn", g.New}} {
		for _, row := range group.rows {
			if len(row) != h*w*c {
				return nil, fmt.Errorf("%s: an image of %d values in the gallery, want %d", ID, len(row), h*w*c)
			}
			// The figure needs pixel by pixel, the data are channel by channel.
			for i := range h * w {
				for k := range c {
					f.Pixels.Data = append(f.Pixels.Data, row[k*h*w+i])
				}
			}
			f.Pixels.Rows++
			f.Labels = append(f.Labels, group.label)
		}
	}
	return f, nil
}
