package engine

import "testing"

func TestXLAFlagsAreReportedWithoutPaths(t *testing.T) {
	before, _ := usedXLAFlags.Load().(string)
	defer usedXLAFlags.Store(before)
	usedXLAFlags.Store(" --xla_a=1  --xla_gpu_cuda_data_dir=/opt/cu13 --xla_b")
	if got, want := XLAFlags(), "--xla_a=1 --xla_b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
