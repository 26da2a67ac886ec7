package datasets_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
)

// golden holds, per data set, Table.Hash and Prepared.Hash of the split with
// seed 999 as computed by an independent program in Python: own encoding,
// train_test_split and StandardScaler of scikit-learn 1.9.1, NumPy 2.4.6.
var golden = []struct {
	name, table, prepared string
	train                 int
	classes               []int // rows per class, the publishers' counts
}{
	{"adult", "e03d6229d14a69f5d31796c84aecc81ec20a4afa732cc1686fe6c013bbb9aff1", "8b329e67a2ca6f5961d7d804e17f26f4d05c6f77f3e04f913b08f732354b0341", 39073, []int{37155, 11687}},
	{"diabetes130", "1884b18a60a82a8a79980ccfc45da6611063dce2c9ea12e2e66c0eef998f525f", "2129d7f54061e35570ba277b0fa7e678dd0a69653dca3279ea5974a9b2a4f56a", 81412, []int{11357, 90409}},
	{"diabetes130_any", "104b0916be8abfa429b58f866b8f72f2f8ecd4e1979ca8b788cf0512258e5b2f", "1050e8795517237967ce5384fb73b22f2efe76b84d8e6a704039facab5990ce4", 81412, []int{54864, 46902}},
	{"breast_cancer", "4e820dc1f057cf2e50a1fabf4d3728e3308421bf7b76a6b8aa4414af6804ec55", "671e38e59177006f96b5df2b961259ab9c89fee07cf5f50c57e4f416d46a66fa", 455, []int{212, 357}},
	{"heart_disease", "d01b703cec2ef8528cd6882048e81d25c5acfd3c5ba1fe538768bea212fe618f", "c5c9283605026873bf6bcb9c2f37d367b7ba74def76f86d2a9ddb25e1829efb2", 242, []int{165, 138}},
	{"heart_disease_uci", "1e46f085e8d26dd666c633adc7220082dfe7618a9d5f50d9003f53e03fa7ed93", "eb508561d32924c8e8e1f4787856bf45adb4065406a585e9c126852ab2f925e4", 242, []int{164, 139}},
	{"german_credit", "fe61c5efe5d5332f6390e4d009472a0456e59400c6e06ce54b2483718b6b20c1", "7099f710b87246a46d61e63a10f8dfff1e550aee512cef7691dff3d3df605780", 800, []int{300, 700}},
	{"bank_marketing", "2aed8f6f319842708fbfb5ab0f8fa196cf533ea388bf156465f46cc4ef379a12", "18269e33299fbadaa73d9669eaa0fc3ac15d651a6b8fd2b6f9d828f67fed3d9b", 36168, []int{39922, 5289}},
	{"wine_quality", "1bdfb5b0a96b0d9d6cc5fbb229986d5f85b3546dab3502629354e53bb7b83565", "fa73f509613bead9ff3b6f08d2223ee1ff701184e4fea4b567870c4ca82fca05", 1279, []int{744, 855}},
	{"phoneme", "30da6e813926fa781a2e613de6bc4eba1e6802797457a0b4d737066c034abf77", "6b4e4b3abda2c1d7749ff1424814d441ef231311d4164ff792414648007f6224", 4323, []int{3818, 1586}},
	{"magic", "c1d3f15a72b228ff7eee9d8eac9c93b69582ce94a7fef898ecf8639393e7b0de", "ee3c59bb833b5286128a54840be7015dd738441553acdd7302b3c25614955630", 15216, []int{12332, 6688}},
	{"electricity", "188bd8c489a172ddfc0bbfae63abe3279613616a84b9ea349f5b4ff50adb85f4", "a70eb1b6caae5dd41e9921730a42bf3afa27daa602d44113645488e66e4de839", 36249, []int{26075, 19237}},
}

// prepared keeps what the tests share, by data folder and name; tests do not change it.
var prepared = map[[2]string]*datasets.Prepared{}

func prepare(t *testing.T, name string) *datasets.Prepared {
	t.Helper()
	key := [2]string{os.Getenv(datasets.EnvDir), name}
	if p, ok := prepared[key]; ok {
		return p
	}
	table, err := datasets.Load(t.Context(), name)
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	split, err := datasets.StratifiedSplit(table.Y, 0.2, 999)
	if err != nil {
		t.Fatal(err)
	}
	p, err := datasets.Prepare(table, split)
	if err != nil {
		t.Fatal(err)
	}
	prepared[key] = p
	return p
}

func TestTablesAndPreparedRowsEqualAnIndependentProgramsBitForBit(t *testing.T) {
	datatest.Dir(t)
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			p := prepare(t, g.name)
			if p.About.Hash != g.table {
				t.Errorf("table %s, want %s", p.About.Hash, g.table)
			}
			if p.Hash != g.prepared {
				t.Errorf("prepared %s, want %s", p.Hash, g.prepared)
			}
			if p.Train.X.Rows != g.train {
				t.Errorf("%d train rows, want %d", p.Train.X.Rows, g.train)
			}
			counts := make([]int, len(p.About.Classes))
			for _, c := range append(slices.Clone(p.Train.Y), p.Test.Y...) {
				counts[c]++
			}
			if !slices.Equal(counts, g.classes) {
				t.Errorf("rows per class %v, want %v", counts, g.classes)
			}
		})
	}
}

func TestBreastCancerNeedsNoFileAndIsTheSameWithout(t *testing.T) {
	t.Setenv(datasets.EnvDir, t.TempDir())
	p := prepare(t, "breast_cancer")
	if p.About.Hash != golden[3].table || p.Hash != golden[3].prepared {
		t.Errorf("embedded copy: table %s, prepared %s", p.About.Hash, p.Hash)
	}
	if want := []int{146, 330, 373, 369, 380, 96, 349, 557}; !slices.Equal(p.Train.IDs[:8], want) { // specification 3.4
		t.Errorf("train rows start %v, want %v", p.Train.IDs[:8], want)
	}
	forget, _, err := datasets.ForgetSet(len(p.Train.IDs), 0.05, 999)
	want := []int{7, 57, 86, 123, 188, 197, 236, 240, 265, 271, 277, 312, 315, 320, 336, 339, 343, 351, 368, 377, 380, 403}
	if err != nil || !slices.Equal(forget, want) {
		t.Errorf("forget set %v, %v", forget, err)
	}
}

func TestPreparedTrainColumnsHaveMeanZeroAndVarianceOne(t *testing.T) {
	p := prepare(t, "tabular_outliers")
	for j := range p.Train.X.Cols {
		mean, square := 0.0, 0.0
		for i := range p.Train.X.Rows {
			v := float64(p.Train.X.Row(i)[j])
			mean += v / float64(p.Train.X.Rows)
			square += v * v / float64(p.Train.X.Rows)
		}
		if math.Abs(mean) > 1e-6 || math.Abs(square-1) > 1e-6 {
			t.Errorf("column %d: mean %v, mean square %v", j, mean, square)
		}
	}
}

func TestMissingFilesAreNamedWithTheWayOut(t *testing.T) {
	t.Setenv(datasets.EnvDir, t.TempDir())
	_, err := datasets.Load(t.Context(), "adult")
	if !errors.Is(err, datasets.ErrMissing) || !strings.Contains(err.Error(), "adult.test") ||
		!strings.Contains(err.Error(), "lethe data get") {
		t.Errorf("got %v", err)
	}
}

func TestAChangedByteIsRefusedWithBothHashes(t *testing.T) {
	source := datatest.Dir(t)
	for _, form := range []string{"cut", "flipped", "longer"} {
		dir := t.TempDir()
		t.Setenv(datasets.EnvDir, dir)
		b := gunzip(t, filepath.Join(source, "wine_quality", "winequality-red.csv"))
		switch form {
		case "cut":
			b = b[:len(b)-1]
		case "flipped":
			b[len(b)/2] ^= 1
		case "longer":
			b = append(b, "7;7"...)
		}
		writeFile(t, filepath.Join(dir, "wine_quality", "winequality-red.csv"), b)
		_, err := datasets.Load(t.Context(), "wine_quality")
		if !errors.Is(err, datasets.ErrMismatch) || !strings.Contains(err.Error(), "winequality-red.csv") ||
			!strings.Contains(err.Error(), "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e") {
			t.Errorf("%s: %v", form, err)
		}
		t.Setenv(datasets.EnvDir, source)
	}
}

func TestPlainAndGzippedFilesGiveTheSameTable(t *testing.T) {
	source := datatest.Dir(t)
	plain := gunzip(t, filepath.Join(source, "german_credit", "german.data"))
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	writeFile(t, filepath.Join(dir, "german_credit", "german.data"), plain)
	a, err := datasets.Load(t.Context(), "german_credit")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "german_credit", "german.data")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "german_credit", "german.data.gz"), gzipped(t, plain))
	b, err := datasets.Load(t.Context(), "german_credit")
	if err != nil {
		t.Fatal(err)
	}
	if a.Hash != b.Hash || a.Hash != golden[6].table {
		t.Errorf("plain %s, gzip %s", a.Hash, b.Hash)
	}
}

func TestVerifyTellsMissingWrongAndRight(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	got, err := datasets.Verify(t.Context(), "adult")
	if err != nil || len(got) != 2 || got[0].OK() || !errors.Is(got[0].Err, datasets.ErrMissing) {
		t.Errorf("nothing there: %+v, %v", got, err)
	}
	writeFile(t, filepath.Join(dir, "adult", "adult.data"), []byte("no"))
	got, err = datasets.Verify(t.Context(), "adult")
	if err != nil || !errors.Is(got[1].Err, datasets.ErrMismatch) || got[1].Got == "" || got[1].Got == got[1].Want {
		t.Errorf("wrong bytes: %+v, %v", got, err)
	}
	if _, err := datasets.Verify(t.Context(), "nonsense"); err == nil {
		t.Error("an unknown name was verified")
	}
}

func TestVerifyAcceptsThePublishedFiles(t *testing.T) {
	datatest.Dir(t)
	for _, name := range datasets.RULER() {
		got, err := datasets.Verify(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range got {
			if errors.Is(st.Err, datasets.ErrMissing) {
				t.Logf("not checked: %v", st.Err)
			} else if !st.OK() {
				t.Errorf("%s: %+v", name, st)
			}
		}
	}
}

func TestUnknownNamesGetSuggestions(t *testing.T) {
	for typo, want := range map[string]string{
		"adlut": "adult", "Breast-Cancer": "breast_cancer", "wine": "wine_quality", "diabetes": "diabetes130", "moons": "two_moons",
	} {
		_, err := datasets.Lookup(typo)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want a suggestion of %s", typo, err, want)
		}
	}
	if _, err := datasets.Lookup("imagenet"); err == nil || !strings.Contains(err.Error(), "there are adult, ") {
		t.Errorf("a name close to none: %v", err)
	}
}

func TestEveryInfoIsComplete(t *testing.T) {
	names := map[string]bool{}
	for _, i := range datasets.All() {
		if names[i.Name] {
			t.Errorf("%s is listed twice", i.Name)
		}
		names[i.Name] = true
		if i.Title == "" || i.Task == "" || i.Licence == "" || i.Description == "" || len(i.Classes) < 2 {
			t.Errorf("%s: incomplete: %+v", i.Name, i)
		}
		if i.Synthetic == (len(i.Files) > 0) {
			t.Errorf("%s: synthetic %v with %d files", i.Name, i.Synthetic, len(i.Files))
		}
		for _, f := range i.Files {
			if len(f.SHA256) != 64 || f.Size <= 0 || len(f.Sources) == 0 || i.Citation == "" || i.Homepage == "" {
				t.Errorf("%s: file %+v", i.Name, f)
			}
		}
	}
	for _, name := range datasets.RULER() {
		if !names[name] {
			t.Errorf("RULER's %s is not listed", name)
		}
	}
}

func TestLoadStopsOnCancel(t *testing.T) {
	t.Setenv(datasets.EnvDir, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{"breast_cancer", "magic"} {
		if _, err := datasets.Load(ctx, name); !errors.Is(err, context.Canceled) { // before any file is looked for
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The publisher's counts (covtype.info), in the order of the classes.
func TestCovertypeHasThePublishersRowsPerClass(t *testing.T) {
	datatest.Dir(t)
	table, err := datasets.Load(t.Context(), "covertype")
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(table.Classes))
	for _, c := range table.Y {
		counts[c]++
	}
	if want := []int{211840, 283301, 35754, 2747, 9493, 17367, 20510}; !slices.Equal(counts, want) {
		t.Errorf("rows per class %v, want %v", counts, want)
	}
}
