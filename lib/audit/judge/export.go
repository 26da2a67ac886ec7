// Export of models of a case of the lab as a folder of arrays that an audit can open.

package judge

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
	"github.com/lethe-ml/lethe/lib/audit"
)

// Export writes models of a case of the lab as a folder that Open reads, with outputs and
// embeddings. Records are the training part followed by the test part. The held-out records are
// those that no method may use (lab.Case.Judged).
func Export(dir string, c *audit.Case, unlearned *audit.Model, retrained ...*audit.Model) error {
	train := c.Train.X.Rows
	heldOut := c.EvalRows()
	for k := range heldOut {
		heldOut[k] += train
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	labels := append(append([]int{}, c.Train.Y...), c.Test.Y...)
	for name, rows := range map[string][]int{"labels": labels, "forget": c.Forget, "retain": c.Retain, "heldout": heldOut} {
		if err := npy.WriteIndices(filepath.Join(dir, name+".npy"), rows); err != nil {
			return err
		}
	}
	models := map[string]*audit.Model{"unlearned": unlearned, "original": c.Original}
	for k, m := range retrained {
		models[fmt.Sprintf("retrained-%d", k+1)] = m
	}
	for name, m := range models {
		if err := exportModel(filepath.Join(dir, name), m); err != nil {
			return err
		}
	}
	return nil
}

func exportModel(dir string, m *audit.Model) error {
	o, err := m.Outputs()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := npy.Write(filepath.Join(dir, "outputs.npy"), stackRows(o.Train.Logits(), o.Test.Logits())); err != nil {
		return err
	}
	return npy.Write(filepath.Join(dir, "embedding.npy"), stackRows(o.Train.Embedding, o.Test.Embedding))
}

// stackRows returns one matrix above another of the same width.
func stackRows(top, bottom array.Matrix[float32]) array.Matrix[float32] {
	return array.Matrix[float32]{Rows: top.Rows + bottom.Rows, Cols: top.Cols, Data: append(append([]float32{}, top.Data...), bottom.Data...)}
}
