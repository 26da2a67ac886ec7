package nprand_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats/nprand"
)

func ExampleState_Permutation() {
	// numpy.random.RandomState(42).permutation(10)
	fmt.Println(nprand.New(42).Permutation(10))
	// Output: [8 1 5 0 7 2 9 4 3 6]
}

func ExampleState_Choice() {
	// numpy.random.RandomState(0).choice(10, 4, replace=False)
	fmt.Println(nprand.New(0).Choice(10, 4))
	// Output: [2 8 4 9]
}
