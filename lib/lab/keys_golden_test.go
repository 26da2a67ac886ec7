// Store keys must not change: they are compared with a recorded list.

package lab

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/backend"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var update = flag.Bool("update", false, "write testdata/keys.txt anew")

// The keys and names of trainings and unlearnings stay as they are, so that a store finds
// its runs. A raised version of a method changes its keys: go test ./lib/lab -run
// KeysOfMethods -update.
func TestKeysOfMethodsStayWhatTheyWere(t *testing.T) {
	l := newLab(t)
	if l.Engine.Info().Kind != backend.Name {
		t.Skip("the keys are those of Lethe's own engine")
	}
	confused := smallSetting()
	confused.Forget = Backdoor{Source: "upper", Target: "lower", Confuse: true}
	augmented := imageSetting()
	augmented.Augment = true
	var lines []string
	for name, s := range map[string]Setting{"table": smallSetting(), "images": augmented, "users": federatedSetting(1, 0.3, 0.5), "confused": confused} {
		c, w := opened(t, l, s)
		line := func(what string, o ModelSpec, key store.Key) {
			id, err := key.ID()
			if err != nil {
				t.Fatal(err)
			}
			job, err := c.ID(o)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, fmt.Sprintf("%s %s %s %s", name, what, id, job))
		}
		for what, o := range map[string]ModelSpec{"original": c.Original(), "oracle": c.Oracle()} {
			line(what, o, l.TrainKey(c.training(o)))
		}
		for _, m := range unlearn.AllKinds() {
			o := ModelSpec{Rows: AllRecords, Seed: c.Seed, Method: m}
			line(m.Info().Name, o, l.unlearnKey(c.Problem, c.unlearningGoal(m), m, c.request(m, w)))
		}
	}
	slices.Sort(lines)
	text := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("testdata/keys.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(text, "\n") {
		if !strings.Contains(string(b), line+"\n") {
			t.Errorf("moved: %s", line)
		}
	}
	if len(text) != len(b) {
		t.Errorf("%d bytes of keys, there were %d", len(text), len(b))
	}
}
