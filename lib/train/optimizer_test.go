package train

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/nn"
)

// slower embeds an optimiser and has no WithDefaults of its own.
type slower struct {
	nn.Adam
	factor int
}

func TestAnEmbeddedOptimizerDoesNotTakeThePlaceOfTheOneAroundIt(t *testing.T) {
	if got := inForce(nn.Adam{}); got != (nn.Adam{}).WithDefaults() || got == (nn.Adam{}) {
		t.Errorf("Adam has the defaults %+v", got)
	}
	o := slower{factor: 3}
	if got := inForce(o); got != o {
		t.Errorf("the optimiser around it has the defaults %#v", got)
	}
}
