package own

import (
	"fmt"
	"os"
	"testing"
)

func TestTmp(t *testing.T) {
	a, err := ReadTable(os.Getenv("F"), Target(os.Getenv("T")))
	fmt.Println(a, err)
	if err == nil {
		p, err := a.Prepare(t.Context(), 0)
		fmt.Println(p.Train.X.Rows, p.Test.X.Rows, p.Hash, err)
	}
}
