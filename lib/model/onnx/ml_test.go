package onnx_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
)

// TestModelsOfScikitLearn holds what skl2onnx writes, and the operators of ai.onnx.ml with
// their settings, against onnxruntime 1.32.0 (testdata/ml.py). Refused are those alone that
// testdata/ml_refused.txt names: mostly those that onnxruntime computes in other ways than
// the standard says.
func TestModelsOfScikitLearn(t *testing.T) {
	dir := unpacked(t, "testdata/ml.tar.gz")
	refused := linesOf(t, "testdata/ml_refused.txt")
	e := opened(t)
	for _, name := range namesIn(t, dir) {
		t.Run(name, func(t *testing.T) {
			c := metaOf(t, filepath.Join(dir, name))
			err := c.check(t, e, filepath.Join(dir, name))
			switch may := slices.Contains(refused, name); {
			case errors.As(err, new(refusal)) && may:
			case err != nil:
				t.Errorf("%s\n%v", c.What, err)
			case may:
				t.Errorf("%s\nis right by now: ml_refused.txt need not name it", c.What)
			}
		})
	}
}
