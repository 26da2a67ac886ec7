// Export of models of a case of the lab as a folder of arrays that an audit can open.

package judge

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/model"
)

// Export writes models of a case of the lab as a folder that Open reads: outputs, or losses of a
// model that is no classifier, and embeddings. The records are those of the three sets, in their order
// in the training part followed by the test part; the held-out ones are those that no method may use
// (lab.Case.EvalRows).
func Export(dir string, c *audit.Case, unlearned *audit.Model, retrained ...*audit.Model) error {
	return ExportAll(dir, c, []*audit.Model{unlearned}, retrained)
}

// ExportAll is Export of several unlearned models: unlearned, unlearned-2, and so on.
func ExportAll(dir string, c *audit.Case, unlearned, retrained []*audit.Model) error {
	x := &exporter{dir: dir, c: c}
	if err := x.writeRecords(); err != nil {
		return err
	}
	if err := x.writeModel("original", c.Original); err != nil {
		return err
	}
	for k, m := range unlearned {
		name := "unlearned"
		if k > 0 {
			name += fmt.Sprintf("-%d", k+1)
		}
		if err := x.writeModel(name, m); err != nil {
			return err
		}
	}
	for k, m := range retrained {
		if err := x.writeModel(fmt.Sprintf("retrained-%d", k+1), m); err != nil {
			return err
		}
	}
	return nil
}

type exporter struct {
	dir  string
	c    *audit.Case
	rows []int // that are written, of the train part followed by the test part
	sets [][]int
}

// writeRecords chooses the records, and writes their labels and the sets.
func (x *exporter) writeRecords() error {
	train := x.c.Train.X.Rows
	heldOut := x.c.EvalRows()
	for k := range heldOut {
		heldOut[k] += train
	}
	x.sets = [][]int{x.c.Retain, x.c.Forget, heldOut}
	x.rows = slices.Concat(x.sets...)
	slices.Sort(x.rows)
	at := map[int]int{}
	for k, row := range x.rows {
		at[row] = k
	}
	labels, files := slices.Concat(x.c.Train.Y, x.c.Test.Y), map[string][]int{"labels": nil}
	for _, row := range x.rows {
		files["labels"] = append(files["labels"], labels[row])
	}
	for k, name := range []string{"retain", "forget", "heldout"} {
		for _, row := range x.sets[k] {
			files[name] = append(files[name], at[row])
		}
	}
	if err := os.MkdirAll(x.dir, 0o755); err != nil {
		return err
	}
	for name, rows := range files {
		if err := npy.WriteIndices(filepath.Join(x.dir, name+".npy"), rows); err != nil {
			return err
		}
	}
	return npy.Write(filepath.Join(x.dir, inputArray+".npy"), stackRows(x.c.Train.X, x.c.Test.X).Gather(x.rows))
}

func (x *exporter) writeModel(name string, m *audit.Model) error {
	dir := filepath.Join(x.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	o, err := m.Outputs()
	if err != nil {
		return err
	}
	if err := npy.Write(filepath.Join(dir, "embedding.npy"), stackRows(o.Train.Embedding, o.Test.Embedding).Gather(x.rows)); err != nil {
		return err
	}
	if _, is := x.c.Problem.Arch.(model.Classifier); is {
		return npy.Write(filepath.Join(dir, "outputs.npy"), stackRows(o.Train.Logits(), o.Test.Logits()).Gather(x.rows))
	}
	losses, err := x.c.Losses(m)
	if err != nil {
		return err
	}
	of := map[int]float64{}
	for k, values := range [][]float64{losses.Retained, losses.Forgotten, losses.HeldOut} {
		for i, row := range x.sets[k] {
			of[row] = values[i]
		}
	}
	var out []float64
	for _, row := range x.rows {
		out = append(out, of[row])
	}
	return npy.WriteVector(filepath.Join(dir, "losses.npy"), out)
}

// stackRows returns one matrix above another of the same width.
func stackRows(top, bottom array.Matrix[float32]) array.Matrix[float32] {
	return array.Matrix[float32]{Rows: top.Rows + bottom.Rows, Cols: top.Cols, Data: append(append([]float32{}, top.Data...), bottom.Data...)}
}
