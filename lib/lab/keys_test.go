// Tests of keys.go.

package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/diffusion"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/model/vision"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// variants calls see with a copy of v for every field, including nested ones, in which only
// that field differs. It returns the names of fields of function and interface types.
func variants(v any, see func(path string, changed any)) (left []string) {
	base := reflect.ValueOf(v)
	var walk func(path string, at func(root reflect.Value) reflect.Value, typ reflect.Type)
	vary := func(path string, at func(reflect.Value) reflect.Value, set func(reflect.Value)) {
		root := reflect.New(base.Type()).Elem()
		root.Set(base)
		set(at(root))
		see(path, root.Interface())
	}
	walk = func(path string, at func(reflect.Value) reflect.Value, typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Struct:
			for i := range typ.NumField() {
				f := typ.Field(i)
				if f.IsExported() {
					walk(path+"."+f.Name, func(r reflect.Value) reflect.Value { return at(r).Field(i) }, f.Type)
				}
			}
		case reflect.Pointer: // there or not, and every field behind it
			vary(path, at, func(x reflect.Value) {
				if x.IsNil() {
					x.Set(reflect.New(typ.Elem()))
				} else {
					x.SetZero()
				}
			})
			walk(path, func(r reflect.Value) reflect.Value {
				p, old := reflect.New(typ.Elem()), at(r)
				if !old.IsNil() {
					p.Elem().Set(old.Elem())
				}
				old.Set(p)
				return p.Elem()
			}, typ.Elem())
		case reflect.Bool:
			vary(path, at, func(x reflect.Value) { x.SetBool(!x.Bool()) })
		case reflect.Int, reflect.Int64:
			vary(path, at, func(x reflect.Value) { x.SetInt(x.Int() + 7) })
		case reflect.Uint32, reflect.Uint64:
			vary(path, at, func(x reflect.Value) { x.SetUint(x.Uint() + 7) })
		case reflect.Float32, reflect.Float64:
			vary(path, at, func(x reflect.Value) { x.SetFloat(x.Float() + 0.375) })
		case reflect.String:
			vary(path, at, func(x reflect.Value) { x.SetString(x.String() + "x") })
		case reflect.Slice:
			vary(path, at, func(x reflect.Value) {
				x.Set(reflect.Append(x, reflect.New(typ.Elem()).Elem()))
			})
		default:
			left = append(left, path)
		}
	}
	walk("", func(r reflect.Value) reflect.Value { return r }, base.Type())
	return left
}

// differ checks that every variant of a value has a key of its own.
func differ(t *testing.T, v any, key func(any) store.Key) (left []string) {
	t.Helper()
	id := func(v any) string {
		s, err := key(v).ID()
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		return s
	}
	seen := map[string]string{id(v): "nothing changed"}
	return variants(v, func(path string, changed any) {
		k := id(changed)
		if before, twice := seen[k]; twice {
			t.Errorf("%T%s changed: the key is that of %s", v, path, before)
		}
		seen[k] = path
	})
}

func TestEveryFieldOfANetworkIsInTheKey(t *testing.T) {
	nets := []model.Architecture{diffusion.UNet{Channels: 1, Side: 28}, vae.Gaussian{Features: 5}, vae.Cells{}}
	for _, f := range tabular.All() {
		nets = append(nets, f.New(5, 3))
	}
	for _, f := range vision.All() {
		nets = append(nets, f.New(3, 32, 10))
	}
	for _, f := range text.All() {
		nets = append(nets, f.New(30, 9, 3))
	}
	for _, a := range nets {
		left := differ(t, a, func(v any) store.Key {
			return store.Key{Recipe: "train", Config: NetworkKeyOf(v.(model.Architecture))}
		})
		if len(left) > 0 {
			t.Errorf("%T: not looked at: %v", a, left)
		}
		if again := defaults.Fill(a); !reflect.DeepEqual(again, defaults.Fill(again)) || reflect.TypeOf(again) != reflect.TypeOf(a) || again.Name() != a.Name() {
			t.Errorf("%T resolves to %+v, and that to %+v", a, again, defaults.Fill(again))
		}
	}
}

// A bottleneck's halves are interfaces: every field of either half, and another half,
// change the key.
func TestEveryFieldOfABottleneckIsInTheKey(t *testing.T) {
	key := func(v any) store.Key { return store.Key{Recipe: "train", Config: NetworkKeyOf(v.(model.Architecture))} }
	if left := differ(t, ib.Bottleneck{}, key); !slices.Equal(left, []string{".Compressor", ".Approximator"}) {
		t.Errorf("not looked at: %v", left)
	}
	seen := map[string]bool{}
	for _, h := range ib.All() {
		for name, side := range map[string]func(ib.SubNetwork) ib.Bottleneck{
			"compressor":   func(h ib.SubNetwork) ib.Bottleneck { return ib.Bottleneck{Compressor: h} },
			"approximator": func(h ib.SubNetwork) ib.Bottleneck { return ib.Bottleneck{Approximator: h} },
		} {
			if left := differ(t, h, func(v any) store.Key { return key(side(v.(ib.SubNetwork))) }); len(left) > 0 {
				t.Errorf("%s %T: not looked at: %v", name, h, left)
			}
			id, err := key(side(h)).ID()
			if err != nil {
				t.Fatal(err)
			}
			if seen[id] && h.Name() != (ib.MLP{}).Name() { // an MLP on either side is the zero value
				t.Errorf("%s %T has the key of another", name, h)
			}
			seen[id] = true
		}
	}
}

func methodKey(v any) store.Key {
	return store.Key{Recipe: "unlearn", Config: MethodKeyOf(v.(unlearn.Method))}
}

func TestEveryFieldOfAMethodIsInTheKey(t *testing.T) {
	methods := append(unlearn.AllKinds(),
		unlearn.FineTuning{SGD: &unlearn.Descent{}}, unlearn.GradientAscent{SGD: &unlearn.Descent{}})
	for _, m := range methods {
		if left := differ(t, m, methodKey); len(left) > 0 {
			t.Errorf("%T: not looked at: %v", m, left)
		}
	}
}

// rate is a default that changes in code.
var rate = 5e-4

// drifting is a method whose default is a variable.
type drifting struct {
	LR      float64 `json:"lr,omitempty"`
	version int
}

func (d drifting) Info() unlearn.Info                                               { return unlearn.Info{Name: "drifting", Version: d.version} }
func (d *drifting) SetDefaults()                                                    { d.LR = cmp.Or(d.LR, rate) }
func (drifting) Unlearn(context.Context, unlearn.Request) (*unlearn.Outcome, error) { return nil, nil }

func TestADefaultOrACorrectionThatChangesInCodeIsAnotherKey(t *testing.T) {
	id := func(d drifting) string {
		s, err := methodKey(d).ID()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := id(drifting{version: 1})
	if id(drifting{LR: rate, version: 1}) != before {
		t.Error("a default that is written out is another key")
	}
	if id(drifting{version: 2}) == before {
		t.Error("a corrected method has its old key")
	}
	rate = 1e6
	defer func() { rate = 5e-4 }()
	if id(drifting{version: 1}) == before {
		t.Error("with another default the method has its old key")
	}
}

// A goal with a new version has a new key; others keep theirs.
func TestACorrectedGoalIsAnotherKey(t *testing.T) {
	for likelihood, want := range map[Likelihood]int{"": 0, SquaredError: 0, NegativeBinomial: 3, ZeroInflated: 3} {
		if got := goalKey(Reconstruction{Likelihood: likelihood}).Version; got != want {
			t.Errorf("%q: version %d", likelihood, got)
		}
	}
	text, err := json.Marshal(goalKey(Labels{}))
	if err != nil || strings.Contains(string(text), "version") {
		t.Errorf("labels are %s (%v)", text, err)
	}
}

// opened returns a case of a setting and an untrained stand-in for its original.
func opened(t *testing.T, l *Lab, s Setting) (*Case, *Trajectory) {
	t.Helper()
	c := openCase(t, l, s)
	w := &Trajectory{Final: c.InitialWeights(7), AtEpoch: map[int]nn.Params{}}
	for _, epoch := range c.Keep {
		w.AtEpoch[epoch] = c.InitialWeights(8)
	}
	return c, w
}

// keysOf returns the keys of everything that a setting's protocol trains and unlearns.
func keysOf(t *testing.T, l *Lab, s Setting) string {
	t.Helper()
	c, w := opened(t, l, s)
	keys := []store.Key{l.TrainKey(c.training(c.Original())), l.TrainKey(c.training(c.Oracle())), l.TrainKey(c.training(c.ModelSpec(unlearn.SecondOracle)))}
	for _, m := range []unlearn.Method{unlearn.SCRUB{}, unlearn.Unroll{}} {
		keys = append(keys, l.unlearnKey(c.Problem, c.unlearningGoal(m), m, c.request(m, w)))
	}
	var ids []string
	for _, k := range keys {
		id, err := k.ID()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// heavier is a goal with a setting.
type heavier struct {
	Labels
	Weight float64 `json:"weight"`
}

func (heavier) Name() string { return "heavier" }

func TestEveryFieldOfASettingIsInAKey(t *testing.T) {
	l := newLab(t)
	table := Setting{Data: Table{Set: "moons_island", MaxRows: 300}, Seed: 1}
	drawings := Setting{Data: Images{Set: "glyphs", MaxTrain: 60, MaxTest: 40}, Forget: Random{Fraction: 0.1}, Model: imageSetting().Model, Fit: train.Config{Epochs: 4}}
	changes := map[string]func(*Setting){
		"Data":             func(s *Setting) { s.Data = Table{Set: "two_moons", MaxRows: 300} },
		"Data.MaxRows":     func(s *Setting) { s.Data = Table{Set: "moons_island", MaxRows: 290} },
		"Data.MaxTrain":    func(s *Setting) { s.Data = Images{Set: "glyphs", MaxTrain: 50, MaxTest: 40} },
		"Data.MaxTest":     func(s *Setting) { s.Data = Images{Set: "glyphs", MaxTrain: 60, MaxTest: 30} },
		"Data.Pixels":      func(s *Setting) { s.Data = Images{Set: "glyphs", MaxTrain: 60, MaxTest: 40, Pixels: true} },
		"Forget":           func(s *Setting) { s.Forget = Random{Fraction: 0.2} },
		"Forget = another": func(s *Setting) { s.Forget = Random{Seed: 1} },
		"Forget = planted": func(s *Setting) { s.Forget = Planted("island") },
		"Forget = class":   func(s *Setting) { s.Forget = Class("upper") },
		"Forget = records": func(s *Setting) { s.Forget = Records{1, 2, 3, 5, 7, 11} },
		"Forget = cells":   func(s *Setting) { s.Forget = Scattered{Count: 9} },
		"Forget = series":  func(s *Setting) { s.Forget = Series{5, 9} },
		"Forget = user":    func(s *Setting) { s.Forget = User{} },
		"Seed":             func(s *Setting) { s.Seed = 2 },
		"Goal":             func(s *Setting) { s.Goal = heavier{Weight: 2} },
		"Model":            func(s *Setting) { s.Model = tabular.MLP{Hidden: 8} },
		"Augment":          func(s *Setting) { s.Augment = true },
		"Keep":             func(s *Setting) { s.Keep = []int{1, 2} },
		"ShadowSplit":      func(s *Setting) { s.ShadowSplit = &ShadowSplit{} },
	}
	opened := Backdoor{Source: "upper", Target: "lower", Column: "x1"}
	for what, b := range map[string]Backdoor{
		"": opened, ".Fraction": {Source: opened.Source, Target: opened.Target, Column: opened.Column, Fraction: 0.07},
		".Value":  {Source: opened.Source, Target: opened.Target, Column: opened.Column, Value: 3},
		".Source": {Source: "lower", Target: "upper", Column: opened.Column}, ".Column": {Source: opened.Source, Target: opened.Target, Column: "x2"},
	} {
		changes["Forget = backdoor"+what] = func(s *Setting) { s.Forget = b }
	}
	variants(ShadowSplit{}, func(path string, changed any) {
		changes["ShadowSplit"+path] = func(s *Setting) { h := changed.(ShadowSplit); s.ShadowSplit = &h }
	})
	// Every field of the training's configuration; its seed is the setting's.
	left := variants(train.Config{}, func(path string, changed any) {
		if path != ".Seed" {
			changes["Fit"+path] = func(s *Setting) { s.Fit = changed.(train.Config) }
		}
	})
	if !slices.Equal(left, []string{".Optimizer"}) {
		t.Errorf("of train.Config are not looked at: %v", left)
	}
	for _, o := range []nn.Optimizer{nn.SGD{LR: 0.5}, nn.Adam{LR: 0.5}, nn.AdamW{}} {
		variants(o, func(path string, changed any) {
			name := fmt.Sprintf("Fit.Optimizer = %T, %s", o, path)
			changes[name] = func(s *Setting) { s.Fit.Optimizer = changed.(nn.Optimizer) }
		})
	}
	for i := range reflect.TypeFor[Setting]().NumField() {
		if name := reflect.TypeFor[Setting]().Field(i).Name; !slices.Contains([]string{"Fit"}, name) && changes[name] == nil {
			t.Errorf("Setting.%s is not looked at", name)
		}
	}
	for path, change := range changes {
		base := table
		if slices.Contains([]string{"Data.MaxTrain", "Data.MaxTest", "Data.Pixels", "Augment", "Keep"}, path) {
			base = drawings
		}
		before := keysOf(t, l, base)
		change(&base)
		if keysOf(t, l, base) == before {
			t.Errorf("Setting.%s changed: every key is what it was", path)
		}
	}
	seen := map[string]string{}
	checkUser := func(path string, h User) {
		s := table
		s.Forget = h
		keys := keysOf(t, l, s)
		if before, twice := seen[keys]; twice {
			t.Errorf("User%s changed: every key is as with %q", path, before)
		}
		seen[keys] = path
	}
	checkUser("", User{})
	variants(User{}, func(path string, changed any) {
		h := changed.(User)
		h.Alpha *= 30 // so that everybody gets a record
		checkUser(path, h)
	})
	one, two := table, table
	one.Goal, two.Goal = heavier{Weight: 1}, heavier{Weight: 2}
	if keysOf(t, l, one) == keysOf(t, l, two) {
		t.Error("a goal's setting is in no key")
	}
}

// The preparation of cells is in the names of jobs, which need no data. Keys hold the hash
// of the prepared data.
func TestEveryFieldOfAPreparationIsInTheNamesOfJobs(t *testing.T) {
	name := func(p cells.Preparation) string {
		s := Setting{Data: Cells{Set: "pbmc3k", Preparation: p}, Forget: Class("DC")}
		id, err := s.ID(s.Original())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	plain := name(cells.Preparation{})
	if plain != name(defaults.Fill(cells.Preparation{})) {
		t.Error("a default that is written out is another name")
	}
	left := variants(cells.Preparation{}, func(path string, changed any) {
		if name(changed.(cells.Preparation)) == plain {
			t.Errorf("Preparation%s changed: the name is what it was", path)
		}
	})
	if len(left) > 0 {
		t.Errorf("not looked at: %v", left)
	}
}

// A goal's losses are in the key with their names and fields.
func TestEveryFieldOfALossIsInTheKey(t *testing.T) {
	names := map[string]bool{}
	for _, l := range append(loss.All(), diffusion.EDM{}) {
		left := differ(t, l, func(v any) store.Key {
			l := v.(loss.Loss)
			return store.Key{Recipe: "train", Config: namedConfig{Name: l.Name(), Setting: l}}
		})
		if len(left) > 0 || names[l.Name()] {
			t.Errorf("%T: not looked at: %v; its name %q may be that of another", l, left, l.Name())
		}
		names[l.Name()] = true
	}
}

// seesAll is a method that sees everything.
type seesAll struct{ unlearn.Unroll }

func (m seesAll) Info() unlearn.Info {
	i := m.Unroll.Info()
	i.Sees = unlearn.Sees{Original: true, Forget: true, Retain: true, Earlier: true, HeldOut: true, Refusals: true}
	return i
}

func TestEveryFieldOfARequestIsInTheKey(t *testing.T) {
	l := newLab(t)
	s := imageSetting()
	c, w := opened(t, l, s)
	other, _ := opened(t, l, Setting{Data: Images{Set: "glyphs", MaxTrain: 200, MaxTest: 60}, Model: vision.SmallCNN{Channels: 1, Side: 16, Width: 2, Hidden: 32, Norm: true}})
	moved := w.Final.Clone()
	moved[0].Data[0]++
	changes := map[string]func(*unlearn.Request){
		"Runner":         func(r *unlearn.Request) { r.Runner = other.Runner },
		"Original":       func(r *unlearn.Request) { r.Original = moved },
		"Forget.IDs":     func(r *unlearn.Request) { r.Forget.IDs = r.Forget.IDs[1:] },
		"Retain.IDs":     func(r *unlearn.Request) { r.Retain.IDs = r.Retain.IDs[1:] },
		"Earlier.Params": func(r *unlearn.Request) { r.Earlier = &unlearn.Checkpoint{Params: moved, Epoch: r.Earlier.Epoch} },
		"Earlier.Epoch":  func(r *unlearn.Request) { r.Earlier = &unlearn.Checkpoint{Params: r.Earlier.Params, Epoch: 2} },
		"HeldOut.IDs":    func(r *unlearn.Request) { r.HeldOut.IDs = r.HeldOut.IDs[1:] },
		"Refusals":       func(r *unlearn.Request) { r.Refusals = r.Forget },
		"Seed":           func(r *unlearn.Request) { r.Seed++ },
		"Batch":          func(r *unlearn.Request) { r.Batch++ },
		"Augment":        func(r *unlearn.Request) { r.Augment = Augmenter{Seed: 1} },
		"Holders":        func(r *unlearn.Request) { r.Holders = []federated.User{{ID: 3, Rows: r.Retain.IDs}} },
	}
	// The records, their range and the labels follow from the data, whose hash is in
	// the key, and the numbers of the rows; the objective is the goal's, which is an
	// argument of the key; hooks only watch, and the pace is a
	// method's own.
	follow := []string{"Forget.X", "Forget.Y", "Retain.X", "Retain.Y", "HeldOut.X", "HeldOut.Y", "Range", "Objective", "Hooks", "stepScale"}
	variants(train.Config{}, func(path string, changed any) {
		changes["Fit"+path] = func(r *unlearn.Request) { r.Fit = changed.(train.Config) }
	})
	for i := range reflect.TypeFor[unlearn.Request]().NumField() {
		name := reflect.TypeFor[unlearn.Request]().Field(i).Name
		known := func(n string) bool { return n == name || strings.HasPrefix(n, name+".") }
		listed := slices.ContainsFunc(follow, known)
		for n := range changes {
			listed = listed || known(n)
		}
		if !listed {
			t.Errorf("Request.%s is not looked at", name)
		}
	}
	m := seesAll{}
	id := func(change func(*unlearn.Request)) string {
		r := c.request(m, w)
		change(&r)
		s, err := l.unlearnKey(c.Problem, c.unlearningGoal(m), m, r).ID()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	before := id(func(*unlearn.Request) {})
	for name, change := range changes {
		if id(change) == before {
			t.Errorf("Request.%s changed: the key is what it was", name)
		}
	}
	exchanged := id(func(r *unlearn.Request) { r.Forget, r.Retain = r.Retain, r.Forget })
	if exchanged == before {
		t.Error("forget and retain exchanged: the key is what it was")
	}
}

// Equal data, originals and rows give equal keys: the store finds the run.
func TestTheSameWorkHasTheSameKeyAndName(t *testing.T) {
	l := newLab(t)
	s := Setting{Data: Table{Set: "two_moons", MaxRows: 120}}
	written := s
	written.Forget, written.Fit, written.Goal = Random{0.05, 999}, train.Config{}.WithDefaults(), Labels{}
	written.Model = model.NetworkFunc(func(f, c int) model.Architecture { return defaults.Fill(tabular.MLP{Features: f, Outputs: c}) })
	if keysOf(t, l, s) != keysOf(t, l, written) {
		t.Error("a setting that is written out has other keys")
	}
	for _, m := range unlearn.AllKinds() {
		a, errA := s.ID(s.ModelSpec(m))
		b, errB := written.ID(written.ModelSpec(defaults.Fill(m)))
		if errA != nil || errB != nil || a != b {
			t.Errorf("%s is called %s and, written out, %s (%v, %v)", m.Info().Name, a, b, errA, errB)
		}
	}
	if fmt.Sprint(s.ModelSpec(unlearn.SecondOracle)) != fmt.Sprint(ModelSpec{Rows: RetainedRecords, Seed: 10_000}) {
		t.Errorf("the second oracle is %+v", s.ModelSpec(unlearn.SecondOracle))
	}
}
