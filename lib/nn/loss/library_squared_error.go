package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// The outputs of a network for single cells, one value per gene each: the proportions of
// the genes, which add up to 1; the logarithm of the inverse dispersion of the counts (the
// larger, the closer to a Poisson distribution); the logits of the dropout of a gene.
const (
	Proportion    = "proportion"
	LogDispersion = "log_dispersion"
	DropoutLogits = "dropout_logits"
)

// Library is the name of the input with the library size of each cell, by which its
// proportions are multiplied.
const Library = "library"

// LibrarySquaredError is the squared error of the predicted expression of a cell, over the
// genes j,
//
//	sum_j (L p_j - x_j)^2
//
// with the proportions p and the library size L. The code of "Fishing for Privacy" calls
// it negative binomial likelihood; there x is log-normalised and L the sum of x over the
// genes.
type LibrarySquaredError struct{}

var _ Loss = LibrarySquaredError{}

// Name implements Loss.
func (LibrarySquaredError) Name() string { return "library-squared-error" }

// About implements Loss.
func (LibrarySquaredError) About() string {
	return "a cell's proportions times its library size against its expression, squared"
}

// Inputs implements Loss.
func (l LibrarySquaredError) Inputs(outputs map[string]int) (map[string]int, error) {
	return cellInputs(l, outputs, Proportion)
}

// cellInputs returns the inputs of a loss of cells on the named outputs, which have one
// value per gene each.
func cellInputs(l Loss, outputs map[string]int, names ...string) (map[string]int, error) {
	genes := 0
	for _, name := range names {
		w, err := OutputWidth(l, outputs, name)
		if err != nil {
			return nil, err
		}
		genes = w
	}
	return map[string]int{Target: genes, Library: 1}, nil
}

// Check implements Loss. A library size may be negative, as for standardised expression.
func (LibrarySquaredError) Check(map[string]array.Matrix[float32]) error { return nil }

// Graph implements Loss.
func (LibrarySquaredError) Graph(g Batch) Value {
	library := g.Inputs[Library]
	diff := Sub(Mul(g.Outputs[Proportion], library), g.Inputs[Target])
	return Value{
		Losses:   ReduceAndKeep(Square(diff), ReduceSum, 0),
		Adjoints: map[string]*Node{Proportion: Mul(diff, MulScalar(library, 2))},
	}
}
