package lab

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// ResultsVersion is the version of the numbers: it goes up when a change of the
// program changes every result, and with it every store key. A change of one
// method raises that method's own version (unlearn.Versioned), one of a measure
// that measure's.
const ResultsVersion = 2

// Key is the name in the store of something computed from the problem.
// Where the lab's seeds are moved the key says so, whatever seeds it is given. Of the
// problem's network, of data that somebody has made himself and of what the configuration
// holds, the key has the code where that is not Lethe's (store.CodeOf); what else is
// computed with belongs into the key's Of.
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

// Keys hold what is in force, never a zero that stands for something else: a
// default that changes in code is another key.

// NetworkKey is a network as a key holds it.
type NetworkKey struct {
	Model string             `json:"model"`
	Arch  model.Architecture `json:"arch"`
}

// NetworkKeyOf resolves a network for a key.
func NetworkKeyOf(a model.Architecture) NetworkKey {
	return NetworkKey{a.Name(), defaults.Of(a, a.WithDefaults())}
}

// MethodKey is an unlearning method as a key holds it.
type MethodKey struct {
	Method  string         `json:"method"`
	Version int            `json:"version"`
	Setting unlearn.Method `json:"setting"`
}

// MethodKeyOf resolves a method for a key.
func MethodKeyOf(m unlearn.Method) MethodKey {
	return MethodKey{m.Name(), unlearn.VersionOf(m), defaults.Of(m, m.WithDefaults())}
}

// augmenterKey names the kind of an augmenter beside its fields, or is nil.
func augmenterKey(a train.Augmenter) *namedConfig {
	if a == nil {
		return nil
	}
	return &namedConfig{Name: fmt.Sprintf("%T", a), Setting: a}
}

// goalKey is a goal as a key holds it: one whose results changed in a way that its fields do
// not show says so, like a method (unlearn.Versioned).
func goalKey(g Goal) namedConfig {
	key := namedConfig{Name: g.Name(), Setting: g}
	if v, ok := g.(unlearn.Versioned); ok {
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

// TrainKey is the name in the store of a training.
func (l *Lab) TrainKey(t Training) store.Key {
	fit := t.Fit.WithDefaults()
	config := trainKey{
		NetworkKey: NetworkKeyOf(t.Problem.Arch), Goal: goalKey(t.goal()), Fit: fit,
		Rows: hashInts(t.Rows), Augment: augmenterKey(t.Problem.augmenter(fit.Seed)), Keep: t.Keep,
		Federated: t.Federated.key(),
	}
	return l.Key("train", t.Problem, config, map[string]int64{"train": int64(fit.Seed)})
}

// unlearnKey identifies an unlearned model in the store. The records themselves
// follow from the key's data and the numbers of the rows.
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
	Augment  *namedConfig `json:"augment,omitempty"`
	Goal     *namedConfig `json:"goal,omitempty"`    // nil: Labels
	Holders  string       `json:"holders,omitempty"` // hash of who holds which rows
}

// unlearnKey is that of a method's answer to a request about a model that was
// trained for a goal.
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
	if m.Sees().Earlier && r.Earlier != nil {
		config.Earlier, config.Epoch = r.Earlier.Params.Hash(), r.Earlier.Epoch
	}
	if m.Sees().HeldOut {
		config.HeldOut = hashInts(r.HeldOut.IDs)
	}
	return l.Key("unlearn", p, config, map[string]int64{"unlearn": int64(r.Seed)})
}

// augmenter is the problem's for a seed, or nil.
func (p *Problem) augmenter(seed engine.Root) train.Augmenter {
	if p.Augment == nil {
		return nil
	}
	return p.Augment(seed)
}

// RowsKey identifies a list of row numbers.
func RowsKey(rows []int) string { return hashInts(rows) }

// hashInts is the SHA-256 of a list of row numbers.
func hashInts(rows []int) string {
	b := make([]byte, 0, 8*len(rows))
	for _, r := range rows {
		b = binary.LittleEndian.AppendUint64(b, uint64(r))
	}
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}
