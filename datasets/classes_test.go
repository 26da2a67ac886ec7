package datasets

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// What a loader reads has the classes of the description, in their order; where only the files name
// them, as many.
func TestATableOfOtherClassesThanDescribedIsRefused(t *testing.T) {
	read := func(info Info) error {
		table := &Table{X: array.New[float64](2, 1), Y: []int{0, 1}}
		table.Features, table.Classes = []Feature{{Name: "a"}}, []string{"no", "yes"}
		info.Name, info.Rows, info.Features = "small", 2, 1
		_, err := (&loader{info: info}).finish(table)
		return err
	}
	for _, info := range []Info{{Classes: []string{"no", "yes"}}, {NumClasses: 2}} {
		if err := read(info); err != nil {
			t.Errorf("%+v: %v", info, err)
		}
	}
	for _, info := range []Info{{Classes: []string{"yes", "no"}}, {Classes: []string{"no", "yes", "maybe"}}, {NumClasses: 3}} {
		if err := read(info); err == nil || !strings.Contains(err.Error(), `small: read the classes ["no" "yes"], expected`) {
			t.Errorf("%+v: %v", info, err)
		}
	}
}
