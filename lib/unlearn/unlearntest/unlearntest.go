// Package unlearntest is the conformance suite of unlearning methods. Check a method of
// your own with one line in a test:
//
//	func TestMine(t *testing.T) { unlearntest.Run(t, Mine{}, unlearntest.LowersObjective(myObjective)) }
//
// Run checks, on a toy problem of 48 records, that the method is a function of its request,
// sees only what it declares and uses all of it, trains in the mini-batches and on the augmented records
// that are asked for, can be watched, stopped and resumed, refuses invalid requests, and has the
// declared properties. Another problem has a planted memory, forget records
// that contradict the others: the method must not learn them better than the original, nor give up the
// retain set in their place.
package unlearntest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Option declares a property of a method.
type Option func(*suite)

// Deterministic declares that the method draws no random numbers, so that another seed
// gives the same bytes.
func Deterministic() Option { return func(s *suite) { s.deterministic = true } }

// EpochsByBatch declares that the number of epochs depends on the batch size, for instance
// where the number of steps is given.
func EpochsByBatch() Option { return func(s *suite) { s.epochsByBatch = true } }

// OwnBatches declares that the method trains in batches of its own, whatever the request's batch size, as a
// published program does. The method's documentation says so.
func OwnBatches() Option { return func(s *suite) { s.ownBatches = true } }

// ForgetsAlike declares that the method gives up the retain set as much as the forget set, on a problem as
// small as that of the suite. So does a training from random weights that ends early.
func ForgetsAlike() Option { return func(s *suite) { s.forgetsAlike = true } }

// ChoosesByHeldOut declares that held-out records do nothing but choose among results of the method, such as
// those of different epochs, so that other records can leave the result as it is.
func ChoosesByHeldOut() Option { return func(s *suite) { s.choosesByHeldOut = true } }

// OnAutoencoders declares properties that a method that is General has on an autoencoder, where Run tests it too.
// Its properties on a classifier are not asked for there; what the other options declare holds for both.
func OnAutoencoders(options ...Option) Option {
	return func(s *suite) { s.onAutoencoders = append(s.onAutoencoders, options...) }
}

// Objective evaluates what a method minimises, on the weights p.
type Objective func(t testing.TB, y *Toy, p nn.Params) float64

// LowersObjective declares the method's objective: the method must lower it compared with
// the original.
func LowersObjective(o Objective) Option {
	return HasProperty("lowers its objective", func(t testing.TB, y *Toy, p nn.Params) {
		t.Helper()
		before, after := o(t, y, y.Request.Original), o(t, y, p)
		if !(after < before) {
			t.Errorf("the objective was %v and is %v", before, after)
		}
	})
}

// HasProperty declares a property of the resulting weights p.
func HasProperty(name string, check func(t testing.TB, y *Toy, p nn.Params)) Option {
	return func(s *suite) { s.properties = append(s.properties, property{name, check}) }
}

type property struct {
	name  string
	check func(t testing.TB, y *Toy, p nn.Params)
}

type suite struct {
	method  unlearn.Method
	invalid []invalidRequest
	toy     *Toy
	want    nn.Params // what the method gives, undisturbed
	report  *unlearn.Report
	declared
}

// declared is what the options of a test declare.
type declared struct {
	deterministic    bool
	epochsByBatch    bool
	ownBatches       bool
	forgetsAlike     bool
	choosesByHeldOut bool
	properties       []property
	onAutoencoders   []Option
}

// Run runs the suite on a method, on a classifier. A method that is General also goes
// through RunGenerative; other methods must refuse models that are not classifiers.
func Run(t *testing.T, m unlearn.Method, options ...Option) {
	t.Helper()
	s := &suite{method: m, toy: NewToy(t), invalid: invalidRequests}
	s.run(t, options)
	if !m.Info().General {
		t.Run("needs a classifier", s.needsAClassifier)
		return
	}
	t.Run("works on an autoencoder", func(t *testing.T) {
		both := s.declared
		both.properties, both.onAutoencoders = nil, nil
		RunGenerative(t, m, append([]Option{func(s *suite) { s.declared = both }}, s.onAutoencoders...)...)
	})
}

// RunGenerative runs the suite on a method that is General, on a variational autoencoder of
// records without labels.
func RunGenerative(t *testing.T, m unlearn.Method, options ...Option) {
	t.Helper()
	if !m.Info().General {
		t.Fatalf("%s does not say that it is General", m.Info().Name)
	}
	s := &suite{method: m, toy: NewGenerativeToy(t), invalid: invalidGenerative}
	s.run(t, options)
}

// RunBottleneck runs the suite on a method that is General, on an information bottleneck.
func RunBottleneck(t *testing.T, m unlearn.Method, options ...Option) {
	t.Helper()
	s := &suite{method: m, toy: NewBottleneckToy(t), invalid: invalidBottleneck()}
	s.run(t, options)
	t.Run("needs a bottleneck", s.needsABottleneck)
}

// RunLanguage runs the suite on a method that works on a language model that predicts the next token.
// A method that needs one must refuse other models.
func RunLanguage(t *testing.T, m unlearn.Method, options ...Option) {
	t.Helper()
	s := &suite{method: m, toy: NewLanguageToy(t), invalid: invalidLanguage()}
	s.run(t, options)
	if m.Info().NextToken {
		t.Run("needs a language model", s.needsALanguageModel)
	}
}

func (s *suite) needsALanguageModel(t *testing.T) {
	for _, toy := range []*Toy{NewToy(t), NewGenerativeToy(t)} {
		p, rep, err := unlearn.Apply(context.Background(), s.method, toy.Request)
		if err == nil || p != nil || rep != nil || !strings.Contains(err.Error(), "needs a language model that predicts the next token") {
			t.Errorf("%s is not refused: %v", toy.Request.Runner.Arch.Name(), err)
		}
	}
}

func (s *suite) needsABottleneck(t *testing.T) {
	p, rep, err := unlearn.Apply(context.Background(), s.method, NewToy(t).Request)
	if err == nil || p != nil || rep != nil {
		t.Errorf("a plain classifier is not refused: %v", err)
	}
}

func (s *suite) needsAClassifier(t *testing.T) {
	p, rep, err := unlearn.Apply(context.Background(), s.method, NewGenerativeToy(t).Request)
	if err == nil || p != nil || rep != nil || !strings.Contains(err.Error(), "needs a classifier and its labels") {
		t.Errorf("a variational autoencoder is not refused: %v", err)
	}
}

func (s *suite) run(t *testing.T, options []Option) {
	t.Helper()
	for _, o := range options {
		o(s)
	}
	s.want, s.report = s.apply(t, s.toy.request())
	t.Run("has a name and a configuration", s.hasAName)
	t.Run("resolves to itself", s.resolvesToItself)
	t.Run("reports what it did", s.reports)
	t.Run("leaves its request alone", s.leavesItsRequestAlone)
	t.Run("same seed, same bytes", s.sameSeedSameBytes)
	t.Run("other seed, other bytes", s.otherSeedOtherBytes)
	t.Run("runs side by side", s.runsSideBySide)
	t.Run("sees only what it declares", s.seesOnlyWhatItDeclares)
	t.Run("uses what it declares", s.usesWhatItDeclares)
	t.Run("forgets a planted memory", s.forgetsAPlantedMemory)
	t.Run("works on mini-batches", s.worksOnMiniBatches)
	t.Run("trains on augmented records", s.trainsOnAugmentedRecords)
	t.Run("reports progress", s.reportsProgress)
	t.Run("stops and resumes", s.stopsAndResumes)
	t.Run("refuses nonsense", s.refusesInvalid)
	for _, p := range s.properties {
		t.Run(p.name, func(t *testing.T) { p.check(t, s.toy, s.want) })
	}
}

func (s *suite) apply(t testing.TB, r unlearn.Request) (nn.Params, *unlearn.Report) {
	t.Helper()
	p, rep, err := unlearn.Apply(context.Background(), s.method, r)
	if err != nil {
		t.Fatal(err)
	}
	return p, rep
}

func (s *suite) trains() bool { return len(s.report.History) > 0 }

var shortName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (s *suite) hasAName(t *testing.T) {
	info := s.method.Info()
	if !shortName.MatchString(info.Name) {
		t.Errorf("name %q: expected small letters, digits and single hyphens", info.Name)
	}
	for field, words := range map[string]string{"Does": info.Does, "From": info.From} {
		if words == "" || words != strings.TrimSpace(words) || strings.Contains(words, "\n") {
			t.Errorf("Info.%s is %q: expected one line", field, words)
		}
	}
	if _, err := json.Marshal(s.method); err != nil {
		t.Errorf("the configuration is part of the store key and must be JSON: %v", err)
	}
}

// resolvesToItself checks that the tags of defaults fit their fields, and that filling them in
// changes neither what the method is nor its result, and a second time nothing more.
func (s *suite) resolvesToItself(t *testing.T) {
	if err := defaults.Check(s.method); err != nil {
		t.Error(err)
	}
	once := defaults.Fill(s.method)
	if once.Info() != s.method.Info() {
		t.Errorf("with defaults it is another method: %+v", once.Info())
	}
	first, err := json.Marshal(once)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(defaults.Fill(once)); err != nil || string(again) != string(first) {
		t.Errorf("with defaults it is %s, with defaults again %s (%v)", first, again, err)
	}
	if p, _, err := unlearn.Apply(context.Background(), once, s.toy.request()); err != nil || p.Hash() != s.want.Hash() {
		t.Errorf("with defaults it gives other weights (%v): the store would keep them under the wrong key", err)
	}
}

func (s *suite) reports(t *testing.T) {
	rep := s.report
	if rep.Method != s.method.Info().Name || rep.Epochs != len(rep.History) {
		t.Errorf("report %+v", rep)
	}
	moved, err := s.want.Displacement(s.toy.Request.Original)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Displacement != moved {
		t.Errorf("the report says displacement %v, it is %v", rep.Displacement, moved)
	}
	steps := 0
	for i, h := range rep.History {
		if h.Epoch != i+1 || h.Steps <= steps {
			t.Errorf("record %d of the history is %+v", i, h)
		}
		steps = h.Steps
	}
	if rep.Steps != steps {
		t.Errorf("the report says %d steps, the history %d", rep.Steps, steps)
	}
}

// fingerprint identifies everything in a request that a method could write to.
func fingerprint(r unlearn.Request) string {
	return fmt.Sprint(r.Original.Hash(), r.Earlier.Params.Hash(), r.Earlier.Epoch, r.Forget, r.Retain, r.HeldOut, r.Refusals, r.Fit, r.Seed, r.Batch)
}

// leavesItsRequestAlone calls the method itself: Apply would give it weights of its own.
func (s *suite) leavesItsRequestAlone(t *testing.T) {
	r := s.toy.request()
	before := fingerprint(r)
	out, err := defaults.Fill(s.method).Unlearn(context.Background(), r)
	if err != nil || out == nil {
		t.Fatalf("it returned %v and the error %v", out, err)
	}
	if fingerprint(r) != before {
		t.Fatal("the method wrote to its request")
	}
	for i := range out.Params {
		out.Params[i].Data[0] += 1
	}
	if fingerprint(r) != before {
		t.Error("the result shares memory with the request: writing to one changes the other")
	}
}

func (s *suite) sameSeedSameBytes(t *testing.T) {
	if p, rep := s.apply(t, s.toy.request()); p.Hash() != s.want.Hash() || !reflect.DeepEqual(rep.History, s.report.History) {
		t.Error("the same request gives another result the second time")
	}
}

func (s *suite) otherSeedOtherBytes(t *testing.T) {
	r := s.toy.request()
	r.Seed++
	r.Fit.Seed++
	p, _ := s.apply(t, r)
	switch same := p.Hash() == s.want.Hash(); {
	case same && !s.deterministic:
		t.Error("another seed gives the same bytes; a method that draws no randomness says so with Deterministic")
	case !same && s.deterministic:
		t.Error("another seed gives other bytes, but the method is declared Deterministic")
	}
}

func (s *suite) runsSideBySide(t *testing.T) {
	results := make(chan string)
	for range 3 {
		go func() {
			p, _, err := unlearn.Apply(context.Background(), s.method, s.toy.request())
			results <- fmt.Sprint(p.Hash(), err)
		}()
	}
	for range 3 {
		if got := <-results; got != fmt.Sprint(s.want.Hash(), error(nil)) {
			t.Errorf("three at once: %s", got)
		}
	}
}
