package nn

import (
	"math"
	"testing"
)

// torch 2.15.0: BatchNorm2d(1) in training on four pixels, twice.
func TestRunningStatisticsMoveAsPyTorchs(t *testing.T) {
	p := BatchNormInit("bn", 1)
	for k, batch := range []struct{ pixels, want []float64 }{
		{[]float64{1, 2, 4, 9}, []float64{0.4000000059604645, 2.1666667461395264}},
		{[]float64{0, -3, 5, 2}, []float64{0.4599999785423279, 3.0833332538604736}},
	} {
		mean, square := 0.0, 0.0
		for _, v := range batch.pixels {
			mean += v / 4
		}
		for _, v := range batch.pixels {
			square += (v - mean) * (v - mean)
		}
		UpdateRunning(p[2].Data, []float32{float32(mean)})
		UpdateRunning(p[3].Data, []float32{float32(square / 3)})
		for i, w := range batch.want {
			if got := float64(p[2+i].Data[0]); math.Abs(got-w) > 3e-7 {
				t.Errorf("after batch %d %s is %v, PyTorch has %v", k+1, p[2+i].Name, got, w)
			}
		}
	}
}

func TestStateIsSavedCopiedAndHashedButIsNoWeight(t *testing.T) {
	p := BatchNormInit("bn", 3)
	moved := p.Clone()
	moved[3].Data[1] = 5
	if p.Hash() == moved.Hash() {
		t.Error("state is not part of the hash")
	}
	if d, err := moved.Displacement(p); d != 0 || err != nil {
		t.Errorf("a running variance moved the model by %v: %v", d, err)
	}
	if p.Size() != 6 {
		t.Errorf("%d weights", p.Size())
	}
	back, err := FromFile(moved.File("x."), "x.", p)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range back {
		if v.State != (i > 1) || v.State != moved[i].State {
			t.Errorf("%s: state %v after saving and cloning", v.Name, v.State)
		}
	}
	if back.Hash() != moved.Hash() {
		t.Error("state was lost on the way through a file")
	}
}

// torch.nn.Conv2d draws kernels and biases from +-1/sqrt(in k k).
func TestConvolutionsStartWithinPyTorchsBounds(t *testing.T) {
	p := ConvInit(generator(4), "conv", 16, 50, 3, true)
	bound := 1 / math.Sqrt(16*9)
	for _, v := range p {
		var top, square float64
		for _, x := range v.Data {
			top = math.Max(top, math.Abs(float64(x)))
			square += float64(x) * float64(x)
		}
		if top > bound || top < 0.9*bound {
			t.Errorf("%s reaches %v, the bound is %v", v.Name, top, bound)
		}
		sd := bound / math.Sqrt(3)
		if got := math.Sqrt(square / float64(len(v.Data))); math.Abs(got-sd) > 4*sd/math.Sqrt(float64(len(v.Data))) {
			t.Errorf("%s has deviation %v, want %v", v.Name, got, sd)
		}
	}
	if len(ConvInit(generator(4), "conv", 1, 1, 1, false)) != 1 {
		t.Error("a bias that was not asked for")
	}
}
