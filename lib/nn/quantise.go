package nn

import (
	"fmt"
	"math"
)

// Quantised returns the weights as a quantised copy of a model has them: those of every matrix, or tensor
// of more axes, as whole numbers of so many bits, 2 to 16, times a scale of its row, in float32. A row
// is what one entry of the first axis has: the weights of one output, or a token's embedding. With the
// row's largest magnitude M
//
//	scale = M / L,   L = 2^(bits-1) - 1,   w' = scale round(w / scale)
//
// which is symmetric round-to-nearest, halves to even, without the level -L-1. Vectors, such as biases,
// and state stay as they are. p is not changed.
//
// Differences from the quantisation that is customary for language models (LLM.int8(), GPTQ): (1)
// embeddings are rounded too, of which one is the output layer here; (2) a row has one scale, no groups
// of 128 weights; (3) no outliers are left out and nothing is calibrated.
func (p Params) Quantised(bits int) (Params, error) {
	if bits < 2 || bits > 16 {
		return nil, fmt.Errorf("weights of %d bits, possible are 2 to 16", bits)
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("weights to be rounded: %w", err)
	}
	out, levels := p.Clone(), float64(int(1)<<(bits-1)-1)
	for _, v := range out {
		if v.State || len(v.Shape) < 2 || len(v.Data) == 0 {
			continue
		}
		width := len(v.Data) / v.Shape[0]
		for from := 0; from < len(v.Data); from += width {
			roundRow(v.Data[from:from+width], levels)
		}
	}
	return out, nil
}

// roundRow rounds a row to whole multiples of its largest magnitude over levels.
func roundRow(row []float32, levels float64) {
	most := 0.0
	for _, w := range row {
		most = max(most, math.Abs(float64(w)))
	}
	if most == 0 {
		return
	}
	scale := most / levels
	for i, w := range row {
		row[i] = float32(scale * math.RoundToEven(float64(w)/scale))
	}
}
