// Records in groups, without a memory: intervals of lenses must be over the groups.

package lenstest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/audit"
)

// The sizes of evidence in groups. Half of the groups held out are in no shadow model.
const (
	groupSize                                      = 20
	forgetGroups, retainGroups, heldGroups         = 12, 16, 20
	groupedRecords                                 = groupSize * (forgetGroups + retainGroups + heldGroups)
	groupedClasses, groupedWidth                   = 3, 6
	groupSimulations, groupedShadows               = 150, 8
	leastGrouped, mostIndependent          float64 = 0.88, 0.88 // of 95 % intervals: 0.95 less 4 standard errors
)

// checkGroups draws evidence without a memory, whose records are in groups that share how hard they
// are. The lens's intervals must cover as often as they say, where intervals over independent records
// do not. A lens whose intervals are not over groups says why (audit.Info.Ungrouped).
func checkGroups(t *testing.T, lens audit.Lens) {
	t.Helper()
	checkGroupedReadings(t, lens, groupSimulations, leastGrouped, func(k int) (over, alone audit.Reading, groups int) {
		e := groupedEvidence(uint64(k), readsTexts(lens))
		over = readGrouped(t, lens, e)
		e.Groups = nil
		return over, readGrouped(t, lens, e), forgetGroups + heldGroups
	})
}

// checkGroupedReadings checks readings of models without a memory, of as many simulations: over the groups of
// records, and over records alone. groups is the number of groups of the forgotten and the held-out records.
func checkGroupedReadings(t *testing.T, lens audit.Lens, simulations int, least float64, read func(k int) (over, alone audit.Reading, groups int)) {
	t.Helper()
	over, alone := make([]audit.Reading, simulations), make([]audit.Reading, simulations)
	groups, why := 0, lens.Info().Ungrouped
	for k := range simulations {
		over[k], alone[k], groups = read(k)
		if k > 0 {
			continue
		}
		if (over[0].Clustered != nil) != (why == "") {
			t.Errorf("it says %q of groups, and its interval is over %s", why, over[0].Over)
		}
		if over[0].Clustered == nil {
			return
		}
	}
	truth := groupedTruth(lens, over)
	if c := coverage(over, truth); c < least {
		t.Errorf("%.3f of the 95 %% intervals over groups hold %.3f", c, truth)
	}
	checkNotHuge(t, over)
	if c := coverage(alone, truth); c > mostIndependent {
		t.Errorf("%.3f of the 95 %% intervals over records hold %.3f, so that groups do not matter here", c, truth)
	}
	if floor := over[0].Floor.P95; floor < alone[0].Floor.P95 {
		t.Errorf("chance reaches %v over groups and %v over records", floor, alone[0].Floor.P95)
	}
	if n := over[0].N; n > groups || over[0].Over != "authors" || over[0].Clustered.DesignEffect < 1 {
		t.Errorf("of records in groups of authors the interval is over %d %q, %+v, expected at most %d \"authors\" and a design effect of at least 1",
			n, over[0].Over, *over[0].Clustered, groups)
	}
}

// checkNotHuge refuses intervals that are much wider than what varies.
func checkNotHuge(t *testing.T, readings []audit.Reading) {
	t.Helper()
	n := &nullReadings{}
	for _, r := range readings {
		n.values, n.halves = append(n.values, r.Value), append(n.halves, (r.High-r.Low)/2)
	}
	n.checkWidth(t, widestOverGroups)
}

func readGrouped(t *testing.T, lens audit.Lens, e *audit.Evidence) audit.Reading {
	t.Helper()
	return readArrays(t, lens, e, e.Models[0])
}

// groupedTruth is the null where it holds for models that never had the records, and otherwise the
// mean of all readings.
func groupedTruth(lens audit.Lens, readings []audit.Reading) float64 {
	if lens.Info().Null == audit.NonmemberNull && readings[0].Null != nil {
		return *readings[0].Null
	}
	mean := 0.0
	for _, r := range readings {
		mean += r.Value / float64(len(readings))
	}
	return mean
}

func coverage(readings []audit.Reading, truth float64) float64 {
	held := 0
	for _, r := range readings {
		if r.Low <= truth && truth <= r.High {
			held++
		}
	}
	return float64(held) / float64(len(readings))
}

// rows is a matrix in memory.
type rows struct{ x *array.Matrix[float64] }

// Read implements audit.Matrix.
func (m rows) Read() (array.Rows, error) { return m.x, nil }

// Width implements audit.Matrix.
func (m rows) Width() int { return m.x.Cols }

// groupedEvidence draws arrays of models that all never had the records. A group shares how hard its
// records are, how close they lie to each other, and what each model makes of it. Retained records
// are the same for every seed. Arrays of texts, which take most of the time, are there when asked for.
func groupedEvidence(seed uint64, texts bool) *audit.Evidence {
	e := &audit.Evidence{Records: groupedRecords, Classes: groupedClasses, GroupUnit: "author", Seed: seed}
	order := rand.New(rand.NewPCG(seed, 0x6a0)).Perm(groupedRecords / groupSize) // numbers of groups say nothing
	for i := range groupedRecords {
		g := i / groupSize
		e.Groups, e.Labels = append(e.Groups, order[g]), append(e.Labels, g%groupedClasses)
		switch {
		case g < forgetGroups:
			e.Forget = append(e.Forget, i)
		case g < forgetGroups+retainGroups:
			e.Retain = append(e.Retain, i)
		default:
			e.HeldOut = append(e.HeldOut, i)
		}
	}
	w := &groupedWorld{e: e, changing: rand.New(rand.NewPCG(seed, 0x6a1)), fixed: rand.New(rand.NewPCG(1, 0x6a2))}
	for g := range groupedRecords / groupSize {
		rng := w.rng(g * groupSize)
		w.hard, w.near = append(w.hard, 1.5*rng.NormFloat64()), append(w.near, 1.5*math.Abs(rng.NormFloat64()))
	}
	for i := range groupedRecords {
		own := make([]float64, groupedWidth)
		for k := range own {
			own[k] = w.rng(i).NormFloat64()
		}
		own[0] += w.near[i/groupSize]
		w.own, w.ownHard = append(w.own, own), append(w.ownHard, w.rng(i).NormFloat64())
	}
	roles := []audit.Role{audit.Unlearned, audit.Original, audit.Retrained, audit.Retrained}
	for k, r := range append(roles, slices.Repeat([]audit.Role{audit.Shadow}, groupedShadows)...) {
		e.Models = append(e.Models, w.model(k, r))
	}
	if texts {
		w.addTexts()
	}
	return e
}

// groupedWorld holds what models share.
type groupedWorld struct {
	e               *audit.Evidence
	changing, fixed *rand.Rand
	hard, near      []float64 // of groups
	own             [][]float64
	ownHard         []float64
}

// rng is the source of a record's numbers.
func (w *groupedWorld) rng(record int) *rand.Rand {
	if g := record / groupSize; g >= forgetGroups && g < forgetGroups+retainGroups {
		return w.fixed
	}
	return w.changing
}

// model draws the arrays of one model.
func (w *groupedWorld) model(k int, r audit.Role) *audit.Arrays {
	e := w.e
	m := &audit.Arrays{Name: string(r) + string(rune('a'+k)), Role: r, Logits: true, In: make([]bool, e.Records)}
	outputs, embedding := array.New[float64](e.Records, groupedClasses), array.New[float64](e.Records, groupedWidth)
	var margin float64
	moved := make([]float64, groupedWidth)
	for i, y := range e.Labels {
		rng, g := w.rng(i), i/groupSize
		if i%groupSize == 0 {
			margin = rng.NormFloat64()
			for j := range moved {
				moved[j] = 0.7 * rng.NormFloat64()
			}
		}
		for c := range groupedClasses {
			outputs.Row(i)[c] = 0.5 * rng.NormFloat64()
		}
		outputs.Row(i)[y] += 1 + w.hard[g] + margin + 0.5*w.ownHard[i]
		for j := range groupedWidth {
			embedding.Row(i)[j] = w.own[i][j] + moved[j] + 0.3*rng.NormFloat64()
		}
		shared := g < forgetGroups || g >= forgetGroups+retainGroups+heldGroups/2
		m.In[i] = r == audit.Shadow && shared && (g+k)%2 == 0
	}
	m.Outputs, m.Embedding = rows{&outputs}, rows{&embedding}
	if err := m.Summarise(&outputs, e.Labels); err != nil {
		panic(err) // of labels that this file draws
	}
	if r != audit.Shadow {
		m.In = nil
	}
	return m
}
