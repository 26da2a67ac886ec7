package own_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/datasets/own"
)

// A table is read, its report printed, and one person's rows are found.
func ExampleReadTable() {
	dir, err := os.MkdirTemp("", "own")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	var text strings.Builder
	text.WriteString("person_id,age,hospital,visit,income\n")
	for i := range 40 {
		fmt.Fprintf(&text, "%d,%d,%s,2021-01-%02d,%d\n", 1+i/2, 20+7*i%31, []string{"North", "South", ""}[i%3], 1+i%28, 900+i*i)
	}
	path := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		panic(err)
	}
	people, err := own.ReadTable(path, own.Above("income", 1300), own.Identifier("person_id"))
	if err != nil {
		panic(err)
	}
	fmt.Println(people)
	data, err := people.Prepare(context.Background(), 0)
	if err != nil {
		panic(err)
	}
	rows, err := data.About.Rows("person_id=17")
	fmt.Println(data.Train.X.Rows, "rows to train on,", data.Test.X.Rows, "to test; person 17 has the rows", rows, err)
	// Output:
	// people.csv: 40 rows, 5 columns, separated by commas
	// target income: up to 1300 (21), above 1300 (19); 3 features
	//
	// column     kind      role                 distinct  missing  examples
	// person_id  number    identifier (forced)  20        0        1, 2, 3
	// age        number    feature              31        0        20, 27, 34
	// hospital   category  feature              2         13       North, South
	// visit      date      feature              28        0        2021-01-01, 2021-01-02, 2021-01-03
	// income     number    target               40        0        900, 901, 904
	//
	// 32 rows to train on, 8 to test; person 17 has the rows [32 33] <nil>
}
