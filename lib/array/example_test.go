package array_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
)

// Four records with three columns, and the second and the last of them.
func ExampleNormal() {
	m := array.Normal(rand.New(rand.NewPCG(1, 2)), 4, 3, 0.5)
	some := m.Gather([]int{1, 3})
	fmt.Println(m.Rows, m.Cols, some.Rows, some.Row(0)[2] == m.Row(1)[2])
	// Output: 4 3 2 true
}
