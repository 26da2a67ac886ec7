package fishing

// The terms of Proposition 1.

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/utility"
	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

// Proposition has the terms of Proposition 1 for the head of the decoder's mean, and their
// measured values.
type Proposition struct {
	fisher.Factors
	// From the data: the cosines of mean squared residuals and of mean squared hidden units, and
	// their product.
	DataSigma   float64 `json:"data_sigma"`
	DataNu      float64 `json:"data_nu"`
	DataProduct float64 `json:"data_product"`
	// Linear is the cosine of a decoder without the softmax that has the same residuals and
	// hidden units, record by record.
	Linear float64 `json:"linear"`
	// Cosines of the head's profiles with those of the data, for the forgotten cells and for the
	// others.
	SigmaForget float64 `json:"sigma_forget"`
	SigmaOthers float64 `json:"sigma_others"`
	NuForget    float64 `json:"nu_forget"`
	NuOthers    float64 `json:"nu_others"`
	// Shares of the first singular value in the squared Frobenius norm.
	FirstForget float64 `json:"first_forget"`
	FirstOthers float64 `json:"first_others"`
	// The cosines by gene: median, share above 0.5, and the number of genes that have one.
	GeneMedian float64 `json:"gene_median"`
	GeneShare  float64 `json:"gene_share"`
	Genes      int     `json:"genes"`
}

// measureProposition measures an autoencoder; own and others are the exact information of the
// forgotten cells and of the others.
func measureProposition(s comparedModel, k cellType, own, others fisher.Diagonal) (*Proposition, error) {
	a, err := own.Tensor(head)
	if err != nil {
		return nil, err
	}
	b, err := others.Tensor(head)
	if err != nil {
		return nil, err
	}
	p := &Proposition{}
	if p.Factors, err = fisher.Factorise(a, b); err != nil {
		return nil, err
	}
	for _, m := range []struct {
		to *float64
		of fisher.Tensor
	}{{&p.FirstForget, a}, {&p.FirstOthers, b}} {
		shares, err := fisher.Spectrum(m.of)
		if err != nil {
			return nil, err
		}
		*m.to = shares[0]
	}
	if err := p.addGenes(a, b); err != nil {
		return nil, err
	}
	return p, p.addDataStats(s, k, a, b)
}

func (p *Proposition) addGenes(a, b fisher.Tensor) error {
	cosines, err := fisher.RowCosines(a, b)
	if err != nil {
		return err
	}
	cosines = slices.DeleteFunc(cosines, math.IsNaN)
	p.Genes = len(cosines)
	if p.GeneMedian, err = stats.Median(cosines); err != nil {
		return err
	}
	p.GeneShare = stats.Share(cosines, "genes", func(c float64) bool { return c > 0.5 }).Value
	return nil
}

// addDataStats adds the terms that follow from the data.
func (p *Proposition) addDataStats(s comparedModel, k cellType, own, others fisher.Tensor) error {
	f, err := s.decodedStats(k.cells)
	if err != nil {
		return err
	}
	r, err := s.decodedStats(k.other)
	if err != nil {
		return err
	}
	if p.DataSigma, p.DataNu, p.DataProduct, err = f.moments.Cosines(r.moments); err != nil {
		return err
	}
	factors, err := fisher.Factorise(f.linear, r.linear)
	if err != nil {
		return err
	}
	p.Linear = factors.Cosine
	if p.SigmaForget, p.NuForget, _, err = fisher.TensorMarginals(own).Cosines(f.moments); err != nil {
		return err
	}
	p.SigmaOthers, p.NuOthers, _, err = fisher.TensorMarginals(others).Cosines(r.moments)
	return err
}

// decodedMoments are a decoder's moments on some cells: profiles of residuals and hidden units,
// and the information of a linear decoder with both.
type decodedMoments struct {
	moments fisher.Marginals
	linear  fisher.Tensor
}

func (s comparedModel) decodedStats(rows []int) (d decodedMoments, err error) {
	m, ok := defaults.Fill(s.Arch).(vae.Cells)
	if !ok {
		return d, fmt.Errorf("%s is not an autoencoder of cells", s.Arch.Name())
	}
	x := s.Train.X.Gather(rows)
	last := fmt.Sprintf("decoder.%d", len(m.Hidden)-1)
	out, err := s.Runner.PredictNamed(s.weights, x, last)
	if err != nil {
		return d, err
	}
	hidden, share := array.Convert[float64](out.Layers[last]), out.Outputs[loss.Proportion]
	residuals := array.New[float64](x.Rows, x.Cols)
	for i, size := range utility.LibrarySizes(x) {
		for j, v := range x.Row(i) {
			residuals.Row(i)[j] = float64(v) - float64(size*float64(share.Row(i)[j]))
		}
	}
	if d.moments, err = fisher.MomentMarginals(residuals, hidden); err != nil {
		return d, err
	}
	d.linear, err = fisher.Linear(residuals, hidden)
	return d, err
}
