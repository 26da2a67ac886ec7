package tabular

import (
	"fmt"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
)

// Golden values: torch 2.15.0, functional multi_head_attention_forward (key bias
// 0), layer_norm and linear in float32 on all tokens of all blocks, gradients by
// autograd.
func TestFTTransformerIsPyTorchs(t *testing.T) {
	checkGolden(t, FTTransformer{Features: 3, Outputs: 2, Width: 8, Heads: 2}, golden{
		logits: []float64{
			0.7644105, 1.184453, -0.4425292, 0.5502905, 0.7125411, 1.228843, 0.3238702, 0.6187258,
		},
		embedding: []float64{
			1.22414, 1.002422, 0.6010777, 0.7738834, 0.8866341, 0.1437794, 0, 0,
		},
		loss: 0.6399044,
		norms: []float64{
			0.5771089, 0.6040115, 0.1244111, 0.003112898, 0.001637119, 0.003991416, 0.4723225, 0.1960792,
			0.7696669, 0.1259966, 0.6278791, 0.5392202, 0.2808056, 0.1479426, 0.3201674, 0.168756,
			0.5263706, 0.1092986, 0.6581825, 0.6167046, 0.01802678, 0.009867624, 0.06357913, 0.3377981,
			0.1976794, 0.3984641, 0.1069404, 1.442131, 1.152068, 0.6337294, 0.329988, 0.4033819,
			0.2099928, 0.9508365, 0.1277334, 0.4682612, 0.6770626, 0.002867992, 0.001244234, 0.01283637,
			0.4208933, 0.1989911, 0.7669735, 0.1215972, 0.5728481, 0.6166714, 0.4148311, 0.1760674,
			0.5842957, 0.2427103, 0.5103946, 0.1078294, 0.07673886, 0.1039029, 0.1989982, 0.1883043,
		},
	})
}

func TestFTTransformersDefaultsAreItsDocuments(t *testing.T) {
	m := FTTransformer{Features: 3, Outputs: 2}
	const width, hidden, tokens = 128, 170, 4
	var got []int
	for i, mask := range model.RandomInputs(m) {
		got = append(got, mask.Units)
		if want := []float64{0.2, 0.1}[i%2]; mask.Rate != want {
			t.Errorf("mask %d has rate %v, want %v", i, mask.Rate, want)
		}
	}
	want := []int{4 * tokens * tokens, hidden * tokens, 4 * tokens * tokens, hidden * tokens, 4 * tokens, hidden}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("units per record %v, want %v", got, want)
	}
	attention := 4*width*width + 3*width
	ffn := 2*(width*hidden+hidden) + hidden*width + width
	norms := 2 + 3 + 1 // of attention, of feed-forward layers, before the head
	size := (2*3+1)*width + 3*(attention+ffn) + norms*2*width + 2*width + 2
	if got := weights(m, 1).Size(); got != size {
		t.Errorf("%d weights, want %d", got, size)
	}
	for i, mask := range model.RandomInputs((FTTransformer{Features: 3, Outputs: 2, Attention: new(0.0), Dropout: new(0.0)})) {
		if mask.Rate != 0 {
			t.Errorf("switched off, mask %d has rate %v", i, mask.Rate)
		}
	}
}

// A column's token is the same whatever its place, so that exchanging two
// columns together with their parameters changes nothing.
func TestFTTransformerDoesNotSeeTheOrderOfColumns(t *testing.T) {
	m := FTTransformer{Features: 3, Outputs: 2, Width: 8, Heads: 2}
	r := modeltest.OpenRunner(t, m)
	p := weights(m, 1)
	x, _ := toy(5, 3)
	before, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range x.Rows {
		x.Row(i)[0], x.Row(i)[2] = x.Row(i)[2], x.Row(i)[0]
	}
	for _, v := range p[:2] {
		for c := range 8 {
			v.Data[c], v.Data[16+c] = v.Data[16+c], v.Data[c]
		}
	}
	after, err := r.Predict(p, x)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range before.Logits().Data {
		if math.Abs(float64(v-after.Logits().Data[i])) > 1e-6 {
			t.Errorf("logit %d was %v and is %v", i, v, after.Logits().Data[i])
		}
	}
}
