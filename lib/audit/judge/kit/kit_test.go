package kit_test

import (
	"cmp"
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/audit/judge"
	"github.com/lethe-ml/lethe/lib/audit/judge/kit"
)

// EnvPython names the Python that the kits are tried with; without it, python3.
const EnvPython = "LETHE_KIT_PYTHON"

// Every kit's example runs in the real framework, where Python has it. Its folder is
// one that an audit takes, its model, which has forgotten nothing, is found out, and
// what it calls an embedding is what the last layer is given.
func TestKitsWriteWhatAnAuditReads(t *testing.T) {
	python := cmp.Or(os.Getenv(EnvPython), "python3")
	modules := map[string]string{"pytorch": "torch", "jax": "jax", "sklearn": "sklearn", "transformers": "torch, transformers", "vllm": "numpy"}
	for _, framework := range kit.Frameworks() {
		t.Run(framework, func(t *testing.T) {
			if out, err := exec.Command(python, "-c", "import numpy, "+modules[framework]).CombinedOutput(); err != nil {
				t.Skipf("%s does not have %s: %v %.200s", python, framework, err, out)
			}
			dir := t.TempDir()
			text, err := kit.Text(framework)
			if err != nil {
				t.Fatal(err)
			}
			script, folder := filepath.Join(dir, "lethe_"+framework+".py"), filepath.Join(dir, "audit")
			if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(python, script, folder).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			remembered(t, folder)
			if framework == "transformers" || framework == "vllm" {
				return
			}
			for _, model := range []string{"original", "retrained"} {
				linear(t, filepath.Join(folder, model), framework == "sklearn")
			}
		})
	}
}

// quantised checks that an audit reads the copies that a kit rounded, and that its model remembers in 8
// bits too.
func quantised(t *testing.T, r *judge.Report) {
	t.Helper()
	models := map[string]bool{}
	for _, q := range r.Quantised {
		models[q.Reading.Model] = true
		if q.Lens.Name() == "loss" && q.Reading.Model == "quantised-int8" && q.Call != audit.Remembered {
			t.Errorf("in 8 bits a model that has forgotten nothing is %s", q.Call)
		}
	}
	if len(models) != 2 {
		t.Errorf("quantised copies that were read: %v", models)
	}
}

// remembered checks that the losses give away a model that has forgotten nothing.
func remembered(t *testing.T, folder string) {
	t.Helper()
	e, err := judge.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Report(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(e.ModelsOf(judge.Quantised)) > 0 {
		quantised(t, r)
	}
	if r.Inputs.Copies == nil || r.Inputs.Blind == nil {
		t.Errorf("inputs: %+v", r.Inputs)
	}
	calls := map[string]audit.Call{}
	for _, v := range r.Verdicts {
		calls[v.Name()] = v.Call
	}
	second := cmp.Or(calls["entropy"], calls["truth ratio"]) // of a language model
	if calls["loss"] != audit.Remembered || second != audit.Remembered {
		t.Errorf("a model that has forgotten nothing: %v", calls)
	}
}

// linear checks that outputs are a linear function of the embedding: logits, or the
// log odds of two classes' probabilities.
func linear(t *testing.T, model string, odds bool) {
	t.Helper()
	read := func(name string) array.Matrix[float64] {
		m, err := npy.ReadMatrix(filepath.Join(model, name))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	x, y := read("embedding.npy"), read("outputs.npy")
	with := mat.NewDense(x.Rows, x.Cols+1, nil)
	to := mat.NewDense(x.Rows, 1, nil)
	for i := range x.Rows {
		with.SetRow(i, append([]float64{1}, x.Row(i)...))
		to.Set(i, 0, y.Row(i)[1])
		if odds {
			to.Set(i, 0, math.Log(y.Row(i)[1]/y.Row(i)[0]))
		}
	}
	var svd mat.SVD
	if !svd.Factorize(with, mat.SVDThin) {
		t.Fatal("no decomposition")
	}
	var w, fitted mat.Dense
	svd.SolveTo(&w, to, svd.Rank(1e-9))
	fitted.Mul(with, &w)
	fitted.Sub(&fitted, to)
	if off := mat.Max(&fitted) - mat.Min(&fitted); off > 1e-3*(mat.Max(to)-mat.Min(to)) {
		t.Errorf("%s: outputs are off a linear function of the embedding by %g", model, off)
	}
}

// What models return, and what loaders and precisions there are: each is saved without the
// user's help, or refused by name. The cases stand in testdata.
func TestTheKitsTakeWhatModelsReturn(t *testing.T) {
	t.Run("pytorch", func(t *testing.T) {
		dir := cases(t, "pytorch", "torch", 30)
		for _, name := range []string{"one_logit_in_a_column", "one_probability", "one_logit_that_lies_between_zero_and_one"} {
			admitted(t, filepath.Join(dir, name))
		}
	})
	t.Run("transformers", func(t *testing.T) { cases(t, "transformers", "torch, transformers", 9) })
	t.Run("vllm", func(t *testing.T) { cases(t, "vllm", "numpy", 9) })
	t.Run("sklearn", func(t *testing.T) { cases(t, "sklearn", "numpy", 4) })
	t.Run("jax", func(t *testing.T) { admitted(t, filepath.Join(cases(t, "jax", "jax", 5), "one_logit")) })
}

// cases runs the cases of a framework, and returns the folder that they write into.
func cases(t *testing.T, framework, module string, want int) string {
	t.Helper()
	python := cmp.Or(os.Getenv(EnvPython), "python3")
	if out, err := exec.Command(python, "-c", "import numpy, "+module).CombinedOutput(); err != nil {
		t.Skipf("%s does not have %s: %v %.200s", python, module, err, out)
	}
	dir := t.TempDir()
	out, err := exec.Command(python, filepath.Join("testdata", framework+"_cases.py"), ".", dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ok := 0
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if strings.HasPrefix(line, "ok ") {
			ok++
		} else if strings.HasPrefix(line, "failed ") {
			t.Error(strings.ReplaceAll(line, " | ", "\n"))
		}
	}
	if ok != want {
		t.Errorf("%d of %d cases passed:\n%s", ok, want, out)
	}
	return dir
}

// admitted checks that an audit takes a folder that a kit wrote, as two classes.
func admitted(t *testing.T, model string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Rename(model, filepath.Join(dir, "unlearned")); err != nil {
		t.Fatal(err)
	}
	for name, rows := range map[string][]int{"labels": make([]int, 70), "forget": {0, 1, 2}, "heldout": {3, 4, 5}} {
		if err := npy.WriteIndices(filepath.Join(dir, name+".npy"), rows); err != nil {
			t.Fatal(err)
		}
	}
	if e, err := judge.Open(dir); err != nil || e.Classes != 2 {
		t.Errorf("%s: %v", model, err)
	}
}

// What records writes of groups is read as groups: numbers, text, and columns of pandas, whose text
// are Python objects. The wrong number is refused, and no groups leave no file.
func TestTheKitsWriteGroups(t *testing.T) {
	python := cmp.Or(os.Getenv(EnvPython), "python3")
	modules := map[string]string{"pytorch": "torch", "jax": "jax", "sklearn": "numpy", "transformers": "torch", "vllm": "numpy"}
	for _, framework := range kit.Frameworks() {
		t.Run(framework, func(t *testing.T) {
			if out, err := exec.Command(python, "-c", "import numpy, "+modules[framework]).CombinedOutput(); err != nil {
				t.Skipf("%s does not have %s: %v %.200s", python, framework, err, out)
			}
			for _, group := range []string{"[7, 7, 9, 3]", "['ann', 'ann', 'bob', 'eve']", "numpy.array(['ann', 'ann', 'bob', 'eve'], dtype=object)"} {
				dir := filepath.Join(t.TempDir(), "new") // records makes it
				records, kind := "[0, 1, 0, 1]", "records"
				if framework == "transformers" || framework == "vllm" {
					records, kind = "['a', 'b', 'c', 'd']", "texts"
				}
				script := "import sys, numpy, lethe_" + framework + " as k\nk.records(sys.argv[1], " + records + ", [0], [1], [2], group=" + group + ")\n"
				runKit(t, python, script, dir)
				l, err := npy.ReadLabels(filepath.Join(dir, "group.npy"))
				if err != nil || len(l.Names) != 3 || l.Codes[0] != l.Codes[1] || l.Codes[1] == l.Codes[2] {
					t.Errorf("%s: %+v, %v", group, l, err)
				}
				runKit(t, python, strings.Replace(script, ", group="+group, "", 1), dir)
				if _, err := os.Stat(filepath.Join(dir, "group.npy")); err == nil {
					t.Error("the groups of an earlier call are left")
				}
				wrong := strings.Replace(script, records, strings.TrimSuffix(records, "]")+", "+strings.TrimPrefix(records, "["), 1)
				runKit(t, python, "try:\n    "+strings.ReplaceAll(strings.TrimSpace(wrong), "\n", "\n    ")+"\n    sys.exit('accepted')\nexcept ValueError as e:\n"+
					"    assert '4 groups for 8 "+kind+"' in str(e), e\n", dir)
			}
		})
	}
}

// runKit runs a Python script that finds the kits.
func runKit(t *testing.T, python, script, dir string) {
	t.Helper()
	c := exec.Command(python, "-c", script, dir)
	c.Env = append(os.Environ(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestUnknownFrameworksAreRefused(t *testing.T) {
	if _, err := kit.Text("fortran"); err == nil {
		t.Error("there is a kit for fortran")
	}
}
