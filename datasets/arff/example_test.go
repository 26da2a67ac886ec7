package arff_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/datasets/arff"
)

func ExampleDecoder_Each() {
	d, err := arff.NewDecoder(strings.NewReader("@attribute size numeric\n@attribute class {small,'very big'}\n@data\n1,small\n9,'very big'\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = d.Each(context.Background(), func(record []string, line int) error {
		fmt.Println(line, record[0], record[1])
		return nil
	})
	fmt.Println(err)
	// Output:
	// 4 1 small
	// 5 9 very big
	// <nil>
}
