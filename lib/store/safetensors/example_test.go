// Example of the package's documentation.

package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "model.safetensors")

	weights := safetensors.FromFloat32("fc1.weight", []int{2, 2}, []float32{1, 2, 3, 4})
	err = safetensors.Write(path, &safetensors.File{
		Tensors:  []safetensors.Tensor{weights},
		Metadata: map[string]string{"seed": "7"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := safetensors.Read(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := f.Tensor("fc1.weight")
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := t.Float32s()
	fmt.Println(t.Shape, values, f.Metadata["seed"], err)
	// Output: [2 2] [1 2 3 4] 7 <nil>
}
