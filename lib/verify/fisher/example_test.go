package fisher_test

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/verify/fisher"
)

func ExampleCosine() {
	forget := fisher.Diagonal{Tensors: []fisher.Tensor{{Name: "head", Shape: []int{3}, Values: []float64{4, 0, 3}}}}
	retain := fisher.Diagonal{Tensors: []fisher.Tensor{{Name: "head", Shape: []int{3}, Values: []float64{3, 0, 4}}}}
	c, err := fisher.Cosine(forget, retain)
	fmt.Println(c, err)
	rank, err := fisher.EffectiveRank(forget)
	fmt.Printf("%.2f of %d weights %v\n", rank, forget.Size(), err)
	// Output:
	// 0.96 <nil>
	// 1.98 of 3 weights <nil>
}

func ExampleEstimators() {
	for _, e := range fisher.Estimators() {
		fmt.Printf("%s: %s\n", e.Name(), e.About())
	}
	// Output:
	// exact: the mean of every record's own squared gradient
	// as coded: the squared gradient of every batch's summed loss, over the number of records
}
