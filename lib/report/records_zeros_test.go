package report_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/report"
)

// itself is a list of itself.
type itself []itself

// Fields that JSON loses without a word are named, also inside; what it writes is not.
func TestLostFieldsAreNamed(t *testing.T) {
	type Inner struct {
		Value float64 `json:"value"`
	}
	type Second struct {
		Value float64 `json:"value"`
	}
	field := func(name, tag string, of reflect.Type, embedded bool) reflect.StructField {
		return reflect.StructField{Name: name, Tag: reflect.StructTag(tag), Type: of, Anonymous: embedded}
	}
	number, inner, second := reflect.TypeFor[float64](), reflect.TypeFor[Inner](), reflect.TypeFor[*Second]()
	for _, c := range []struct {
		of   reflect.Type
		want []string
	}{
		{reflect.TypeFor[struct{ auc float64 }](), []string{"auc (not exported)"}},
		{reflect.TypeFor[struct {
			List []struct{ auc float64 } `json:"list"`
		}](), []string{"list.auc (not exported)"}},
		{reflect.StructOf([]reflect.StructField{field("A", `json:"score"`, number, false), field("B", `json:"score"`, number, false)}), []string{"score (twice)"}},
		{reflect.StructOf([]reflect.StructField{field("Inner", "", inner, true), field("Second", "", second, true)}), []string{"value (twice)"}},
		// The nearer one, and the one with a tag, are written.
		{reflect.StructOf([]reflect.StructField{field("Inner", "", inner, true), field("V", `json:"value"`, number, false)}), nil},
		{reflect.StructOf([]reflect.StructField{field("A", `json:"B"`, number, false), field("B", "", number, false)}), nil},
		{reflect.TypeFor[itself](), nil},
		{reflect.TypeFor[struct {
			note string `json:"-"`
			M    map[string]Inner
			*Second
		}](), nil},
	} {
		if got := report.LostFields(c.of); !slices.Equal(got, c.want) {
			t.Errorf("%v loses %q, want %q", c.of, got, c.want)
		}
	}
}

// Fields that encoding/json omits if they are 0 are named, wherever in a type they are.
func TestFieldsThatLeaveZerosOutAreNamed(t *testing.T) {
	type inner struct {
		Share float64 `json:"share,omitempty"`
	}
	type Embedded struct {
		Deep int8 `json:"deep,omitempty"`
	}
	for want, record := range map[string]any{
		"n": struct {
			N int `json:"n,omitempty"`
		}{},
		"N": struct {
			N float32 `json:",omitempty"`
		}{},
		"u": struct {
			U uint64 `json:"u,string,omitempty"`
		}{},
		"b": struct {
			B bool `json:"b,omitempty"`
		}{},
		"z": struct {
			Z float64 `json:"z,omitzero"`
		}{},
		"s": struct {
			S inner0 `json:"s,omitzero"`
		}{},
		"a": struct {
			A [2]float64 `json:"a,omitzero"`
		}{},
		"named": struct {
			D time.Duration `json:"named,omitempty"`
		}{},
		"in.share": struct {
			In inner `json:"in"`
		}{},
		"list.share": struct {
			List []inner `json:"list,omitempty"`
		}{},
		"map.share": struct {
			Map map[string]*inner `json:"map"`
		}{},
		"deep": struct{ Embedded }{},
	} {
		if got := report.OmittedZeros(reflect.TypeOf(record)); len(got) != 1 || got[0] != want {
			t.Errorf("%q of %T, want %q", got, record, want)
		}
		for name, write := range map[string]func(report.Records) error{
			"csv":  func(r report.Records) error { return r.CSV(new(bytes.Buffer)) },
			"json": func(r report.Records) error { return r.JSON(new(bytes.Buffer)) },
		} {
			if err := write(report.Records{struct{}{}, record}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %T was written: %v", name, record, err)
			}
		}
	}
}

type inner0 struct {
	V float64 `json:"v"`
}

// tree is a type that holds itself.
type tree struct {
	V     float64 `json:"v"`
	Inner []tree  `json:"inner,omitempty"`
}

// What was not measured may be left out: nil pointers, lists, maps, words.
func TestWhatWasNotMeasuredMayBeLeftOut(t *testing.T) {
	type fine struct {
		A   float64            `json:"a"`
		P   *float64           `json:"p,omitempty"`
		Q   *inner0            `json:"q,omitzero"`
		L   []float64          `json:"l,omitempty"`
		M   map[string]float64 `json:"m,omitempty"`
		W   string             `json:"w,omitempty"`
		T   tree               `json:"t"`
		Not int                `json:"-"`
		RawNumber
		json.RawMessage
	}
	if got := report.OmittedZeros(reflect.TypeFor[[]fine]()); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// RawNumber writes itself.
type RawNumber struct {
	V float64 `json:"v,omitempty"`
}

func (RawNumber) MarshalJSON() ([]byte, error) { return []byte("0"), nil }
