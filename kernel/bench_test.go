// The command lethe bench refuses wrong settings.

package kernel

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/cli"
)

func TestBenchRefusesSettingsThatMakeNoSense(t *testing.T) {
	for args, want := range map[string]string{
		"bench sde x":                              `lethe bench sde takes no arguments, got "x"`,
		"bench sde --rounds 0":                     "--rounds 0: expected at least 1",
		"bench sde --threads 0":                    "--threads 0: expected at least 1",
		"bench sde --subsets 0":                    "--subsets 0: expected at least 1",
		"bench sde --peer-subsets 0":               "--peer-subsets 0: expected at least 1",
		"bench sde --peer-type int8":               "--peer-type int8: there are float64, float32",
		"bench sde --sizes 1000":                   "--sizes 1000: expected RECORDSxACTIVATIONS",
		"bench sde --sizes 1000x512,10x0":          "--sizes 10x0: expected RECORDSxACTIVATIONS",
		"bench sde --sizes 6000x512":               "--sizes 6000x512: 6000 records, expected 4 to 5000",
		"bench sde --sizes=":                       "--sizes 0: expected at least 1",
		"bench sde --sizes 8x2,8x2":                "--sizes 8x2: given twice",
		"bench vision --networks=":                 "--networks 0: expected at least 1",
		"bench sde --sizes 3x8":                    "3 records, expected 4",
		"bench vision x":                           `lethe bench vision takes no arguments, got "x"`,
		"bench vae --likelihoods poisson":          `--likelihoods "poisson": there are mse and nb`,
		"bench vae --nonzero 100":                  "--nonzero 100: counts of a hundred, from 1 to 99",
		"bench vae --batches 128,0":                "--batches 0: expected at least 1",
		"bench ib --batches 20,0":                  "--batches 0: expected at least 1",
		"bench ib --steps 0":                       "--steps 0: expected at least 1",
		"bench worker ib 20":                       "BATCH STEPS",
		"bench vision --batch 1":                   "--batch 1: expected at least 2",
		"bench vision --steps 0":                   "--steps 0: expected at least 1",
		"bench vision --networks small-cnn,vgg":    `--networks "vgg": there are small-cnn, all-cnn, resnet-18`,
		"bench device x":                           `lethe bench device takes no arguments, got "x"`,
		"bench device --networks mlp,vgg":          `--networks "vgg": there are mlp, ft-transformer`,
		"bench device --networks mlp,mlp":          "--networks mlp: given twice",
		"bench device --networks=":                 "--networks 0: expected at least 1",
		"bench device --batch 1":                   "--batch 1: expected at least 2",
		"bench device --epochs 0":                  "--epochs 0: expected at least 1",
		"bench device --steps 0":                   "--steps 0: expected at least 1",
		"bench device --ways jit":                  "--ways jit: there are eager, compile, graph",
		"bench device --ways graph":                "--ways needs --peer PYTHON",
		"bench device --deterministic=false":       "--deterministic needs --peer PYTHON",
		"bench text --tokens 600":                  "--tokens 600: bert: records of 600 tokens, possible are 2 to 512",
		"bench text --tokens 7":                    "--tokens 7: expected at least 8",
		"bench worker device mlp 2":                "NETWORK BATCH STEPS",
		"bench worker nothing":                     `unknown task "nothing"`,
		"bench worker vision small-cnn 32":         "NETWORK BATCH STEPS",
		"bench worker sde . 40 8 4 2 sde sometime": "activations.f32",
	} {
		r := lethe(t, strings.Fields(args)...)
		if r.Code == cli.ExitOK || r.Out != "" || !strings.Contains(r.Stderr, want) {
			t.Errorf("%s: %+v, want %s", args, r, want)
		}
		if wrong := !strings.Contains(args, "worker sde"); wrong && r.Code != cli.ExitUsage {
			t.Errorf("%s: exit code %d", args, r.Code)
		}
	}
	r := lethe(t, "bench", "sde", "--sizes", "8x2", "--peer", "/nowhere/python")
	fails(t, r, cli.ExitFailure, "--peer")
}
