package sdepaper

import (
	"math"
	"reflect"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// At every scale the recipe has the settings as Table 1 has them, of which it shares the
// models, and their likes in full batches: nothing else differs. Where a setting is in it,
// an epoch ends on an eighth of a batch or less.
func TestTheLastBatchIsAllThatDiffers(t *testing.T) {
	images := map[string]int{"cifar10_jpeg": 50000, "cifar100": 50000, "tiny_imagenet": 100000}
	for _, scale := range Scales() {
		s, err := StudyAt(scale.Name)
		if err != nil {
			t.Fatal(err)
		}
		all := lastBatches(s)
		if len(all) == 0 || len(all)%(2*s.Seeds) != 0 {
			t.Fatalf("scale %s: %d pieces of %d seeds", s.Scale, len(all), s.Seeds)
		}
		for i := 0; i < len(all); i += 2 * s.Seeds {
			for seed := range s.Seeds {
				kept, dropped := all[i+seed], all[i+s.Seeds+seed]
				if kept.seed != seed || kept.Fit.DropLast || !dropped.Fit.DropLast || kept.Label == dropped.Label {
					t.Errorf("scale %s: %+v and %+v", s.Scale, kept, dropped)
				}
				dropped.Label, dropped.Fit.DropLast = kept.Label, false
				if !reflect.DeepEqual(kept, dropped) {
					t.Errorf("scale %s: more than the batch differs: %+v and %+v", s.Scale, kept, dropped)
				}
			}
			of := all[i].Setting
			n := of.Images
			if n == 0 {
				n = images[of.DataSet]
			}
			_, retain, err := datasets.ForgetSet(n, all[i].fraction, 0)
			if err != nil {
				t.Fatal(err)
			}
			if last := of.lastBatch(len(retain)); 8*last > of.Fit.Batch {
				t.Errorf("scale %s, %s: an epoch of %d ends on %d", s.Scale, of.Label, len(retain), last)
			}
			if last := of.withoutLast().lastBatch(len(retain)); last != of.Fit.Batch {
				t.Errorf("scale %s, %s: without its last batch an epoch ends on %d", s.Scale, of.Label, last)
			}
		}
	}
}

// The values of the one stand in its own rows, not in the other's.
func TestTheLastBatchTableShowsWhoseValuesTheyAre(t *testing.T) {
	e, s := environment(t), small()
	s.Settings[0].ShortAt, s.Settings[0].Fit.Batch = 0.3, 33 // 70 images stay: 4 in the last batch
	p, err := planned(s, lastBatches)
	if err != nil {
		t.Fatal(err)
	}
	ev := verdicts{&evidence[Judged]{p.Study, e, &paper.Evidence[Judged]{}}}
	judges := []string{sde.SDE{}.Name(), sde.SpreadOnly{}.Name(), HeldOut}
	for k, x := range ev.Settings {
		for seed := range s.Seeds {
			made, err := paper.Collect(t.Context(), e, judgedBy(partMain)(e, cell{s, x, 0.3, seed}))
			if err != nil {
				t.Fatal(err)
			}
			training := *made.Rows[0].Training // with a loss that names the setting
			training.Loss = float64(k + 1)
			for at, judge := range judges {
				for _, size := range s.Sizes {
					right := k + at + 1 // of four sets that were in; of those that were not, all
					ev.Rows = append(ev.Rows, Judged{Training: &training, Setting: x.Label, Fraction: 0.3, Seed: seed, Size: size, Method: judge,
						Bandwidth: sde.SqrtDim().String(), Disjoint: ev.Subsets,
						Draws: []Draw{{Confusion: sde.Confusion{Inside: sde.Tally{In: right, Out: 4 - right}, Outside: sde.Tally{Out: 4}}}}})
				}
			}
		}
	}
	out := ev.lastBatchComparison()
	if err := out.Table.Check(); err != nil || len(out.Table.Rows) != 6 {
		t.Fatalf("%d rows, %v", len(out.Table.Rows), err)
	}
	late := map[bool][]float64{} // the accuracies, with the short batch dropped and kept
	for k, dropped := range []bool{false, true} {
		of := small()
		of.Settings = ev.Settings[k : k+1]
		for seed := range s.Seeds {
			c, err := openCase(t.Context(), e, of, seed)
			if err != nil {
				t.Fatal(err)
			}
			n, err := c.LateModel()
			if err != nil {
				t.Fatal(err)
			}
			a, err := c.Accuracy(n)
			if err != nil {
				t.Fatal(err)
			}
			late[dropped] = append(late[dropped], a.Retain.Value, a.Forget.Value, a.Test.Value)
		}
	}
	mean := func(dropped bool, kind int) float64 { return (late[dropped][kind] + late[dropped][3+kind]) / 2 }
	if reflect.DeepEqual(late[true], late[false]) {
		t.Fatal("both kinds of training give the same accuracies")
	}
	f1 := func(right float64) float64 { return 2 * right / (right + 4) }
	for i, want := range []struct {
		judge      string
		f1         float64
		loss, last float64 // 0: none
	}{
		{judges[0], f1(1), 1, 4}, {judges[1], f1(2), 0, 0}, {judges[2], f1(3), 0, 0},
		{judges[0], f1(2), 2, 33}, {judges[1], f1(3), 0, 0}, {judges[2], f1(4), 0, 0},
	} {
		row := out.Table.Rows[i]
		if row.Group != group(ev.Settings[i/3], 0.3) || row.Cells[0].Text != want.judge {
			t.Errorf("row %d: %s, %s", i, row.Group, row.Cells[0].Text)
		}
		values := []float64{want.f1, want.f1, 0, 0, 0, want.loss, want.last}
		if want.loss != 0 {
			for kind := range imageKinds() {
				values[2+kind] = mean(i >= 3, kind)
			}
		}
		for k, value := range values {
			cell := row.Cells[1+k]
			if value == 0 && cell.Text == "" && cell.Value == nil {
				continue
			}
			if cell.Value == nil || math.Abs(*cell.Value-value) > 1e-12 {
				t.Errorf("row %d, %s: %+v, not %v", i, out.Table.Columns[1+k].Name, cell, value)
			}
		}
	}
}
