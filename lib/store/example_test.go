// Examples of the package's documentation.

package store_test

import (
	"context"
	"fmt"
	"os"

	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// A run is computed once; whoever asks for it again reads it.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	runs, err := store.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	key := store.Key{
		Recipe: "train",
		Config: struct{ Epochs int }{100},
		Seeds:  map[string]int64{"init": 7},
		Engine: "go/avx512",
	}
	for range 2 {
		run, err := runs.Do(context.Background(), key, func(_ context.Context, w *store.Work) error {
			fmt.Println("training")
			weights := safetensors.FromFloat32("w", []int{2}, []float32{0.5, -1})
			return w.WriteTensors("weights.safetensors", &safetensors.File{Tensors: []safetensors.Tensor{weights}})
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		f, err := run.Tensors("weights.safetensors")
		if err != nil {
			fmt.Println(err)
			return
		}
		values, err := f.Tensors[0].Float32s()
		fmt.Println(values, err)
	}
	// Output:
	// training
	// [0.5 -1] <nil>
	// [0.5 -1] <nil>
}

// A computation that is interrupted goes on from its last checkpoint.
func ExampleWork_LoadCheckpoint() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	runs, err := store.Open(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	train := func(_ context.Context, w *store.Work) error {
		_, state, ok, err := w.LoadCheckpoint()
		if err != nil {
			return err
		}
		if !ok {
			fmt.Println("starting")
			if err := w.AppendLine("log.jsonl", "epoch 1"); err != nil {
				return err
			}
			if err := w.SaveCheckpoint(nil, map[string]int{"epoch": 1}); err != nil {
				return err
			}
			return fmt.Errorf("interrupted")
		}
		fmt.Printf("going on from %s\n", state)
		return w.AppendLine("log.jsonl", "epoch 2")
	}
	key := store.Key{Recipe: "train"}
	if _, err := runs.Do(context.Background(), key, train); err == nil {
		fmt.Println("not interrupted")
	}
	run, err := runs.Do(context.Background(), key, train)
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := run.Bytes("log.jsonl")
	fmt.Print(string(b), err, "\n")
	// Output:
	// starting
	// going on from {"epoch":1}
	// "epoch 1"
	// "epoch 2"
	// <nil>
}
