// Tests of code.go.

package store_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/store"
)

// A test package is outside: these stand for somebody else's.
type (
	theirs   struct{ Rate, hidden float64 }
	namesake theirs
	number   int
	around   struct{ Of any }
	over     struct{ store.Key }
	list     []theirs
	own      interface{ is() }
)

func (theirs) is()   {}
func (namesake) is() {}

func named()       {}
func (theirs) of() {}

func keyID(t *testing.T, config any, of ...any) string {
	t.Helper()
	id, err := store.Key{Recipe: "x", Config: config, DependsOn: of}.ID()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestCodeFromOutsideIsFoundWhereverItStands(t *testing.T) {
	type holder = struct {
		A int
		B any
		c any
	}
	var none own
	for name, v := range map[string]any{
		"itself": theirs{}, "behind a pointer": &theirs{}, "of a basic kind": number(1), "in a field": holder{B: theirs{}}, "in an unexported field": holder{c: theirs{}},
		"in a list": []any{1, theirs{}}, "in an array": [1]own{theirs{}}, "in a map": map[string]any{"a": theirs{}}, "as a map's key": map[number]int{1: 2},
		"a list type": list{}, "embeds ours": over{}, "around ours": around{Of: 3}, "an argument of a type": store.Box[theirs]{}, "a function": holder{B: named},
		"a list of a type that has no element": holder{B: []theirs{}}, "nothing of a type": holder{B: (*theirs)(nil)},
	} {
		code, err := store.CodeOf(v)
		if strings.HasPrefix(name, "a list of a type") || strings.HasPrefix(name, "nothing") { // there is no code to run
			if err != nil || len(code) != 0 {
				t.Errorf("%s: %q, %v", name, code, err)
			}
			continue
		}
		if err != nil || len(code) == 0 || !strings.Contains(code[0], "lib/store_test.") || !strings.Contains(code[0], "of program ") {
			t.Errorf("%s: %q, %v", name, code, err)
		}
	}
	for name, v := range map[string]any{
		"nil": nil, "ours": store.Key{Config: 3}, "the standard library's": time.Second, "plain": map[string][]float64{"a": {1}}, "JSON": json.RawMessage("1"),
		"an interface without a value": &none, "a function of the standard library": struct{ F any }{strings.ToUpper},
	} {
		if code, err := store.CodeOf(v); err != nil || code != nil {
			t.Errorf("%s: %q, %v", name, code, err)
		}
	}
}

// All of a value from outside counts: what JSON does not show, its type, and where it stands.
func TestTheKeyHasAllOfAValueFromOutside(t *testing.T) {
	type pair struct{ A, B any }
	seen := map[string]string{}
	for name, v := range map[string]any{
		"zero": theirs{}, "a field": theirs{Rate: 1}, "an unexported field": theirs{hidden: 1}, "another type": namesake{}, "behind a pointer": &theirs{},
		"first": pair{theirs{}, namesake{}}, "second": pair{namesake{}, theirs{}}, "holds ours": around{1}, "holds another of ours": around{int64(1)},
	} {
		id := keyID(t, v)
		if before, twice := seen[id]; twice && !(name == "behind a pointer" && before == "zero" || name == "zero" && before == "behind a pointer") {
			t.Errorf("%s has the key of %s", name, before)
		}
		seen[id] = name
		if keyID(t, v) != id {
			t.Errorf("%s: another key the second time", name)
		}
	}
	if keyID(t, 1, theirs{}) == keyID(t, 1) || keyID(t, 1, theirs{}) == keyID(t, 1, theirs{Rate: 1}) {
		t.Error("what a result depends on beside its configuration is not in the key")
	}
	if keyID(t, 1, 2, "x", store.Key{}, nil, named) == keyID(t, 1) {
		t.Error("a function from outside is not in the key")
	}
	if keyID(t, 1, 2, "x", store.Key{}, nil) != keyID(t, 1) {
		t.Error("what is Lethe's or plain moved a key")
	}
}

// What a literal captures cannot be seen; a measurement, which is a value by itself, may be
// one, because its key is made by hand.
func TestAFunctionLiteralInAValueIsRefused(t *testing.T) {
	k := 3
	for name, f := range map[string]any{"literal": func() int { return k }, "method value": theirs{}.of} {
		_, err := store.Key{Recipe: "x", Config: 1, DependsOn: []any{around{f}}}.ID()
		if err == nil || !strings.Contains(err.Error(), "literal") || !strings.Contains(err.Error(), "Of") {
			t.Errorf("%s: %v", name, err)
		}
		if code, err := store.CodeOf(f); err != nil || len(code) != 1 {
			t.Errorf("%s by itself: %q, %v", name, code, err)
		}
	}
}

// What points to itself is walked once.
func TestARingOfPointersEnds(t *testing.T) {
	type ring struct {
		Next *ring `json:"-"`
		Of   any
	}
	a := &ring{Of: theirs{}}
	a.Next = a
	if code, err := store.CodeOf(a); err != nil || len(code) == 0 {
		t.Errorf("%q, %v", code, err)
	}
	if store.ContentHash(a) == "" {
		t.Error("no content")
	}
}

// A stored key is read with its code and has the same name, in the store and in another
// that it is merged into, by a program that knows the types as little as one that was built
// since.
func TestAStoredKeyKeepsItsCode(t *testing.T) {
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Do(t.Context(), store.Key{Recipe: "x", Config: theirs{}}, func(_ context.Context, w *store.Work) error { return w.WriteJSON("a", 1) })
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.Key.ID()
	if err != nil || again != run.ID || len(run.Key.Code) != 1 {
		t.Errorf("run %s has the key %s with the code %q (%v)", run.ID, again, run.Key.Code, err)
	}
}

// What a value holds is told from another by its types and by every field.
func TestContentTellsTypesAndFields(t *testing.T) {
	seen := map[string]int{}
	for i, v := range []any{
		nil, 1, int64(1), 1.0, "1", true, complex(1, 2), theirs{}, theirs{hidden: 1}, namesake{}, &theirs{}, (*theirs)(nil), []int(nil), []int{}, []int{1}, [1]int{1},
		map[string]int{"a": 1}, map[string]int{"a": 2}, map[string]int{"b": 1}, around{1}, around{theirs{}}, around{namesake{}}, named, uint8(1),
	} {
		hash := store.ContentHash(v)
		if before, twice := seen[hash]; twice {
			t.Errorf("value %d has the content of %d", i, before)
		}
		seen[hash] = i
		if store.ContentHash(v) != hash {
			t.Errorf("value %d: another content the second time", i)
		}
	}
}
