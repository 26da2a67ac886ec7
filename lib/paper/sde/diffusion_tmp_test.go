package sde

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/store"
)

func TestDiffusionTemporary(t *testing.T) {
	dir := os.Getenv("DIFFTMP")
	if dir == "" {
		t.Skip()
	}
	e, _ := engine.Open("go")
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := Diffusion{}
	fmt.Sscan(os.Getenv("DN"), &d.Noise)
	start := time.Now()
	d.Progress = func(p audit.Progress) { fmt.Println(p, time.Since(start)) }
	r, err := d.Run(context.Background(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("took", time.Since(start))
	for _, h := range r.History {
		fmt.Printf("%.3f ", h.Loss)
	}
	fmt.Println()
	for _, x := range r.Errors {
		fmt.Println(x.Group, x.Noise, x.MSE)
	}
	for _, a := range r.Arms {
		fmt.Println(a.Name)
		for k, s := range r.Sigmas {
			g := -1.0
			if a.Gate != nil {
				g = a.Gate[k]
			}
			fmt.Printf("  %8.1f F1 %.2f [%.2f, %.2f] acc %.2f [%.2f %.2f] first %.2f gate %.2f\n", s, a.F1[k].Value, a.F1[k].Low, a.F1[k].High, a.Accuracy[k].Value, a.Accuracy[k].Low, a.Accuracy[k].High, a.First[k].Value, g)
		}
	}
}

func TestDiffusionTemporaryRender(t *testing.T) {
	dir := os.Getenv("DIFFTMP")
	if dir == "" {
		t.Skip()
	}
	e, _ := engine.Open("go")
	s, _ := store.Open(dir)
	table, fig, err := diffusionOutput(context.Background(), e, s, "quick", nil)
	if err != nil {
		t.Fatal(err)
	}
	table.Text(os.Stdout)
	b, err := fig.PNG()
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/fig6.png", b, 0o644)
}
