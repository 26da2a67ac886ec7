package store

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestIDIsTheSHA256OfTheCanonicalJSON: the expected value was made with
// Python 3 hashlib from json.dumps(key, sort_keys=True, separators=(",", ":")).
func TestIDIsTheSHA256OfTheCanonicalJSON(t *testing.T) {
	key := Key{
		Recipe: "train",
		Config: struct {
			Zeta  float64
			Alpha []int
		}{0.1, []int{3, 1}},
		Seeds:   map[string]int64{"split": math.MaxInt64, "init": -1},
		Data:    map[string]string{"x": "ab"},
		Engine:  "go/avx512",
		Results: 2,
	}
	const text = `{"config":{"Alpha":[3,1],"Zeta":0.1},"data":{"x":"ab"},"engine":"go/avx512",` +
		`"recipe":"train","results":2,"seeds":{"init":-1,"split":9223372036854775807}}`
	b, err := key.canonical()
	if err != nil || string(b) != text {
		t.Errorf("found %s, %v, expected %s", b, err, text)
	}
	id, err := key.ID()
	if want := "0668aa6c5d9b0c514fefbea469c7c0a3ea6a45aeab9191bb0dd43f22b5e2c9f8"; err != nil || id != want {
		t.Errorf("found %s, %v, expected %s", id, err, want)
	}
}

func TestEveryPartOfTheKeyChangesTheID(t *testing.T) {
	keys := []Key{
		{Recipe: "a"},
		{Recipe: "b"},
		{Recipe: "a", Config: 0},
		{Recipe: "a", Config: math.Copysign(0, -1)},
		{Recipe: "a", Config: "0"},
		{Recipe: "a", Config: 0.1},
		{Recipe: "a", Config: math.Nextafter(0.1, 1)},
		{Recipe: "a", Config: int64(math.MaxInt64)},
		{Recipe: "a", Config: int64(math.MaxInt64 - 1)},
		{Recipe: "a", Seeds: map[string]int64{"s": 1}},
		{Recipe: "a", Seeds: map[string]int64{"s": 2}},
		{Recipe: "a", Seeds: map[string]int64{"t": 1}},
		{Recipe: "a", Data: map[string]string{"s": "1"}},
		{Recipe: "a", Engine: "go"},
		{Recipe: "a", Results: 1},
	}
	seen := map[string]int{}
	for i, key := range keys {
		id, err := key.ID()
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[id]; ok {
			t.Errorf("keys %d and %d have the same ID", i, j)
		}
		if !isID(id) {
			t.Errorf("%q is no ID", id)
		}
		seen[id] = i
	}
}

func TestEmptyMapsAreLikeNone(t *testing.T) {
	a, err := Key{Recipe: "a"}.ID()
	if err != nil {
		t.Fatal(err)
	}
	b, err := Key{Recipe: "a", Seeds: map[string]int64{}, Data: map[string]string{}}.ID()
	if err != nil || a != b {
		t.Errorf("%s and %s, %v", a, b, err)
	}
}

func TestKeyThatCannotBePrintedIsRefused(t *testing.T) {
	for _, key := range []Key{
		{},
		{Recipe: "a", Config: math.NaN()},
		{Recipe: "a", Config: math.Inf(1)},
		{Recipe: "a", Config: func() {}},
		{Recipe: "a", Config: "\xff"},
		{Recipe: "a", Data: map[string]string{"\xff": ""}},
	} {
		if id, err := key.ID(); err == nil || !strings.HasPrefix(err.Error(), "store key") {
			t.Errorf("%v: found %s, %v", key, id, err)
		}
	}
}

func ExampleKey_ID() {
	type config struct {
		LearningRate float64
		Epochs       int
	}
	key := Key{Recipe: "train", Config: config{1e-3, 100}, Seeds: map[string]int64{"init": 0}, Engine: "go"}
	id, err := key.ID()
	fmt.Println(id[:12], err)
	// Output: 1233e6a8c604 <nil>
}
