package backend_test

import (
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/support/backendtest"

	"github.com/lethe-ml/lethe/lib/engine/backend"
)

// TestGoMLXsOwnSuite runs what GoMLX asks of a backend. The suite skips what a backend
// does not claim to do, so that the claims come first.
func TestGoMLXsOwnSuite(t *testing.T) {
	b := backend.Open(2)
	is := b.Capabilities()
	for _, op := range []compute.OpType{
		compute.OpTypeAdd, compute.OpTypeDiv, compute.OpTypeMax, compute.OpTypeLessThan, compute.OpTypeLogicalAnd, compute.OpTypeExp, compute.OpTypeErf,
		compute.OpTypeWhere, compute.OpTypeConvertDType, compute.OpTypeReshape, compute.OpTypeTranspose, compute.OpTypeBroadcastInDim,
		compute.OpTypeSlice, compute.OpTypeReverse, compute.OpTypeConcatenate, compute.OpTypePad, compute.OpTypeIota, compute.OpTypeReduceSum,
		compute.OpTypeReduceMax, compute.OpTypeArgMinMax, compute.OpTypeDotGeneral, compute.OpTypeConvGeneral, compute.OpTypeReduceWindow,
		compute.OpTypeSelectAndScatterMax, compute.OpTypeGather, compute.OpTypeScatterSum, compute.OpTypeConstant, compute.OpTypeParameter,
	} {
		if !is.Operations[op] {
			t.Errorf("%s is not among the operations", op)
		}
	}
	for _, of := range []dtypes.DType{dtypes.Bool, dtypes.Int8, dtypes.Int32, dtypes.Int64, dtypes.Uint64, dtypes.Float32, dtypes.Float64} {
		if !is.DTypes[of] {
			t.Errorf("%s is not among the types", of)
		}
	}
	backendtest.RunAll(t, b, nil)
}
