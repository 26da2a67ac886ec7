package judge

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
)

// damaged is a folder that a test may damage.
type damaged struct {
	t   *testing.T
	dir string
	m   *fixture
}

func (d damaged) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d damaged) raw(name, content string) {
	must(d.t, os.MkdirAll(filepath.Dir(d.path(name)), 0o755))
	must(d.t, os.WriteFile(d.path(name), []byte(content), 0o644))
}

func (d damaged) remove(name string)        { must(d.t, os.RemoveAll(d.path(name))) }
func (d damaged) rename(from, to string)    { must(d.t, os.Rename(d.path(from), d.path(to))) }
func (d damaged) rows(name string, x []int) { must(d.t, npy.WriteIndices(d.path(name), x)) }
func (d damaged) mask(name string, x ...[]bool) {
	must(d.t, npy.WriteMask(d.path(name), x))
}

// words writes an array of text, as numpy.save does.
func (d damaged) words(name string, x []string) {
	width := 1
	for _, w := range x {
		width = max(width, len(w))
	}
	d.header(name, fmt.Sprintf("|S%d", width), fmt.Sprintf("(%d,)", len(x)), 0)
	b, err := os.ReadFile(d.path(name))
	must(d.t, err)
	for _, w := range x {
		b = append(append(b, w...), make([]byte, width-len(w))...)
	}
	must(d.t, os.WriteFile(d.path(name), b, 0o644))
}

func (d damaged) vector(name string, x []float64) { must(d.t, npy.WriteVector(d.path(name), x)) }

func (d damaged) matrix(name string, x array.Matrix[float64]) {
	must(d.t, os.MkdirAll(filepath.Dir(d.path(name)), 0o755))
	must(d.t, npy.Write(d.path(name), x))
}

// edit changes a matrix in its file.
func (d damaged) edit(name string, change func(x array.Matrix[float64])) {
	x, err := npy.ReadMatrix(d.path(name))
	must(d.t, err)
	change(x)
	d.matrix(name, x)
}

// fill is a matrix with a row per record.
func (d damaged) fill(cols int, value func(i, j int) float64) array.Matrix[float64] {
	x := array.New[float64](len(d.m.y), cols)
	for i := range x.Rows {
		for j := range cols {
			x.Row(i)[j] = value(i, j)
		}
	}
	return x
}

// header writes a file of zeros with a header of the test's choice.
func (d damaged) header(name, descr, shape string, bytes int) {
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape)
	text += strings.Repeat(" ", 63-(len(text)+10)%64) + "\n"
	d.raw(name, "\x93NUMPY\x01\x00"+string([]byte{byte(len(text)), byte(len(text) >> 8)})+text+strings.Repeat("\x00", bytes))
}

// Of 100 records 20 are forgotten, 50 retained and 30 held out, of 4 classes.
var damages = []struct {
	name   string
	damage func(d damaged)
	say    []string // each is in the list; parts of one problem stand in one string
}{
	{"no forget records", func(d damaged) { d.remove("forget.npy") }, []string{"the records to be forgotten are not named: forget.npy"}},
	{"checkpoints that are not aligned", func(d damaged) {
		d.matrix("checkpoint-1/outputs.npy", d.fill(4, func(i, j int) float64 { return float64(i - j) }))
		short := d.fill(4, func(i, j int) float64 { return float64(i + j) })
		short.Rows, short.Data = 30, short.Data[:120]
		d.matrix("checkpoint-2/outputs.npy", short)
		d.matrix("checkpoint-3/outputs.npy", d.fill(3, func(i, j int) float64 { return float64(i - j) }))
		d.matrix("checkpoint-10/outputs.npy", d.fill(4, func(i, j int) float64 { return math.Log(float64(i - j)) }))
		d.rows("checkpoint-1/in.npy", []int{1, 2})
		must(d.t, os.Mkdir(d.path("checkpoint-4"), 0o755))
	}, []string{
		"checkpoint-4: an empty model", "checkpoint-2/outputs.npy: 30 rows", "checkpoint-3/outputs.npy: 3 columns, and the outputs of most models have 4",
		"checkpoint-10/outputs.npy: row 0, column 0 is -Inf", "checkpoint-1/in.npy: only shadow models may say what they were trained on",
	}},
	{"a slip in a checkpoint's name", func(d damaged) {
		d.matrix("chekpoint-1/outputs.npy", d.fill(4, half))
	}, []string{"chekpoint-1: holds arrays, and no model has this name; did you mean checkpoint-1?"}},
	{"groups of other records", func(d damaged) { d.rows("group.npy", d.m.y[:99]) }, []string{"group.npy: 99 rows; 11 of 12 arrays have 100"}},
	{"groups below 0", func(d damaged) {
		d.vector("group.npy", append([]float64{-1, 3, -1}, make([]float64, 97)...))
	}, []string{`group.npy: element 0 is "-1" (and 1 more): a record without a group needs one of its own`}},
	{"groups that are no numbers", func(d damaged) {
		d.vector("group.npy", append([]float64{1, math.NaN()}, make([]float64, 98)...))
	}, []string{"group.npy: unexpected value: element 1 is NaN, a group is a whole number"}},
	{"groups without a name", func(d damaged) {
		d.words("group.npy", append([]string{"ann", "bob", "nan"}, slices.Repeat([]string{"eve"}, 97)...))
	}, []string{`group.npy: element 2 is "nan": a record without a group needs one of its own`}},
	{"groups in columns", func(d damaged) { d.matrix("group.npy", d.fill(2, half)) }, []string{"group.npy: group of shape <f8 (100, 2), expected one number per record"}},
	{"groups that are forgotten in part", func(d damaged) {
		groups := rowsOf(100)
		groups[20], groups[21], groups[71] = 5, 6, 7
		d.rows("group.npy", groups)
	}, []string{`group.npy: groups "5", "6" with records to be forgotten have retained records too: forget whole groups, or say "groups_may_mix": true`,
		`group.npy: group "7" with records to be forgotten has held-out records too: forget`}},
	{"a unit without groups", func(d damaged) { d.raw("audit.json", `{"group_unit": "author"}`) },
		[]string{"audit.json: group_unit and groups_may_mix say something of groups, and there are none: group.npy"}},
	{"a unit that is no text", func(d damaged) {
		d.rows("group.npy", rowsOf(100))
		d.raw("audit.json", `{"group_unit": "aut\u001bhor"}`)
	}, []string{`the group_unit "aut\x1bhor" holds control characters`}},
	{"groups in another format", func(d damaged) { d.raw("group.csv", "1\n") }, []string{"group.csv: arrays are read from group.npy alone"}},
	{"no unlearned model", func(d damaged) { d.remove("unlearned") }, []string{"there is no unlearned model: a folder unlearned/"}},
	{"an empty model", func(d damaged) { must(d.t, os.Mkdir(d.path("retrained-3"), 0o755)) }, []string{"retrained-3: an empty model"}},
	{"a slip in a file's name", func(d damaged) { d.rename("heldout.npy", "held-out.npy") }, []string{"held-out.npy: no array of this name is known; did you mean heldout?"}},
	{"a slip in an array's name", func(d damaged) { d.rename("unlearned/embedding.npy", "unlearned/embeddings.npy") }, []string{"unlearned/embeddings.npy: no array of a model has this name; did you mean embedding?"}},
	{"another spelling of a copy's name", func(d damaged) {
		d.matrix("quantized-int8/outputs.npy", d.fill(4, func(i, j int) float64 { return float64(i - j) }))
	}, []string{"quantized-int8: holds arrays, and no model has this name; did you mean quantised-int8?"}},
	{"a slip in the name of inputs", func(d damaged) { d.matrix("input.npy", d.fill(4, func(i, j int) float64 { return 1 })) },
		[]string{"input.npy: no array of this name is known; did you mean inputs?"}},
	{"rows that are text", func(d damaged) { d.header("forget.npy", "<U3", "(2,)", 24) },
		[]string{"forget.npy: <U3 (2,) is text, and row numbers or a mask of bools are expected"}},
	{"a slip in a model's name", func(d damaged) { d.rename("unlearned", "unlerned") }, []string{"unlerned: holds arrays, and no model has this name; did you mean unlearned?", "there is no unlearned model"}},
	{"a set in another format", func(d damaged) { d.raw("heldout.npz", "PK\x03\x04") }, []string{"heldout.npz: arrays are read from heldout.npy alone"}},
	{"labels as text", func(d damaged) { d.remove("labels.npy"); d.raw("labels.csv", "0\n1\n") }, []string{"labels.csv: arrays are read from labels.npy alone"}},
	{"outputs in another format", func(d damaged) {
		d.rename("unlearned/outputs.npy", "unlearned/outputs.pt")
		d.remove("unlearned/embedding.npy")
	},
		[]string{"unlearned/outputs.pt: arrays are read from outputs.npy alone"}},
	{"a training set in another format", func(d damaged) { d.raw("shadow-aa/in.txt", "1\n") }, []string{"shadow-aa/in.txt: arrays are read from in.npy alone"}},
	{"an activation in another format", func(d damaged) { d.raw("unlearned/activations/conv1.npz", "PK") },
		[]string{"unlearned/activations/conv1.npz: arrays are read from conv1.npy alone"}},
	{"activations in folders", func(d damaged) { d.matrix("unlearned/activations/block/conv1.npy", d.fill(2, half)) },
		[]string{"unlearned/activations/block: named activations are .npy files, and no folder"}},
	{"an unknown array", func(d damaged) { d.vector("weights.npy", []float64{1}) }, []string{"weights.npy: no array of this name is known; there are forget, group, heldout, input_offset, input_tokens, inputs, labels, offset, retain, zlib"}},
	{"arrays inside a model", func(d damaged) { d.matrix("original/layers/conv1.npy", d.fill(2, at00)) }, []string{"original/layers: a folder of arrays inside a model; named activations lie in original/activations"}},
	{"not an array", func(d damaged) { d.raw("labels.npy", "0\n1\n2\n") }, []string{"labels.npy: not a valid .npy file"}},
	{"an empty file", func(d damaged) { d.raw("unlearned/outputs.npy", "") }, []string{"unlearned/outputs.npy: not a valid .npy file"}},
	{"an npz archive", func(d damaged) { d.raw("retain.npy", "PK\x03\x04") }, []string{"retain.npy: not a valid .npy file"}},
	{"a file cut off", func(d damaged) { must(d.t, os.Truncate(d.path("original/outputs.npy"), 900)) }, []string{"original/outputs.npy: not a valid .npy file: shape (100, 4)"}},
	{"Python objects", func(d damaged) { d.header("labels.npy", "|O", "(100,)", 800) }, []string{"labels.npy: arrays of Python objects are never read"}},
	{"complex numbers", func(d damaged) { d.header("unlearned/embedding.npy", "<c8", "(100, 2)", 1600) }, []string{"unlearned/embedding.npy: unsupported element type"}},
	{"a pipe in place of a file", func(d damaged) { d.remove("labels.npy"); must(d.t, os.Mkdir(d.path("labels.npy"), 0o755)) }, []string{"labels.npy: expected a regular file"}},
	{"a link to nowhere", func(d damaged) { d.remove("labels.npy"); must(d.t, os.Symlink("nowhere", d.path("labels.npy"))) }, []string{"labels.npy: there is no such file"}},
	{"too few labels", func(d damaged) { d.rows("labels.npy", d.m.y[:99]) }, []string{"labels.npy: 99 rows; 10 of 11 arrays have 100, unlearned/embedding.npy among them: row i must be the same record in all of them"}},
	{"outputs of the test part alone", func(d damaged) {
		x := d.fill(4, func(i, j int) float64 { return float64(i - j) })
		x.Rows, x.Data = 30, x.Data[:120]
		d.matrix("unlearned/outputs.npy", x)
	}, []string{"unlearned/outputs.npy: 30 rows"}},
	{"labels of nothing", func(d damaged) { d.rows("labels.npy", nil) }, []string{"labels.npy: labels of shape <i8 (0,): there is nothing in it"}},
	{"a single label", func(d damaged) { d.header("labels.npy", "<i8", "()", 8) }, []string{"labels.npy: labels of shape <i8 (), expected one number per record"}},
	{"losses in two columns", func(d damaged) { d.matrix("unlearned/losses.npy", d.fill(2, half)) }, []string{"unlearned/losses.npy: losses of shape <f8 (100, 2), expected one number per record"}},
	{"losses that are whole numbers too large", func(d damaged) {
		x := make([]int, 100)
		x[3] = 1<<60 + 1 // which no float64 is
		d.rows("unlearned/losses.npy", x)
	}, []string{"unlearned/losses.npy: unexpected value: element 3 is 1152921504606846977"}},
	{"one-hot labels", func(d damaged) { d.matrix("labels.npy", d.fill(4, at00)) }, []string{"labels.npy: labels of shape <f8 (100, 4): one class per record is expected; save y.argmax(axis=1)"}},
	{"labels that are bools", func(d damaged) { d.mask("labels.npy", make([]bool, 100)) }, []string{"labels.npy: labels of shape |b1 (1, 100)"}},
	{"labels with halves", func(d damaged) { v := make([]float64, 100); v[7] = 0.5; d.vector("labels.npy", v) }, []string{"labels.npy: element 7 is 0.5, and labels are whole numbers"}},
	{"labels with NaN", func(d damaged) { v := make([]float64, 100); v[7] = math.NaN(); d.vector("labels.npy", v) }, []string{"labels.npy: element 7 is NaN"}},
	{"labels from 1", func(d damaged) {
		y := slices.Clone(d.m.y)
		for i := range y {
			y[i]++
		}
		d.rows("labels.npy", y)
	}, []string{"labels.npy: labels run from 1 to 4; they count from 0"}},
	{"a label out of range", func(d damaged) { y := slices.Clone(d.m.y); y[42] = 7; d.rows("labels.npy", y) }, []string{"labels.npy: element 42 is 7, and the outputs have 4 columns: labels run from 0 to 3"}},
	{"labels below and above the range", func(d damaged) {
		y := slices.Clone(d.m.y)
		y[3], y[42], y[43], y[44] = -1, 7, 4, -2
		d.rows("labels.npy", y)
	},
		[]string{"labels.npy: element 42 is 7 (and 1 more), and the outputs have 4 columns", "labels.npy: element 3 is -1 (and 1 more), and labels count from 0"}},
	{"a negative label", func(d damaged) { y := slices.Clone(d.m.y); y[42] = -1; d.rows("labels.npy", y) }, []string{"labels.npy: element 42 is -1, and labels count from 0"}},
	{"NaN in outputs", func(d damaged) {
		d.edit("unlearned/outputs.npy", func(x array.Matrix[float64]) { x.Row(3)[1], x.Row(5)[2] = math.NaN(), math.Inf(1) })
	}, []string{"unlearned/outputs.npy: row 3, column 1 is NaN (and 1 more)"}},
	{"infinity in an embedding", func(d damaged) {
		d.edit("original/embedding.npy", func(x array.Matrix[float64]) { x.Row(99)[0] = math.Inf(-1) })
	}, []string{"original/embedding.npy: row 99, column 0 is -Inf"}},
	{"NaN in a named activation", func(d damaged) {
		d.matrix("unlearned/activations/conv1.npy", d.fill(2, func(i, j int) float64 { return math.Log(float64(i - 1)) }))
	}, []string{"unlearned/activations/conv1.npy: row 0, column 0 is NaN (and 3 more)"}},
	{"predicted classes", func(d damaged) { d.rows("unlearned/outputs.npy", d.m.y) }, []string{"unlearned/outputs.npy: outputs of shape <i8 (100,) look like predicted classes"}},
	{"predicted classes, one-hot", func(d damaged) { d.matrix("unlearned/outputs.npy", d.fill(4, at00)) }, []string{"unlearned/outputs.npy: every row is a single 1 among zeros: these are predicted classes"}},
	{"one probability of two classes", func(d damaged) { d.matrix("unlearned/outputs.npy", d.fill(1, half)) }, []string{"unlearned/outputs.npy: one column; save a column per class"}},
	{"outputs of three dimensions", func(d damaged) { d.header("unlearned/outputs.npy", "<f4", "(100, 2, 2)", 1600) }, []string{"unlearned/outputs.npy: outputs of shape <f4 (100, 2, 2), expected (records, columns)"}},
	{"other classes in one model", func(d damaged) { d.matrix("unlearned/outputs.npy", d.fill(3, at00)) }, []string{"unlearned/outputs.npy: 3 columns, and the outputs of most models have 4"}},
	{"a sigmoid per class", func(d damaged) { d.matrix("unlearned/outputs.npy", d.fill(4, half)) }, []string{"unlearned/outputs.npy: values lie in 0..1, and row 0 sums to 2 (and 99 more): neither probabilities"}},
	{"probabilities that do not sum to one", func(d damaged) {
		d.matrix("unlearned/outputs.npy", d.fill(4, func(i, j int) float64 { return 0.25 - float64(i/98)*0.05 }))
	}, []string{"unlearned/outputs.npy: row 98 sums to 0.8, and probabilities sum to one (and 1 more)"}},
	{"a probability below zero", func(d damaged) {
		d.matrix("unlearned/outputs.npy", d.fill(4, func(i, j int) float64 { return 0.25 + float64(i/99)*float64(1-2*(j%2)) }))
	}, []string{"unlearned/outputs.npy: row 99 holds -0.75, which is no probability"}},
	{"percentages", func(d damaged) { d.matrix("unlearned/outputs.npy", d.fill(4, func(int, int) float64 { return 25 })) }, []string{"unlearned/outputs.npy: every row sums to 100: shares, which are divided by their sum, or logits, whose file is logits.npy"}},
	{"logits called probabilities", func(d damaged) { d.rename("unlearned/outputs.npy", "unlearned/probabilities.npy") }, []string{"unlearned/probabilities.npy: row "}},
	{"probabilities called logits", func(d damaged) {
		d.remove("unlearned/outputs.npy")
		d.matrix("unlearned/logits.npy", d.fill(4, func(i, j int) float64 { return 0.1 + 0.6*float64((i+j)%4/3) }))
	}, []string{"unlearned/logits.npy: every row lies in 0..1 and sums to one: these are probabilities"}},
	{"log-likelihoods called losses", func(d damaged) {
		for _, m := range []string{"unlearned", "original", "retrained"} {
			d.remove(m + "/outputs.npy")
			d.vector(m+"/losses.npy", d.fill(1, func(i, _ int) float64 { return -float64(i % 7) }).Data)
		}
	}, []string{"unlearned/losses.npy: no loss is above 0, as of log-likelihoods", "original/losses.npy: no loss", "retrained/losses.npy: no loss"}},
	{"two names for one array", func(d damaged) { d.matrix("unlearned/logits.npy", d.fill(4, half)) }, []string{"unlearned: outputs, logits and probabilities are three names for one array"}},
	{"NaN among losses", func(d damaged) { v := make([]float64, 100); v[1] = math.NaN(); d.vector("unlearned/losses.npy", v) }, []string{"unlearned/losses.npy: element 1 is NaN"}},
	{"losses that are not those of the outputs", func(d damaged) { d.vector("unlearned/losses.npy", make([]float64, 100)) },
		[]string{"unlearned/losses.npy: row 0 is 0, and the cross-entropy of its outputs"}},
	{"losses of another number", func(d damaged) { d.vector("unlearned/losses.npy", make([]float64, 50)) }, []string{"unlearned/losses.npy: 50 rows"}},
	{"a flat embedding", func(d damaged) { d.vector("unlearned/embedding.npy", make([]float64, 100)) }, []string{"unlearned/embedding.npy: embedding of shape <f8 (100,), expected (records, columns)"}},
	{"an embedding of nothing", func(d damaged) { d.header("unlearned/embedding.npy", "<f4", "(100, 0)", 0) }, []string{"unlearned/embedding.npy: embedding of shape <f4 (100, 0): there is nothing in it"}},
	{"widths that differ", func(d damaged) { d.matrix("retrained/embedding.npy", d.fill(3, half)) }, []string{"retrained/embedding.npy: 3 columns, and unlearned/embedding.npy has 6"}},
	{"forget rows out of range", func(d damaged) { d.rows("forget.npy", []int{0, 100, 7, 1000}) }, []string{"forget.npy: element 1 is 100, and there are 100 records (0 to 99) (and 1 more)"}},
	{"a negative row", func(d damaged) { d.rows("forget.npy", []int{3, -1}) }, []string{"forget.npy: unexpected value: element 1 is -1"}},
	{"no forget rows", func(d damaged) { d.rows("forget.npy", nil) }, []string{"forget.npy: no rows"}},
	{"rows as floats", func(d damaged) { d.vector("forget.npy", []float64{1, 2}) }, []string{"forget.npy: unsupported element type: expected integers"}},
	{"a row twice", func(d damaged) { d.rows("forget.npy", []int{4, 5, 4}) }, []string{"forget.npy: row 4 is named twice"}},
	{"a mask of integers", func(d damaged) { x := make([]int, 100); x[3] = 1; d.rows("forget.npy", x) }, []string{"forget.npy: row 0 is named twice (and 97 more); if this is a mask, save it as bools"}},
	{"a mask of another length", func(d damaged) { d.mask("forget.npy", make([]bool, 99)) }, []string{"forget.npy: a mask of shape |b1 (1, 99), and there are 100 records"}},
	{"a mask without a record", func(d damaged) { d.mask("forget.npy", make([]bool, 100)) }, []string{"forget.npy: a mask without a record"}},
	{"a matrix of rows", func(d damaged) { d.header("forget.npy", "<i8", "(2, 2)", 32) }, []string{"forget.npy: unexpected shape: expected (n,) or (n, 1), found (2, 2)"}},
	{"forget and retain overlap", func(d damaged) { d.rows("forget.npy", []int{0, 1, 20, 21}) }, []string{"retain.npy: row 20 is in another set too (and 1 more): forget, retain and heldout must share no record"}},
	{"forget and heldout overlap", func(d damaged) { d.rows("heldout.npy", []int{19, 98}) }, []string{"heldout.npy: row 19 is in another set too"}},
	{"a shadow model without its records", func(d damaged) { d.remove("shadow-aa/in.npy") }, []string{"shadow-aa: a shadow model needs in.npy"}},
	{"a shadow model with a row out of range", func(d damaged) { d.rows("shadow-aa/in.npy", []int{1, 100}) }, []string{"shadow-aa/in.npy: element 1 is 100, and there are 100 records (0 to 99)"}},
	{"a shadow model with a row twice", func(d damaged) { d.rows("shadow-aa/in.npy", []int{4, 5, 4}) }, []string{"shadow-aa/in.npy: row 4 is named twice"}},
	{"a shadow model with a mask of integers", func(d damaged) {
		x := make([]int, 100)
		x[3], x[50] = 1, 1
		d.rows("shadow-aa/in.npy", x)
	}, []string{"shadow-aa/in.npy: row 0 is named twice (and 97 more); if this is a mask, save it as bools"}},
	{"a shadow model with a short mask", func(d damaged) { d.mask("shadow-aa/in.npy", make([]bool, 9)) }, []string{"shadow-aa/in.npy: a mask of shape |b1 (1, 9)"}},
	{"a shadow model that had everything", func(d damaged) {
		in := make([]bool, 100)
		for i := range in {
			in[i] = true
		}
		d.mask("shadow-aa/in.npy", in)
	}, []string{"shadow-aa/in.npy: a shadow model must not be trained on every record"}},
	{"a training set of the original", func(d damaged) { d.rows("original/in.npy", []int{1}) }, []string{"original/in.npy: only shadow models may say what they were trained on"}},
	{"a config that is no JSON", func(d damaged) { d.raw("audit.json", "{\n\"forget\": ,}") }, []string{"audit.json: line 2: invalid character"}},
	{"a config with a slip", func(d damaged) { d.raw("audit.json", `{"forgot": "forget.npy"}`) }, []string{`audit.json: line 1: unknown field "forgot"`}},
	{"a config with a slip inside a model", func(d damaged) { d.raw("audit.json", `{"unlearned": {"output": "x.npy"}}`) }, []string{`unknown field "output"`}},
	{"a config with two values", func(d damaged) { d.raw("audit.json", `{} {}`) }, []string{"audit.json: line 1: there is text after the end"}},
	{"a config with a number for a file", func(d damaged) { d.raw("audit.json", `{"forget": 3}`) }, []string{"audit.json: line 1: forget is a number, and text is expected"}},
	{"a config whose file is missing", func(d damaged) { d.raw("audit.json", `{"labels": "y.npy"}`) }, []string{"y.npy: there is no such file"}},
	{"the rest is forgotten", func(d damaged) { d.raw("audit.json", `{"forget": "rest"}`) }, []string{`forget is "rest"`}},
	{"two rests", func(d damaged) { d.raw("audit.json", `{"retain": "rest", "heldout": "rest"}`) }, []string{`retain and heldout are both "rest"`}},
	{"two models of one name", func(d damaged) {
		d.raw("audit.json", `{"retrained": [{"name": "a", "outputs": "retrained/outputs.npy"}, {"name": "a", "outputs": "retrained/outputs.npy"}]}`)
	}, []string{`two models are called "a"`}},
	{"names that give orders to a terminal", func(d damaged) {
		d.raw("audit.json", `{"question": "What of\nit\u001b[2J?", "unlearned": {"name": "a\nb", "outputs": "unlearned/outputs.npy", "activations": {"c\u009b": "unlearned/embedding.npy"}}}`)
		d.rename("retrained", "retrained-\x1b[2J")
	}, []string{
		`the question "What of it\x1b[2J?" holds control characters`, `the model "a\nb" holds control characters`, `the activation "c\u009b" holds`,
		`the file "retrained-\x1b[2J/embedding.npy" holds control characters`, `the file "retrained-\x1b[2J/outputs.npy" holds`, `the model "retrained-\x1b[2J" holds`,
	}},
	{"names that are no text", func(d damaged) { d.matrix("unlearned/activations/\xff\n.npy", d.fill(2, half)) }, []string{
		`the file "unlearned/activations/\xff\n.npy" holds`, `the activation "\xff\n" holds`,
	}},
	{"logits that overflow", func(d damaged) {
		d.edit("unlearned/outputs.npy", func(x array.Matrix[float64]) { x.Row(3)[1], x.Row(9)[0] = 1e308, -1e308 })
	}, []string{"unlearned/outputs.npy: row 3, column 1 is 1e+308, too large: more than 1e+100 (and 1 more)"}},
	{"an embedding that overflows", func(d damaged) {
		d.edit("retrained/embedding.npy", func(x array.Matrix[float64]) { x.Row(99)[5] = -1e200 })
	}, []string{"retrained/embedding.npy: row 99, column 5 is -1e+200, too large"}},
	{"a named activation that overflows", func(d damaged) {
		d.matrix("unlearned/activations/a.npy", d.fill(2, func(i, _ int) float64 { return math.Pow(10, float64(3*i)) }))
	}, []string{"unlearned/activations/a.npy: row 34, column 0 is 1e+102, too large"}},
	{"losses that overflow", func(d damaged) { v := make([]float64, 100); v[7] = 1e308; d.vector("unlearned/losses.npy", v) }, []string{"unlearned/losses.npy: element 7 is 1e+308, too large"}},
	{"logits of a shadow model that overflow", func(d damaged) {
		d.edit("shadow-aa/outputs.npy", func(x array.Matrix[float64]) { x.Row(0)[0] = 1e301 })
	}, []string{"shadow-aa/outputs.npy: row 0, column 0 is 1e+301, too large"}},
	{"labels that overflow", func(d damaged) { v := make([]float64, 100); v[5] = 1e308; d.vector("labels.npy", v) }, []string{"labels.npy: element 5 is 1e+308, and labels are whole numbers"}},
	{"labels that are not finite", func(d damaged) { v := make([]float64, 100); v[5] = math.NaN(); d.vector("labels.npy", v) }, []string{"labels.npy: element 5 is NaN"}},
	{"NaN in the second part of an array", func(d damaged) {
		part := func(name string, at int) {
			x := array.New[float64](50, 4)
			for i := range x.Data {
				x.Data[i] = d.m.rng.NormFloat64()
			}
			if at >= 0 {
				x.Row(at)[2] = math.Inf(-1)
			}
			d.matrix(name, x)
		}
		part("top.npy", -1)
		part("bottom.npy", 7)
		d.raw("audit.json", `{"unlearned": {"outputs": ["top.npy", "bottom.npy"]}}`)
	}, []string{"- bottom.npy: row 7, column 2 is -Inf"}},
	{"parts of other widths", func(d damaged) {
		d.matrix("top.npy", array.New[float64](50, 4))
		d.matrix("bottom.npy", array.New[float64](50, 5))
		d.raw("audit.json", `{"unlearned": {"outputs": ["top.npy", "bottom.npy"]}}`)
	}, []string{"bottom.npy: 5 columns, and top.npy has 4"}},
	{"several at once", func(d damaged) {
		d.rows("labels.npy", d.m.y[:98])
		d.rows("forget.npy", []int{3, 500})
		d.edit("unlearned/outputs.npy", func(x array.Matrix[float64]) { x.Row(3)[1] = math.NaN() })
		d.raw("original/embedding.npy", "")
		d.remove("shadow-aa/in.npy")
	}, []string{"labels.npy: 98 rows", "forget.npy: element 1 is 500", "unlearned/outputs.npy: row 3, column 1 is NaN", "original/embedding.npy: not a valid", "shadow-aa: a shadow model needs"}},
}

func at00(_, j int) float64 {
	if j == 0 {
		return 1
	}
	return 0
}

func half(int, int) float64 { return 0.5 }

func TestEverythingThatIsWrongIsListed(t *testing.T) {
	if len(damages) < 40 {
		t.Errorf("only %d kinds of damage", len(damages))
	}
	for _, c := range damages {
		t.Run(c.name, func(t *testing.T) {
			d := damaged{t, t.TempDir(), newFixture(3, 20, 50, 30)}
			d.m.write(t, d.dir, d.m.retained, 1)
			if _, err := Open(d.dir); err != nil {
				t.Fatalf("before the damage: %v", err)
			}
			c.damage(d)
			_, err := Open(d.dir)
			var problems *Problems
			if !errors.As(err, &problems) {
				t.Fatalf("%v is no list of problems", err)
			}
			if len(problems.List) != len(c.say) {
				t.Errorf("%d problems, want %d: %v", len(problems.List), len(c.say), err)
			}
			for _, word := range c.say {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%v\ndoes not say %q", err, word)
				}
			}
		})
	}
}

func TestAFolderThatIsNotThereIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(file, nil, 0o644))
	for _, dir := range []string{filepath.Join(t.TempDir(), "nowhere"), file} {
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), filepath.Base(dir)) {
			t.Errorf("%v", err)
		}
	}
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "there is no unlearned model") {
		t.Errorf("an empty folder: %v", err)
	}
}

// Labels of a binary task are often saved as bools.
func TestLabelsMayBeBools(t *testing.T) {
	d := damaged{t, t.TempDir(), newFixture(3, 20, 50, 30)}
	d.m.write(t, d.dir, d.m.retained, 1)
	text := make([]byte, 100)
	want := make([]int, 100)
	for i := range text {
		want[i] = i % 2
		text[i] = byte(i % 2)
	}
	d.header("labels.npy", "|b1", "(100,)", 0)
	f, err := os.OpenFile(d.path("labels.npy"), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.Write(text)
	must(t, errors.Join(err, f.Close()))
	e, err := Open(d.dir)
	must(t, err)
	if !slices.Equal(e.Labels, want) {
		t.Errorf("labels %v", e.Labels)
	}
}
