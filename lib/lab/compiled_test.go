// Compiled networks are identified by type and fields.

package lab

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
)

type (
	one   struct{ tabular.OneHidden }
	other struct{ tabular.OneHidden }
)

// A compiled network is found by its type and fields: another type with the same name and
// fields is another network, also inside an interface.
func TestACompiledNetworkIsThatOfItsType(t *testing.T) {
	l := newLab(t)
	of := tabular.OneHidden{Features: 2, Outputs: 2, Hidden: 3}
	compiled := map[*model.Runner]int{}
	for i, arch := range []model.Architecture{
		of, one{of}, other{of}, tabular.OneHidden{Features: 2, Outputs: 2, Hidden: 4},
		ib.Bottleneck{Features: 4, Outputs: 2, Latent: 2, Compressor: ib.MLP{Hidden: 3}}, ib.Bottleneck{Features: 4, Outputs: 2, Latent: 2, Approximator: ib.MLP{Hidden: 3}},
	} {
		r, err := l.runner(arch)
		if err != nil {
			t.Fatal(err)
		}
		again, err := l.runner(arch)
		if err != nil || again != r {
			t.Errorf("network %d is compiled again (%v)", i, err)
		}
		if before, twice := compiled[r]; twice {
			t.Errorf("network %d is that of %d", i, before)
		}
		compiled[r] = i
	}
}
