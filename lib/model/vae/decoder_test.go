// Tests of decoder.go.

package vae

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// Decoding the means is what Cells does, with every head and with clusters; another
// code is decoded into something else.
func TestDecodingTheMeansIsWhatCellsDoes(t *testing.T) {
	for name, m := range map[string]Cells{
		"plain":       {Genes: 7, Hidden: []int{6, 5}, Latent: 3},
		"conditional": {Genes: 7, Hidden: []int{6}, Latent: 3, Clusters: 2, ZeroInflated: true},
		"per gene":    {Genes: 7, Hidden: []int{6}, Latent: 3, Dispersion: PerGene},
	} {
		t.Run(name, func(t *testing.T) {
			whole, half := modeltest.OpenRunner(t, m), modeltest.OpenRunner(t, Decoder{m})
			w := model.InitialWeights(m, engine.Root(3).Stream(engine.StreamInit))
			x := array.New[float32](5, m.Inputs())
			for k := range x.Data {
				x.Data[k] = float32(1 + math.Sin(float64(k)))
			}
			p, err := whole.Predict(w, x)
			if err != nil {
				t.Fatal(err)
			}
			codes := array.New[float32](5, m.Latent+m.Clusters)
			for i := range codes.Rows {
				copy(codes.Row(i), p.Outputs[loss.LatentMean].Row(i))
				copy(codes.Row(i)[m.Latent:], x.Row(i)[m.Genes:])
			}
			again, err := half.Predict(m.DecoderWeights(w), codes)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range (Decoder{m}).Returns() {
				for k, v := range again.Outputs[o.Name].Data {
					if want := p.Outputs[o.Name].Data[k]; math.Abs(float64(v-want)) > 1e-6 {
						t.Fatalf("%s, element %d: %v, want %v", o.Name, k, v, want)
					}
				}
			}
			codes.Row(0)[0] += 2
			if again, err = half.Predict(m.DecoderWeights(w), codes); err != nil || again.Outputs[loss.Proportion].Data[0] == p.Outputs[loss.Proportion].Data[0] {
				t.Errorf("another code is decoded into the same: %v", err)
			}
		})
	}
}

// A decoder takes as many draws as Cells has behind its posterior.
func TestTheDecoderHasItsOwnDraws(t *testing.T) {
	m := Cells{Genes: 7, Hidden: []int{6, 5}, Latent: 3}
	got, all := model.RandomInputs(Decoder{m}), model.RandomInputs(m)
	if len(got) != 2 || got[0] != all[3] || got[1] != all[4] {
		t.Errorf("%v of %v", got, all)
	}
	var _ model.Architecture = defaults.Fill(Decoder{m})
}
