package images_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
)

func TestLoadRowsGivesTheRowsInTheOrderAsked(t *testing.T) {
	all := load(t, "glyphs")
	train, test := []int{7, 2999, 7, 0}, []int{999}
	m, err := images.LoadRows(t.Context(), "glyphs", train, test)
	if err != nil {
		t.Fatal(err)
	}
	for k, row := range train {
		if !slices.Equal(m.Train.X.Row(k), all.Train.X.Row(row)) || m.Train.Y[k] != all.Train.Y[row] {
			t.Errorf("row %d is not row %d of all", k, row)
		}
	}
	if !slices.Equal(m.Test.X.Row(0), all.Test.X.Row(999)) || m.Test.X.Rows != 1 || !slices.Equal(m.Train.IDs, train) || m.Hash == all.Hash {
		t.Errorf("test rows %v, training rows %v", m.Test.IDs, m.Train.IDs)
	}
	train[0] = 1
	if m.Train.IDs[0] != 7 {
		t.Error("the set shares the caller's slice")
	}
}

func TestLoadRowsOfAllRowsIsTheSet(t *testing.T) {
	all := load(t, "glyphs")
	rows := func(n int) []int {
		out := make([]int, n)
		for k := range out {
			out[k] = k
		}
		return out
	}
	m, err := images.LoadRows(t.Context(), "glyphs", rows(3000), rows(1000))
	if err != nil || m.Hash != all.Hash || fmt.Sprint(m.Planted) != fmt.Sprint(all.Planted) {
		t.Errorf("%v: %s, want %s", err, m.Hash, all.Hash)
	}
}

func TestPlantedGroupsFollowTheRows(t *testing.T) {
	all := load(t, "glyphs")
	wrong := all.Planted["mislabelled"]
	m, err := images.LoadRows(t.Context(), "glyphs", []int{wrong[5], wrong[5] + 1, wrong[9]}, []int{})
	if err != nil || m.Test.X.Rows != 0 || len(m.Test.Y) != 0 {
		t.Fatalf("%v, %d test images", err, m.Test.X.Rows)
	}
	if got := m.Planted["mislabelled"]; !slices.Equal(got, []int{wrong[5], wrong[9]}) {
		t.Errorf("mislabelled ids %v", got)
	}
}

func TestBadRequestsAreRefused(t *testing.T) {
	for want, call := range map[string]func() error{
		"row 3000: there are rows 0 to 2999": func() error { _, err := images.LoadRows(t.Context(), "glyphs", []int{3000}, []int{}); return err },
		"row -1: there are rows 0 to 999":    func() error { _, err := images.LoadRows(t.Context(), "glyphs", []int{}, []int{-1}); return err },
		"use an empty slice":                 func() error { _, err := images.LoadRows(t.Context(), "glyphs", []int{}, nil); return err },
		"did you mean cifar10":               func() error { _, err := images.Load(t.Context(), "cifar-10"); return err },
		"there are mnist, ":                  func() error { _, err := images.Lookup("adult"); return err },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestMissingFilesAreNamed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	for _, info := range images.All() {
		_, err := images.Load(t.Context(), info.Name)
		if info.Synthetic {
			continue
		}
		if want := filepath.Join(dir, info.Folder, info.Files[0].Name); !errors.Is(err, datasets.ErrMissing) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
}

func TestOtherBytesThanThePublishedOnesAreRefused(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	for _, info := range images.All() {
		for _, f := range info.Files {
			path := filepath.Join(dir, info.Folder, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("<html>not found</html>"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := images.Load(t.Context(), info.Name)
		noHash := info.Name == "lfw" // such a file is not what it should be
		if !info.Synthetic && (!errors.Is(err, datasets.ErrMismatch) && !noHash || !strings.Contains(err.Error(), filepath.Join(dir, info.Folder, info.Files[0].Name))) {
			t.Errorf("%s: %v", info.Name, err)
		}
	}
}

func TestACancelledLoadEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := images.Load(ctx, "glyphs"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestEverySetIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range images.All() {
		if seen[i.Name] || i.Title == "" || i.Task == "" || i.Licence == "" || i.Description == "" || i.ClassCount() < 2 {
			t.Errorf("%+v", i)
		}
		seen[i.Name] = true
		if i.Features != i.Shape[0]*i.Shape[1]*i.Shape[2] || i.TestRows >= i.Rows || !i.Synthetic && i.Citation == "" {
			t.Errorf("%s: %d features, shape %v, %d of %d rows, cited as %q", i.Name, i.Features, i.Shape, i.TestRows, i.Rows, i.Citation)
		}
		for _, f := range i.Files {
			if noHash := i.Name == "lfw"; len(f.SHA256) != 64 && !noHash || (f.Size > 0) == (f.AtMost > 0) {
				t.Errorf("%s: %+v", i.Name, f)
			}
		}
	}
}

func ExampleLoadRows() {
	set, err := images.LoadRows(context.Background(), "glyphs", []int{0, 1, 2}, []int{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Shape, set.Train.X.Rows, set.Train.X.Cols, set.Classes[set.Train.Y[0]])
	// Output: [1 16 16] 3 256 corner
}
