// Checks of the suite: invalid requests.

package unlearntest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// invalidRequest is a request that must be refused, with words of the error.
type invalidRequest struct {
	name    string
	corrupt func(r *unlearn.Request)
	words   []string
}

// invalidRequests lists requests that Apply refuses for every method, also where the method
// does not see the part in question.
var invalidRequests = []invalidRequest{
	{"an empty forget set", func(r *unlearn.Request) { r.Forget = unlearn.Data{} },
		[]string{"forget set is empty", "nothing to unlearn"}},
	{"a forget set equal to everything", func(r *unlearn.Request) { r.Retain = unlearn.Data{} },
		[]string{"retain set is empty", "forget set contains all records"}},
	{"NaN in the forget set", func(r *unlearn.Request) { r.Forget.X.Row(2)[1] = float32(math.NaN()) },
		[]string{"forget set", "row 2, column 1 is NaN"}},
	{"infinity in the retain set", func(r *unlearn.Request) { r.Retain.X.Row(5)[3] = float32(math.Inf(-1)) },
		[]string{"retain set", "row 5, column 3 is -Inf"}},
	{"overlapping sets", func(r *unlearn.Request) { r.Retain.IDs[4] = r.Forget.IDs[0] },
		[]string{"record", "in the forget set and again in the retain set"}},
	{"a record twice", func(r *unlearn.Request) { r.Forget.IDs[1] = r.Forget.IDs[0] },
		[]string{"record", "in the forget set and again in the forget set"}},
	{"a label out of range", func(r *unlearn.Request) { r.Forget.Y[3] = toyClasses },
		[]string{"forget set", "record 3 has label 3", "classes 0 to 2"}},
	{"a negative label", func(r *unlearn.Request) { r.Retain.Y[0] = -1 },
		[]string{"retain set", "record 0 has label -1"}},
	{"missing labels", func(r *unlearn.Request) { r.Retain.Y = r.Retain.Y[:3] },
		[]string{"retain set", "3 labels"}},
	{"missing record numbers", func(r *unlearn.Request) { r.Forget.IDs = nil },
		[]string{"forget set", "0 record numbers"}},
	{"other features", func(r *unlearn.Request) { r.Forget.X = array.New[float32](toyForget, 7) },
		[]string{"forget set", "7 features", "takes 4"}},
	{"a torn table", func(r *unlearn.Request) { r.Retain.X.Data = r.Retain.X.Data[:9] },
		[]string{"retain set", "9 values do not fill"}},
	{"a damaged original", func(r *unlearn.Request) { r.Original[1].Data[0] = float32(math.NaN()) },
		[]string{"original", "hidden1.bias", "element 0 is NaN"}},
	{"another model", func(r *unlearn.Request) { r.Original = r.Original[:4] },
		[]string{"original", "4 tensors against 6"}},
	{"no model", func(r *unlearn.Request) { r.Original = nil },
		[]string{"original", "0 tensors against 6"}},
	{"a damaged checkpoint", func(r *unlearn.Request) { r.Earlier.Params[2].Data[3] = float32(math.Inf(1)) },
		[]string{"earlier checkpoint", "hidden2.weight", "element 3 is +Inf"}},
	{"a checkpoint of another model", func(r *unlearn.Request) { r.Earlier.Params = r.Earlier.Params[:3] },
		[]string{"earlier checkpoint", "3 tensors against 6"}},
	{"a checkpoint from after the training", func(r *unlearn.Request) { r.Earlier.Epoch = 40 },
		[]string{"earlier checkpoint", "epoch 40", "trained for 40"}},
	{"NaN in the held-out set", func(r *unlearn.Request) { r.HeldOut.X.Row(1)[0] = float32(math.NaN()) },
		[]string{"held-out set", "row 1, column 0 is NaN"}},
	{"a held-out label out of range", func(r *unlearn.Request) { r.HeldOut.Y[2] = toyClasses },
		[]string{"held-out set", "record 2 has label 3"}},
	{"no runner", func(r *unlearn.Request) { r.Runner = nil },
		[]string{"no runner"}},
}

// invalidGenerative lists the same for a model that is not a classifier.
var invalidGenerative = []invalidRequest{
	{"an empty forget set", func(r *unlearn.Request) { r.Forget = unlearn.Data{} },
		[]string{"forget set is empty", "nothing to unlearn"}},
	{"a forget set equal to everything", func(r *unlearn.Request) { r.Retain = unlearn.Data{} },
		[]string{"retain set is empty", "forget set contains all records"}},
	{"no objective", func(r *unlearn.Request) { r.Objective = nil },
		[]string{"forget set", "no objective", "not a classifier"}},
	{"NaN in the forget set", func(r *unlearn.Request) { r.Forget.X.Row(2)[1] = float32(math.NaN()) },
		[]string{"forget set", "row 2, column 1 is NaN"}},
	{"labels of other records", func(r *unlearn.Request) { r.Retain.Y = []int{1, 2} },
		[]string{"retain set", "2 labels"}},
	{"missing record numbers", func(r *unlearn.Request) { r.Forget.IDs = nil },
		[]string{"forget set", "0 record numbers"}},
	{"a refusal for a retained record", func(r *unlearn.Request) { r.Refusals.IDs[1] = r.Retain.IDs[0] },
		[]string{"refusals: record 1", "not in the forget set"}},
	{"overlapping sets", func(r *unlearn.Request) { r.Retain.IDs[4] = r.Forget.IDs[0] },
		[]string{"record", "in the forget set and again in the retain set"}},
	{"other features", func(r *unlearn.Request) { r.Forget.X = array.New[float32](toyForget, 7) },
		[]string{"forget set", "7 features", "takes 4"}},
	{"another model", func(r *unlearn.Request) { r.Original = r.Original[:4] },
		[]string{"original", "4 tensors against 10"}},
}

// invalidLanguage lists those of a model that is not a classifier, of a language model.
func invalidLanguage() []invalidRequest {
	out := slices.DeleteFunc(slices.Clone(invalidGenerative), func(c invalidRequest) bool {
		return c.name == "other features" || c.name == "another model"
	})
	return append(out,
		invalidRequest{"other features", func(r *unlearn.Request) { r.Forget.X = array.New[float32](toyForget, 7) },
			[]string{"forget set", "7 features", "takes 10"}},
		invalidRequest{"another model", func(r *unlearn.Request) { r.Original = r.Original[:4] },
			[]string{"original", "4 tensors against"}})
}

// invalidBottleneck lists requests that are invalid for any classifier and do not name a
// tensor.
func invalidBottleneck() []invalidRequest {
	return slices.DeleteFunc(slices.Clone(invalidRequests), func(c invalidRequest) bool {
		return slices.ContainsFunc(c.words, func(w string) bool { return strings.Contains(w, "hidden") || strings.Contains(w, "tensors") })
	})
}

// absent and unseen are requests that are invalid only for a method that needs the missing part.
var (
	absent  = invalidRequest{"no checkpoint", func(r *unlearn.Request) { r.Earlier = nil }, []string{"Request.Earlier is nil"}}
	answers = invalidRequest{"no refusals", func(r *unlearn.Request) { r.Refusals = unlearn.Data{} }, []string{"Request.Refusals is empty"}}
	unseen  = invalidRequest{"no held-out records", func(r *unlearn.Request) { r.HeldOut = unlearn.Data{} },
		[]string{"Request.HeldOut is empty"}}
)

func (s *suite) refusesInvalid(t *testing.T) {
	cases := s.invalid
	if s.method.Info().Sees.Earlier {
		cases = append(cases[:len(cases):len(cases)], absent)
	}
	if s.method.Info().Sees.HeldOut {
		cases = append(cases[:len(cases):len(cases)], unseen)
	}
	if s.method.Info().Sees.Refusals {
		cases = append(cases[:len(cases):len(cases)], answers)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := s.toy.request()
			c.corrupt(&r)
			p, rep, err := unlearn.Apply(context.Background(), s.method, r)
			if err == nil {
				t.Fatal("no error")
			}
			if p != nil || rep != nil {
				t.Error("there is a result as well as an error")
			}
			for _, w := range append(c.words, fmt.Sprintf("unlearn %s:", s.method.Info().Name)) {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error %q does not say %q", err, w)
				}
			}
		})
	}
}
