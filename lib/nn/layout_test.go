package nn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Every layer of images, on an image of 4 channels and 6 x 8 pixels, with the
// weights w [4, 4, 3, 3] and b [4].
var imageLayers = map[string]func(t *Tape, m Image, w, b *Node) Image{
	"convolution":                 func(t *Tape, m Image, w, b *Node) Image { return Conv2D{Pad: 1}.Apply(t, m, w, b) },
	"convolution that moves by 2": func(t *Tape, m Image, w, b *Node) Image { return Conv2D{Stride: 2, Pad: 1}.Apply(t, m, w, nil) },
	"bias":                        func(t *Tape, m Image, w, b *Node) Image { return m.AddBias(t, b) },
	"ReLU":                        func(t *Tape, m Image, w, b *Node) Image { return m.ReLU(t) },
	"sum with the other layout":   func(t *Tape, m Image, w, b *Node) Image { return m.Add(t, m.channelsFirst(t)) },
	"batch normalisation":         func(t *Tape, m Image, w, b *Node) Image { return BatchNorm2D(t, m, b, b, b, b, BatchNormEps) },
	"group normalisation":         func(t *Tape, m Image, w, b *Node) Image { return GroupNorm(t, m, 2, b, b, 1e-5) },
	"global mean":                 func(t *Tape, m Image, w, b *Node) Image { return GlobalMean(t, m) },
	"maximum":                     func(t *Tape, m Image, w, b *Node) Image { return Pool2D{Size: 2}.Max(t, m) },
	"mean":                        func(t *Tape, m Image, w, b *Node) Image { return Pool2D{Size: 2}.Mean(t, m) },
	"upsampling":                  func(t *Tape, m Image, w, b *Node) Image { return Upsample2(t, m) },
	"channels beside others":      func(t *Tape, m Image, w, b *Node) Image { return Concat(t, m, m.ReLU(t)) },
	"a number per record":         func(t *Tape, m Image, w, b *Node) Image { return m.AddPerRecord(t, GlobalMean(t, m).Join(t)) },
	"a convolution after an other": func(t *Tape, m Image, w, b *Node) Image {
		return Conv2D{}.Apply(t, Conv2D{Pad: 1}.Apply(t, m, w, b), w, nil)
	},
}

func TestTheLayoutOfAnImageChangesNoLayer(t *testing.T) {
	const c, h, w, n = 4, 6, 8, 5
	in := []*tensors.Tensor{doubles(1, c*h*w, n), doubles(2, c, c, 3, 3), doubles(3, c)}
	for name, layer := range imageLayers {
		t.Run(name, func(t *testing.T) {
			got := execute64(t, func(in []*Node) []*Node {
				var all []*Node
				for _, last := range []bool{false, true} {
					tape := &Tape{Training: true}
					m := NewImage(tape, in[0], c, h, w)
					if last {
						m = m.ChannelsLast(tape)
					}
					if m.Last != last {
						t.Fatalf("last: %v", m.Last)
					}
					y := layer(tape, m, in[1], in[2]).Join(tape)
					v := Sin(IotaFull(y.Graph(), y.Shape())) // an adjoint without symmetry
					all = append(append(all, y), tape.Backward(Adjoints{y: v}, in)...)
				}
				return all
			}, in...)
			half := len(got) / 2
			for i, what := range []string{"output", "dx", "dw", "db"} {
				checkClose(t, what, got[half+i], got[i], 1e-12)
			}
		})
	}
}
