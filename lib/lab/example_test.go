// Examples of the package.

package lab_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// openTemporary opens a lab whose store is an empty folder.
func openTemporary() (*lab.Lab, func()) {
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		panic(err)
	}
	s, err := store.Open(dir)
	if err != nil {
		panic(err)
	}
	e, err := engine.Open("auto")
	if err != nil {
		panic(err)
	}
	return &lab.Lab{Engine: e, Store: s}, func() {
		e.Close()
		os.RemoveAll(dir)
	}
}

func moons() lab.Setting {
	return lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 200}, Forget: lab.Random{Fraction: 0.1}, Fit: train.Config{Epochs: 5}}
}

// A case has its forget set before anything is trained, and lists what its models will
// cost. What two of them share is listed once.
func ExampleLab_Jobs() {
	l, done := openTemporary()
	defer done()
	jobs, err := l.Jobs(context.Background(), moons(), unlearn.SCRUB{}, unlearn.NegGrad{}, unlearn.Retrain{})
	if err != nil {
		panic(err)
	}
	for _, j := range jobs {
		kind, _, _ := strings.Cut(j.ID, "/")
		fmt.Println(kind, "needs", len(j.Needs), "costs", j.Cost, lab.CostUnit, "done", j.Done)
	}
	// Output:
	// train needs 0 costs 322 MFLOP done false
	// unlearn needs 1 costs 855 MFLOP done false
	// unlearn needs 1 costs 643 MFLOP done false
	// train needs 0 costs 289 MFLOP done false
}

// A variant's model is found in the store or computed. NoOp is the original itself, and
// Retrain the retrained model.
func ExampleCase_Variant() {
	l, done := openTemporary()
	defer done()
	c, err := l.Case(context.Background(), moons())
	if err != nil {
		panic(err)
	}
	fmt.Println(len(c.Forget), "records are to be forgotten,", len(c.Retain), "are retained")
	for _, a := range []lab.Variant{
		{Label: "original", Method: unlearn.NoOp{}, Control: true},
		{Label: "fine-tuning, matched", Method: lab.MatchedFineTuning(2), Control: true},
	} {
		m, err := c.Variant(context.Background(), a)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: a method's report %t\n", m.Label, m.Report != nil)
	}
	// Output:
	// 16 records are to be forgotten, 144 are retained
	// original: a method's report false
	// fine-tuning, matched: a method's report true
}

// Train, unlearn, compare: the original and the retrained model are trained, a method makes
// the original forget, and the losses of the forgotten records show how far it came.
func Example() {
	l, done := openTemporary()
	defer done()
	ctx := context.Background()
	c, err := l.Case(ctx, lab.Setting{Data: lab.Table{Set: "moons_island"}, Forget: lab.Planted("island"), Fit: train.Config{Epochs: 20}})
	if err != nil {
		panic(err)
	}
	loss := map[string]float64{}
	for _, method := range []unlearn.Method{unlearn.NoOp{}, unlearn.NegGrad{}, unlearn.Retrain{}} {
		m, err := c.Unlearn(ctx, method)
		if err != nil {
			panic(err)
		}
		losses, err := c.Losses(m)
		if err != nil {
			panic(err)
		}
		for _, l := range losses.Forgotten {
			loss[method.Info().Name] += l / float64(len(losses.Forgotten))
		}
	}
	fmt.Println("the oracle knows the island less than the original:", loss["retrain"] > 1.5*loss["do-nothing"])
	fmt.Println("so does the method's model:", loss["neggrad"] > loss["do-nothing"])
	// Output:
	// the oracle knows the island less than the original: true
	// so does the method's model: true
}

// The seed of the second retrained model is one that a study uses for nothing else.
func ExampleSetting_ModelSpec() {
	s := lab.Setting{Seed: 2}
	fmt.Println(s.Original().Seed, s.ModelSpec(unlearn.Retrain{}).Seed, s.ModelSpec(unlearn.SecondOracle).Seed)
	// Output: 2 2 10002
}
