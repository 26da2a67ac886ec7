package cells

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// hash is the start of the SHA-256 of indices as little-endian int64.
func hash(indices []int) string {
	var b []byte
	for _, i := range indices {
		b = binary.LittleEndian.AppendUint64(b, uint64(i))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// papers are the data sets of the paper: cells, and the hashes made with
// NumPy 1.24.
var papers = []struct {
	name                             string
	n, train, k                      int
	seed                             uint32
	perm, trained, unseen, scattered string
	retain                           int
}{
	{"pbmc33k", 33088, 28124, 35, 42, "e4705942221b1cbf", "55959e81d61ef5bf", "61b7dac7b06bcd49", "a22953e728b2d4ec", 28089},
	{"tabula_muris", 41647, 35399, 30, 43, "7acd157fd97daf39", "8d0bce05ee3b591a", "2829aa310d4f6912", "26f7e6f31d82b166", 35369},
}

func TestThePapersSplitsAreDrawnBitForBit(t *testing.T) {
	for _, p := range papers {
		s, err := PaperSplit(p.n)
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Scattered(p.seed, p.k)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Train) != p.train || len(f.Retain) != p.retain || !slices.IsSorted(f.Retain) {
			t.Errorf("%s: %d to train on, %d to retain", p.name, len(s.Train), len(f.Retain))
		}
		for _, c := range []struct {
			what, want string
			got        []int
		}{
			{"permutation", p.perm, slices.Concat(s.Train, s.Unseen)}, {"train", p.trained, s.Train},
			{"unseen", p.unseen, s.Unseen}, {"scattered", p.scattered, f.Forget},
		} {
			if got := hash(c.got); got != c.want {
				t.Errorf("%s: %s has hash %s, want %s", p.name, c.what, got, c.want)
			}
		}
	}
}

// threeClusters are 100 cells: 60 in cluster 0, 25 in 1, 15 in 2.
func threeClusters() []int {
	out := make([]int, 100)
	for i := range out {
		switch {
		case i%4 == 1:
			out[i] = 1
		case i%20 == 2 || i%10 == 4:
			out[i] = 2
		}
	}
	return out
}

func TestAStructuredSetIsAClustersTrainingCells(t *testing.T) {
	clusters := threeClusters()
	s, err := PaperSplit(len(clusters))
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Structured(clusters, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range f.Forget {
		if clusters[i] != 2 || !slices.Contains(s.Train, i) || slices.Contains(f.Retain, i) {
			t.Errorf("cell %d of cluster %d is to be forgotten", i, clusters[i])
		}
	}
	for _, i := range f.Retain {
		if clusters[i] == 2 {
			t.Errorf("cell %d of cluster 2 is retained", i)
		}
	}
	if len(f.Forget)+len(f.Retain) != 85 || !slices.IsSorted(f.Retain) {
		t.Errorf("%d and %d of 85", len(f.Forget), len(f.Retain))
	}
}

func TestASeriesFillsUpWithTheNextCluster(t *testing.T) {
	clusters := threeClusters()
	s, err := PaperSplit(len(clusters))
	if err != nil {
		t.Fatal(err)
	}
	order := Smallest(clusters)
	if !slices.Equal(order, []int{2, 1, 0}) {
		t.Fatalf("smallest first: %v", order)
	}
	whole, err := s.Structured(clusters, 2)
	if err != nil {
		t.Fatal(err)
	}
	n := len(whole.Forget)
	series, err := s.Series(clusters, order, []int{5, n, n + 4})
	if err != nil {
		t.Fatal(err)
	}
	for k, size := range []int{5, n, n + 4} {
		rare := 0
		for _, i := range series[k].Forget {
			if clusters[i] == 2 {
				rare++
			}
		}
		if len(series[k].Forget) != size || rare != min(size, n) || len(series[k].Retain) != 85-size {
			t.Errorf("size %d: %d forgotten, %d of the smallest cluster, %d retained", size, len(series[k].Forget), rare, len(series[k].Retain))
		}
	}
	// NumPy 2.4.6, RandomState(42): choice of 5 and then of 4 in the training order.
	if got := fmt.Sprint(series[0].Forget, series[2].Forget[n:]); got != "[62 44 94 84 4] [29 25 65 37]" {
		t.Errorf("drawn %s", got)
	}
}

func TestSplitsThatAreNoneAreRefused(t *testing.T) {
	clusters := threeClusters()
	s, err := PaperSplit(len(clusters))
	if err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]func() error{
		"0.85 of 1 cells":                      func() error { _, err := PaperSplit(1); return err },
		"a fraction of 1 of 9 cells":           func() error { _, err := Divide(9, 1, 1); return err },
		"none of 85 training cells":            func() error { _, err := s.Structured(clusters, 7); return err },
		"clusters are given for 50 cells":      func() error { _, err := s.Structured(clusters[:50], 0); return err },
		"all 85 training cells are to be forg": func() error { _, err := s.Structured(make([]int, 100), 0); return err },
		"85 of 85 training cells":              func() error { _, err := s.Scattered(1, 85); return err },
		"0 of 85 training cells":               func() error { _, err := s.Scattered(1, 0); return err },
		"90 were requested":                    func() error { _, err := s.Series(clusters, []int{2, 1, 0}, []int{90}); return err },
		"0 were requested":                     func() error { _, err := s.Series(clusters, []int{2}, []int{0}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
