package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// rowsHash is the first 16 hex digits of the SHA-256 of the numbers as int64, little-endian.
func rowsHash(rows []int) string {
	h := sha256.New()
	for _, v := range rows {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

func TestStratifiedSplitIsScikitLearns(t *testing.T) {
	// scikit-learn 1.9.1, train_test_split(np.arange(n), test_size=f, random_state=s, stratify=y)
	// with y[i] = (i*i + i//3) % classes. The cases have tied remainders.
	for _, c := range []struct {
		n, classes  int
		fraction    float64
		seed        uint32
		train, test string
	}{
		{20, 2, 0.2, 0, "c0b8205eed1b8128", "b2c84c3f44252e1c"},
		{30, 3, 0.2, 7, "2189c7823613aafe", "ec2f60be951696c4"},
		{40, 4, 0.25, 42, "aeed88b45db916be", "a80cc102674e12dd"},
		{101, 5, 0.3, 999, "76c1c1c126cf6d6f", "5a958cc562f15a54"},
		{7, 2, 0.5, 3, "f64fa2c28ccbdb66", "a316284708b9e892"},
		{60, 6, 0.15, 11, "c0d9f1eb5f85e13b", "a4d798207c627a42"},
		{12, 3, 0.25, 5, "d21065caf17e49f2", "6cb4d24758193214"},
	} {
		y := make([]int, c.n)
		for i := range y {
			y[i] = (i*i + i/3) % c.classes
		}
		s, err := StratifiedSplit(y, c.fraction, c.seed)
		if err != nil {
			t.Fatal(err)
		}
		if got := rowsHash(s.Train); got != c.train {
			t.Errorf("n %d seed %d: train %s, want %s", c.n, c.seed, got, c.train)
		}
		if got := rowsHash(s.Test); got != c.test {
			t.Errorf("n %d seed %d: test %v = %s, want %s", c.n, c.seed, s.Test, got, c.test)
		}
	}
}

func TestTiedRemaindersAreSharedOutAtRandomAsInScikitLearn(t *testing.T) {
	y := make([]int, 40)
	for i := range y {
		y[i] = i % 3
	}
	for seed, want := range [][]int{ // scikit-learn 1.9.1, test rows for seeds 0 to 3
		{4, 11, 15, 0, 19, 2, 9, 22},
		{24, 33, 36, 16, 13, 20, 23, 29},
		{11, 22, 24, 39, 18, 10, 16, 17},
		{22, 27, 31, 16, 24, 8, 20, 9},
	} {
		s, err := StratifiedSplit(y, 0.2, uint32(seed))
		if err != nil || !slices.Equal(s.Test, want) {
			t.Errorf("seed %d: %v, %v; want %v", seed, s.Test, err, want)
		}
	}
}

func TestSplitIsAPartitionThatKeepsTheClassShares(t *testing.T) {
	y := make([]int, 1000)
	for i := range y {
		if i%5 == 0 {
			y[i] = 7 // class codes need not be consecutive
		}
	}
	s, err := StratifiedSplit(y, 0.2, 3)
	if err != nil {
		t.Fatal(err)
	}
	seven := 0
	for _, i := range s.Test {
		if y[i] == 7 {
			seven++
		}
	}
	if len(s.Train) != 800 || len(s.Test) != 200 || seven != 40 {
		t.Errorf("%d train, %d test rows, %d of class 7", len(s.Train), len(s.Test), seven)
	}
	all := slices.Sorted(slices.Values(slices.Concat(s.Train, s.Test)))
	for i, v := range all {
		if i != v {
			t.Fatalf("row %d is missing or doubled", i)
		}
	}
}

func TestImpossibleSplitsAreRefused(t *testing.T) {
	for _, c := range []struct {
		y    []int
		f    float64
		want string
	}{
		{[]int{0, 1, 0, 1}, 0, "test fraction 0"},
		{[]int{0, 1, 0, 1}, 1, "test fraction 1"},
		{[]int{0, 1, 0, 1}, math.NaN(), "test fraction NaN"},
		{[]int{0, 0, 0, 1}, 0.5, "class 1 has 1 row"},
		{[]int{0, 1, 0, 1}, 0.1, "too few"},
		{nil, 0.5, "no rows"},
	} {
		_, err := StratifiedSplit(c.y, c.f, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v at %v: %v, want %q", c.y, c.f, err, c.want)
		}
	}
}

func TestForgetSetIsRULERs(t *testing.T) {
	// NumPy 2.4.6, sorted RandomState(999).choice(n, k, replace=False); the first also in the paper's program.
	for _, c := range []struct {
		n        int
		fraction float64
		size     int
		hash     string
	}{{455, 0.05, 22, "04ae291c54695d9c"}, {242, 0.01, 10, "2a4008a306812b83"}, {81412, 0.10, 8141, "bf3dcc60002d5402"}} {
		forget, retain, err := ForgetSet(c.n, c.fraction, 999)
		if err != nil || len(forget) != c.size || rowsHash(forget) != c.hash {
			t.Errorf("n %d: %d rows %s, %v; want %d %s", c.n, len(forget), rowsHash(forget), err, c.size, c.hash)
		}
		all := slices.Sorted(slices.Values(slices.Concat(forget, retain)))
		if len(all) != c.n || !slices.IsSorted(retain) || all[0] != 0 || all[c.n-1] != c.n-1 {
			t.Errorf("n %d: forget and retain do not share out the rows", c.n)
		}
	}
}

func TestForgetSetSizesAreThePapers(t *testing.T) {
	sizes := map[int][3]int{ // n_train -> |Df| at 1, 5 and 10 %, the paper's appendix
		39073: {390, 1953, 3907}, 81412: {814, 4070, 8141}, 455: {10, 22, 45}, 242: {10, 12, 24}, 800: {10, 40, 80},
		36168: {361, 1808, 3616}, 1279: {12, 63, 127}, 4323: {43, 216, 432}, 15216: {152, 760, 1521}, 36249: {362, 1812, 3624},
	}
	for n, want := range sizes {
		for k, fraction := range []float64{0.01, 0.05, 0.10} {
			forget, _, err := ForgetSet(n, fraction, 999)
			if err != nil || len(forget) != want[k] {
				t.Errorf("n %d, fraction %v: %d rows, %v; want %d", n, fraction, len(forget), err, want[k])
			}
		}
	}
}

func TestImpossibleForgetSetsAreRefused(t *testing.T) {
	for _, c := range []struct {
		n int
		f float64
	}{{10, 0.5}, {0, 0.5}, {-5, 0.5}, {100, 0}, {100, 1}, {100, -0.1}, {100, math.NaN()}, {100, math.Inf(1)}} {
		if f, r, err := ForgetSet(c.n, c.f, 1); err == nil {
			t.Errorf("n %d, fraction %v gave %d and %d rows", c.n, c.f, len(f), len(r))
		}
	}
}

func ExampleForgetSet() {
	forget, retain, err := ForgetSet(455, 0.05, 999) // Breast Cancer, 5 %
	fmt.Println(forget[:5], len(forget), len(retain), err)
	// Output: [7 57 86 123 188] 22 433 <nil>
}

// Rows to keep leave the test part for the train part; nothing else moves.
func TestKeepInTrainMovesOnlyTheRowsNamed(t *testing.T) {
	s := Split{Train: []int{4, 0, 2}, Test: []int{1, 3, 5}}
	got := s.KeepInTrain([]int{3, 4})
	if !slices.Equal(got.Train, []int{4, 0, 2, 3}) || !slices.Equal(got.Test, []int{1, 5}) || len(s.Train) != 3 {
		t.Errorf("%+v of %+v", got, s)
	}
}
