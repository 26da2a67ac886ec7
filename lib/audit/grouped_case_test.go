package audit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/train"
)

// visits is a table of eight records each of 60 persons, of whom a share is forgotten.
func visits(t *testing.T, share float64) *Case {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	b.WriteString("person,a,b,c,smokes\n")
	for p := range 60 {
		u, v, w, y := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64(), []string{"yes", "no"}[rng.IntN(2)]
		for range 8 {
			fmt.Fprintf(&b, "P%d,%.3f,%.3f,%.3f,%s\n", p, u+0.1*rng.NormFloat64(), v+0.1*rng.NormFloat64(), w+0.1*rng.NormFloat64(), y)
		}
	}
	path := filepath.Join(t.TempDir(), "visits.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	data, err := own.ReadTable(path, own.Target("smokes"), own.Group("person"))
	if err != nil {
		t.Fatal(err)
	}
	return openCase(t, newLab(t), lab.Setting{Data: data, Forget: lab.RandomGroups{Column: "person", Fraction: share},
		Model: tabular.MLP{Hidden: 16}, Fit: train.Config{Epochs: 10}})
}

// aucLenses are those on cases whose reading is an AUC.
func aucLenses() []Lens {
	return []Lens{Outputs{}, FisherOverlap{}, RMIA{}, Reconstruction{}, Relearning{Epochs: 2}}
}

// A table with groups has intervals over them in every column, as its caption says.
func TestEveryColumnOfACaseCountsItsGroups(t *testing.T) {
	c := visits(t, 0.25)
	e, err := c.Evidence(Needs{}, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	most := e.CountGroups(c.Forget) + e.CountGroups(e.HeldOut)
	for _, l := range aucLenses() {
		over, err := c.Read(l, c.Oracle)
		if err != nil {
			t.Fatal(err)
		}
		if over.Over != "persons" || over.Clustered == nil || over.N > most {
			t.Errorf("%s: %+v over %d %s, of %d persons", l.Name(), over.Clustered, over.N, over.Over, most)
		}
		c.CountRecords = true
		alone, err := c.Read(l, c.Oracle)
		if c.CountRecords = false; err != nil || alone.Clustered != nil || alone.Over != "records" {
			t.Fatalf("%s: %+v, %v", l.Name(), alone, err)
		}
		halved := l == Lens(Outputs{}) || l == Lens(Reconstruction{}) // what held-out records they read
		if over.Membership != alone.Membership || over.Floor.P95 < alone.Floor.P95 || !halved && over.Value != alone.Value {
			t.Errorf("%s: %+v over persons, %+v over records", l.Name(), over, alone)
		}
	}
	a, err := c.Accuracy(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := c.Case.Accuracy(c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	if f := a.Forget; f.Over != "persons" || f.N != e.CountGroups(c.Forget) || a.Test.Over != "persons" || f.Value != plain.Forget.Value ||
		f.High-f.Low <= plain.Forget.High-plain.Forget.Low {
		t.Errorf("accuracies %+v over persons, %+v over records", a, plain)
	}
}

// Over records the interval is DeLong's, digit by digit.
func TestWithoutGroupsTheFisherTraceIsDeLongs(t *testing.T) {
	c := visits(t, 0.25)
	c.CountRecords = true
	got, err := c.Read(FisherOverlap{}, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	forgotten, held, err := FisherOverlap{}.gradientNorms(c, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	want, err := SignedAUC(got.Lens, got.Model, attack.Samples{Members: held, Nonmembers: forgotten})
	if err != nil || got.Estimate.Low != want.Low || got.High != want.High || got.Value != want.Value || got.Floor != want.Floor || got.Membership {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
}

// With three persons to forget no number is evidence, however many records they have.
func TestFewGroupsOfACaseAreTooFew(t *testing.T) {
	c := visits(t, 0.05)
	for _, l := range aucLenses() {
		r, err := c.Read(l, c.Original)
		if err != nil || r.NoEvidence.Call != TooFew || !strings.Contains(r.NoEvidence.Why, "persons in the smaller set") {
			t.Errorf("%s: %+v, %v", l.Name(), r, err)
		}
	}
}

// The attacker of the reconstruction knows none of the persons whose records it reconstructs.
func TestTheHalvesOfTheReconstructionShareNoGroup(t *testing.T) {
	c := visits(t, 0.25)
	e, err := c.Evidence(Needs{}, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	taught, drawn := Reconstruction{}.halves(e)
	known := e.Clusters(testRowNumbers(taught, c.Train.X.Rows))
	for _, person := range e.Clusters(testRowNumbers(drawn, c.Train.X.Rows)) {
		if slices.Contains(known, person) {
			t.Errorf("the attacker learns on records of person %d and reconstructs others of theirs", person)
		}
	}
	if len(taught)+len(drawn) != len(e.HeldOut) || len(taught) == 0 {
		t.Errorf("%d and %d of %d records", len(taught), len(drawn), len(e.HeldOut))
	}
}

// The floor of M4 is that of two samples, of the forgotten records and of the retained ones that it searches.
func TestTheFloorOfNeighboursCountsTheGallery(t *testing.T) {
	c := visits(t, 0.25)
	c.CountRecords = true
	r, err := c.Read(Neighbours{}, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	n, g := float64(len(c.Forget)), float64(len(c.Retain))
	if want := 1.959964 * math.Sqrt((n+g+1)/(12*n*g)); math.Abs(r.Floor.P95-want) > 1e-6 {
		t.Errorf("the floor is %v, want %v", r.Floor.P95, want)
	}
	if gallerySize(5000) != 2000 {
		t.Error("M4 searches at most 2,000 records")
	}
}
