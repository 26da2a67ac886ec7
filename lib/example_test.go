// Runnable examples for the front page of package lethe: a table of the user's own, forget sets,
// unlearning, comparison. They print labels and verdicts, which do not depend on the processor.

package lethe_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/datasets/own"
	lethe "github.com/lethe-ml/lethe/lib"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// temporary makes a folder with the table people.csv, and keeps all results in it until done is
// called. Without it results lie in the user's cache folder.
func temporary() (people string, done func()) {
	dir, err := os.MkdirTemp("", "lethe")
	check(err)
	before, was := os.LookupEnv("LETHE_STORE")
	check(os.Setenv("LETHE_STORE", filepath.Join(dir, "runs")))
	people = filepath.Join(dir, "people.csv")
	check(os.WriteFile(people, []byte(table()), 0o644))
	return people, func() {
		check(os.RemoveAll(dir))
		if !was {
			check(os.Unsetenv("LETHE_STORE"))
			return
		}
		check(os.Setenv("LETHE_STORE", before))
	}
}

// table is 400 visits in CSV. Who is old or has a high blood pressure is ill, but in the 20 visits
// to the hospital Harbour it is the other way round: a model can only memorise them.
func table() string {
	rng, b := rand.New(rand.NewPCG(1, 2)), &strings.Builder{}
	fmt.Fprintln(b, "person_id,hospital,visit,age,pressure,ill")
	for visit := range 400 {
		hospital := []string{"North", "South"}[rng.IntN(2)]
		if visit%20 == 0 {
			hospital = "Harbour"
		}
		age, pressure := 20+rng.IntN(60), 100+rng.IntN(60)
		ill := (age+pressure > 180) != (hospital == "Harbour")
		fmt.Fprintf(b, "%d,%s,2024-%02d-%02d,%d,%d,%t\n", 1+visit/4, hospital, 1+visit%12, 1+visit%28, age, pressure, ill)
	}
	return b.String()
}

// setting has enough training for the table to be learnt.
func setting(people lethe.Data, forget lethe.ForgetSet) lethe.Setting {
	return lethe.Setting{Data: people, Forget: forget, Model: tabular.MLP{}, Fit: train.Config{Epochs: 60, Batch: 32, Optimizer: nn.Adam{LR: 3e-3}}}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// From a table in CSV to a comparison: a model is trained on everything and one without the
// records of a hospital, a method makes the first forget them, and both stand beside the controls.
func Example() {
	path, done := temporary()
	defer done()
	ctx := context.Background()

	lab, err := lethe.Open()
	check(err)
	people, err := lethe.ReadCSV(path, lethe.Target("ill"))
	check(err)
	c, err := lab.Case(ctx, setting(people, lethe.Where("hospital", "Harbour")))
	check(err)
	negGrad, err := c.Unlearn(ctx, unlearn.NegGrad{})
	check(err)
	table, err := c.Compare(ctx, negGrad) // table.Text(os.Stdout) prints it
	check(err)

	fmt.Println(table.Title)
	for _, row := range table.Rows {
		fmt.Println("-", row.Cells[0].Text)
	}
	// Output:
	// What is left of the 20 records with hospital=Harbour of people
	// - original (do nothing)
	// - retrained (oracle)
	// - retrained, other seed
	// - random-weights
	// - neggrad
}

// A verdict says whether a model is like the original, which knows the records, or like the
// oracle, which never saw them.
func ExampleCase_verdicts() {
	path, done := temporary()
	defer done()
	ctx := context.Background()
	lab, err := lethe.Open()
	check(err)
	people, err := lethe.ReadCSV(path, lethe.Target("ill"))
	check(err)
	c, err := lab.Case(ctx, setting(people, lethe.Where("hospital", "Harbour")))
	check(err)
	models, err := c.UnlearnAll(ctx, unlearn.NoOp{}, unlearn.NegGrad{Epochs: 20})
	check(err)

	c.Lenses = []lethe.Lens{audit.Outputs{}} // can an attacker who sees the losses tell?
	verdicts, _, err := c.Calls(append(models, c.Oracle)...)
	check(err)
	for i, m := range append(models, c.Oracle) {
		fmt.Printf("%s: %s\n", m.Label, verdicts[i][0])
	}
	// Output:
	// do-nothing: remembered
	// neggrad: forgotten
	// retrained (oracle): forgotten
}

// What was found in a table is printed; options correct it.
func ExampleReadCSV() {
	path, done := temporary()
	defer done()
	people, err := lethe.ReadCSV(path, lethe.Target("ill"), own.Ignore("visit"))
	check(err)
	fmt.Println(people)
	_, err = lethe.ReadCSV(path, lethe.Target("il"))
	fmt.Println("error:", strings.TrimPrefix(err.Error(), filepath.Dir(path)+string(filepath.Separator)))
	// Output:
	// people.csv: 400 rows, 6 columns, separated by commas
	// target ill: false (192), true (208); 3 features
	//
	// column     kind      role        distinct  missing  examples
	// person_id  number    identifier  100       0        1, 2, 3
	// hospital   category  feature     3         0        Harbour, North, South
	// visit                ignored
	// age        number    feature     60        0        56, 34, 46
	// pressure   number    feature     59        0        147, 102, 107
	// ill        category  target      2         0        false, true
	//
	// person_id: no feature, because it has the name of an identifier; Number("person_id") makes it one.
	//
	// error: people.csv: there is no column "il"; did you mean "ill"?
}

// Forget sets by a column, by several values, by a range, by words and by row numbers.
func ExampleWhere() {
	path, done := temporary()
	defer done()
	ctx := context.Background()
	lab, err := lethe.Open()
	check(err)
	people, err := lethe.ReadCSV(path, lethe.Target("ill"))
	check(err)
	words, err := lethe.WhereText("hospital in North,South")
	check(err)
	for _, f := range []struct {
		what string
		set  lethe.ForgetSet
	}{
		{"a person", lethe.Where("person_id", 17)},
		{"two persons", lethe.Where("person_id", 17, 18)},
		{"three months", lethe.Between("visit", "2024-01-01", "2024-03-31")},
		{"two hospitals", words},
		{"numbered records", lethe.Records{0, 1, 2}},
		{"a class", lethe.Class("true")},
		{"a random share", lethe.Share{Fraction: 0.1}},
	} {
		c, err := lab.Lab.Case(ctx, setting(people, f.set)) // opens the records and trains nothing
		check(err)
		fmt.Printf("%s: %d of %d\n", f.what, len(c.Forget), c.Train.X.Rows)
	}
	_, err = lab.Case(ctx, setting(people, lethe.Where("hospital", "Harbor")))
	fmt.Println("error:", err)
	// Output:
	// a person: 4 of 320
	// two persons: 8 of 321
	// three months: 102 of 338
	// two hospitals: 380 of 396
	// numbered records: 3 of 321
	// a class: 166 of 320
	// a random share: 32 of 320
	// error: data set people: no row has hospital = "Harbor"; did you mean "Harbour"?
}

// A study repeats a comparison over several seeds and writes a report.
func ExampleLab_Study() {
	path, done := temporary()
	defer done()
	lab, err := lethe.Open()
	check(err)
	people, err := lethe.ReadCSV(path, lethe.Target("ill"))
	check(err)
	found, err := lab.Study(setting(people, lethe.Where("hospital", "Harbour")), 2, unlearn.NegGrad{}).Run(context.Background())
	check(err)
	report := filepath.Join(filepath.Dir(path), "report")
	check(found.Write(report))
	files, err := filepath.Glob(filepath.Join(report, "*"))
	check(err)
	for _, file := range files {
		fmt.Println(filepath.Base(file))
	}
	fmt.Println(len(found.Runs), "seeds,", len(found.Table().Rows), "models")
	// Output:
	// report.html
	// report.json
	// report.md
	// 2 seeds, 5 models
}

// A network of one's own: its sizes come from the data.
func ExampleSetting_network() {
	path, done := temporary()
	defer done()
	ctx := context.Background()
	lab, err := lethe.Open()
	check(err)
	people, err := lethe.ReadCSV(path, lethe.Target("ill"))
	check(err)
	narrow := model.NetworkFunc(func(features, classes int) model.Architecture {
		return tabular.MLP{Features: features, Outputs: classes, Hidden: 8, Dropout: new(0.0)}
	})
	c, err := lab.Case(ctx, lethe.Setting{Data: people, Forget: lethe.Share{}, Model: narrow})
	check(err)
	arch := c.Problem.Arch
	fmt.Printf("%s: %d inputs, %d tensors of weights\n", arch.Name(), arch.Inputs(), len(c.Original.Weights))
	// Output:
	// tabular-mlp: 4 inputs, 6 tensors of weights
}
