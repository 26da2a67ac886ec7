package tabular

import "testing"

// Golden values: torch 2.15.0, functional linear, layer_norm and relu in float32,
// gradients by autograd.
func TestResMLPIsPyTorchs(t *testing.T) {
	checkGolden(t, ResMLP{Features: 3, Outputs: 2, Width: 8}, golden{
		logits: []float64{
			-0.5396349, 0.4648138, -0.5899223, 0.4279332, -0.5489329, 0.4694794, -0.5830313, 0.4228869,
		},
		embedding: []float64{
			0.8204775, 1.227538, 0.9443613, 0, 0, 0, 0, 0,
		},
		loss: 0.8127353,
		norms: []float64{
			0.01004526, 0.02033781, 0.01562452, 0.03571507, 0.01786014, 0.009720904, 0.05920664, 0.007983508,
			0.0221848, 0.02293937, 0.00950994, 0.007129846, 0.01560882, 0.008026792, 0.1511885, 0.1780621,
			0.5739981, 0.3299964,
		},
	})
}
