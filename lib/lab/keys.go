// Store keys of trainings and unlearnings.

package lab

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// ResultsVersion is the version of all numbers. It is raised, and with it every store key
// changes, when a change of the program changes every result. A change of one method raises
// that method's own version ([unlearn.Info]), one of a measure the measure's.
const ResultsVersion = 2

// Key returns the store key of something computed from the problem. With a shifted lab the
// key contains the shift, whatever seeds it is given. It includes the code (store.CodeOf)
// of the problem's network, of caller-prepared data and of everything in config that is not
// this module's own; add other such values to the key's Of.
func (l *Lab) Key(recipe string, p *Problem, config any, seeds map[string]int64) store.Key {
	if l.Shift != 0 {
		moved := map[string]int64{"shift": int64(l.Shift)}
		maps.Copy(moved, seeds)
		seeds = moved
	}
	key := store.Key{
		Recipe: recipe, Config: config, Seeds: seeds,
		Data:   map[string]string{p.About.Name: p.Hash},
		Engine: l.Engine.Info().String(), Results: ResultsVersion, DependsOn: []any{p.Arch, p.Augment},
	}
	if p.Runner != nil {
		key.DependsOn = append(key.DependsOn, p.Runner.Arch)
	}
	if p.content != "" {
		key.Data["content of "+p.About.Name] = p.content
	}
	return key
}

// Keys hold effective values, never a zero that stands for a default: a default that
// changes in the code changes the key.

// NetworkKey is a network as a part of a store key.
type NetworkKey struct {
	Model string             `json:"model"`
	Arch  model.Architecture `json:"arch"`
}

// NetworkKeyOf returns the key of a network with its defaults filled in.
func NetworkKeyOf(a model.Architecture) NetworkKey {
	return NetworkKey{a.Name(), defaults.Fill(a)}
}

// MethodKey is an unlearning method as a part of a store key.
type MethodKey struct {
	Method  string         `json:"method"`
	Version int            `json:"version"`
	Setting unlearn.Method `json:"setting"`
}

// MethodKeyOf returns the key of a method with its defaults filled in.
func MethodKeyOf(m unlearn.Method) MethodKey {
	m = defaults.Fill(m)
	info := m.Info()
	return MethodKey{info.Name, cmp.Or(info.Version, 1), m}
}

// ModelsKey is a hash of a setting, with its defaults, and of methods with theirs: equal where both
// name the same models. Functions inside count by name.
func ModelsKey(s Setting, methods ...unlearn.Method) string {
	keys := []MethodKey{}
	for _, m := range methods {
		keys = append(keys, MethodKeyOf(m))
	}
	return store.ContentHash([]any{s.withDefaults(), keys})
}

// augmenterKey returns the type name and the fields of an augmenter, or nil.
func augmenterKey(a train.Augmenter) *namedConfig {
	if a == nil {
		return nil
	}
	return &namedConfig{Name: fmt.Sprintf("%T", a), Setting: a}
}

// goalKey is a goal as a part of a store key. A VersionedGoal adds its version.
func goalKey(g Goal) namedConfig {
	key := namedConfig{Name: g.Name(), Setting: g}
	if v, ok := g.(VersionedGoal); ok {
		key.Version = v.Version()
	}
	return key
}

// trainKey identifies a training in the store.
type trainKey struct {
	NetworkKey
	Goal    namedConfig  `json:"goal"`
	Fit     train.Config `json:"fit"`
	Rows    string       `json:"rows"` // hash of the training rows' numbers
	Augment *namedConfig `json:"augment,omitempty"`
	Keep    []int        `json:"keep,omitempty"` // epochs after which the weights are kept too

	Federated *federatedKey `json:"federated,omitempty"`
}

// TrainKey returns the store key of a training.
func (l *Lab) TrainKey(t Training) store.Key {
	fit := t.Fit.WithDefaults()
	config := trainKey{
		NetworkKey: NetworkKeyOf(t.Problem.Arch), Goal: goalKey(t.goal()), Fit: fit,
		Rows: hashInts(t.Rows), Augment: augmenterKey(t.Problem.augmenter(fit.Seed)), Keep: t.Keep,
		Federated: t.Federated.key(),
	}
	return l.Key("train", t.Problem, config, map[string]int64{"train": int64(fit.Seed)})
}

// unlearnKey identifies an unlearned model in the store. The records themselves follow from
// the hash of the data and the row numbers.
type unlearnKey struct {
	MethodKey
	NetworkKey
	Original string       `json:"original"` // hash of its weights
	Forget   string       `json:"forget"`   // hash of the rows' numbers
	Retain   string       `json:"retain"`
	Fit      train.Config `json:"fit"`
	Batch    int          `json:"batch"`
	Earlier  string       `json:"earlier,omitempty"` // hash of its weights
	Epoch    int          `json:"epoch,omitempty"`   // of Earlier
	HeldOut  string       `json:"held_out,omitempty"`
	Refusals string       `json:"refusals,omitempty"` // they are drawn from a list of the code, hence their tokens
	Augment  *namedConfig `json:"augment,omitempty"`
	Goal     *namedConfig `json:"goal,omitempty"`    // nil: Labels
	Holders  string       `json:"holders,omitempty"` // hash of which user holds which rows
}

// unlearnKey returns the store key of a method's result for a request; goal is the goal of
// the original's training.
func (l *Lab) unlearnKey(p *Problem, goal Goal, m unlearn.Method, r unlearn.Request) store.Key {
	config := unlearnKey{
		MethodKey: MethodKeyOf(m), NetworkKey: NetworkKeyOf(r.Runner.Arch), Original: r.Original.Hash(),
		Forget: hashInts(r.Forget.IDs), Retain: hashInts(r.Retain.IDs),
		Fit: r.Fit.WithDefaults(), Batch: r.Batch, Augment: augmenterKey(r.Augment), Holders: holdersKey(r.Holders),
	}
	if !isLabels(goal) {
		key := goalKey(goal)
		config.Goal = &key
	}
	if m.Info().Sees.Earlier && r.Earlier != nil {
		config.Earlier, config.Epoch = r.Earlier.Params.Hash(), r.Earlier.Epoch
	}
	if m.Info().Sees.HeldOut {
		config.HeldOut = hashInts(r.HeldOut.IDs)
	}
	if m.Info().Sees.Refusals && r.Refusals.X.Rows > 0 {
		config.Refusals = hashInts(append(tokensOf(r.Refusals.X), r.Refusals.IDs...))
	}
	return l.Key("unlearn", p, config, map[string]int64{"unlearn": int64(r.Seed)})
}

// tokensOf returns the whole numbers of records of texts.
func tokensOf(x array.Matrix[float32]) []int {
	out := make([]int, 0, len(x.Data))
	for _, v := range x.Data {
		out = append(out, int(v))
	}
	return out
}

// augmenter returns the problem's augmenter for a seed, or nil.
func (p *Problem) augmenter(seed engine.Root) train.Augmenter {
	if p.Augment == nil {
		return nil
	}
	return p.Augment(seed)
}

// RowsKey returns a hash of a list of row numbers.
func RowsKey(rows []int) string { return hashInts(rows) }

// hashInts returns the SHA-256 of a list of row numbers.
func hashInts(rows []int) string {
	b := make([]byte, 0, 8*len(rows))
	for _, r := range rows {
		b = binary.LittleEndian.AppendUint64(b, uint64(r))
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
