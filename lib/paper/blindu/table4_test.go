package blindu

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The paper's claims are the formulas with n = 100, but for two deltas.
func TestTheClaimsOfTableFourAreThoseOfAHundredFeatures(t *testing.T) {
	wrong := map[string]bool{WithoutReplacement + " 0.4": true, WithoutReplacement + " 0.6": true}
	for _, variant := range []string{WithReplacement, WithoutReplacement} {
		for _, rate := range rates {
			epsilon, delta, _ := strings.Cut(claimed4(variant, rate), ", ")
			cells := claimCells(variant, rate, 784)
			for k, text := range []string{epsilon, delta} {
				printed, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				ours, err := strconv.ParseFloat(cells[k].Text, 64)
				if same := math.Abs(printed-ours) < 6e-4; err != nil || same == (k == 1 && wrong[labelWithRate(variant, rate)]) {
					t.Errorf("%s at %v: printed %v, by the formula %q (%v)", variant, rate, printed, cells[k].Text, err)
				}
			}
			if cells[0].Text == cells[2].Text {
				t.Errorf("%s at %v: 784 features give the epsilon of 100", variant, rate)
			}
		}
	}
}

func TestTableFourHasARowOfEveryRate(t *testing.T) {
	e := newEnv(t)
	c := glyphs()
	c.Data, c.Fit.Epochs, c.Users = lab.Limit(c.Data, 600, 100), 6, unlearn.Users{Rounds: 2, LocalEpochs: 1}
	s := withAllRates(Study{Scale: "brief", Seeds: 1, Cases: bothRequests(c)})
	ev, err := collect(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	out := ev.table4()
	if err := out.Table.Check(); err != nil {
		t.Error(err)
	}
	if want := len(unmaskedVariants) + 2*len(maskedVariants); len(out.Table.Rows) != want {
		t.Fatalf("%d rows, want %d", len(out.Table.Rows), want)
	}
	for _, row := range out.Table.Rows {
		label := row.Cells[0].Text
		if (row.Kind == report.Control) != (label == Original || label == Retrained) {
			t.Errorf("%s is of kind %s", label, row.Kind)
		}
		masked := strings.Contains(label, "%") && !strings.Contains(label, "weights")
		if private := strings.Contains(label, "private") || masked; private != (row.Cells[1].Missing == "") {
			t.Errorf("%s: epsilon %+v", label, row.Cells[1])
		}
	}
	// Every method that stops by itself says how, at every rate.
	for _, c := range s.Cases {
		for _, a := range c.variants() {
			n := 0
			for _, note := range out.Table.Notes {
				if strings.HasPrefix(note, c.Label+", "+a.Label+": ") {
					n++
				}
			}
			if stops := !a.Control; stops != (n == 1) || n > 1 {
				t.Errorf("%s, %s: %d notes of how it ended", c.Label, a.Label, n)
			}
		}
	}
	for _, r := range ev.Rows {
		federated := strings.Contains(r.Variant, "BFU")
		if federated && (r.Steps == 0 || !strings.Contains(r.Note, "rounds")) {
			t.Errorf("%s: %d steps, %q", r.Variant, r.Steps, r.Note)
		}
	}
	if jobs := measurements(e, s); len(jobs) != 3 {
		t.Errorf("%d pieces", len(jobs))
	} else if jobs[0].ID == jobs[1].ID {
		t.Errorf("two rates are called %s", jobs[0].ID)
	}
}
