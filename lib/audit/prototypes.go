// Prototype relearning: class means of a few forgotten records, tried on the others.

package audit

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Prototypes relearns the forgotten records from a few of them, without training: the mean embedding of k
// forgotten records of a class stands for the class, and every other forgotten record is given the class of
// the nearest mean,
//
//	value = mean over forgotten records of the share of draws in which it gets its own class
//
// Classes without forgotten records have the mean of retained ones. The k records of a class are drawn
// Draws times, of as few groups as hold them; k is Shots, and at most half of the class's forgotten
// records. No record is tried on means that its own group is part of.
//
// Records share means, so that an interval over what is tried alone is too narrow. The interval is the
// wider one of that for bounded values and of Student's over a jackknife: without a group (a record,
// where there are no groups) neither its records nor the means that it is part of count.
//
// Null: none; a retrained model shows how well classes are told apart that were learned from other
// records. Memory lies above its value.
//
// The question is that of Ha, Park and Yoon (2025), whose paper was not at hand: the form, the draws and the
// interval are our own.
type Prototypes struct {
	Shots int // 0: 5
	Draws int // 0: 200
}

var _ Lens = Prototypes{}

// maxOfClass bounds the retained records of a class's mean.
const maxOfClass = 200

// Name implements Lens.
func (Prototypes) Name() string { return "prototypes" }

// Info implements Lens.
func (Prototypes) Info() Info {
	return Info{
		Measures: "share of forgotten records that class means of a few others recognise, in the embedding",
		Asks:     "Do the embeddings of a few forgotten records of a class suffice to recognise the others?",
		How: "Mean over forgotten records of how often the nearest class mean of 5 others (at most half of them) is that of their class, in 200 draws, with " +
			"the wider of an interval over records that stays between 0 and 1 and one of a jackknife " +
			"of what is tried and of what means are made of. Classes without forgotten records have the mean of retained ones.",
		Source: "prototype relearning of Ha, Park and Yoon 2025, in a form of our own",
		Family: RepresentationFamily,
		Needs:  Needs{Arrays: []Array{EmbeddingArray, LabelArray}, Sets: []Set{Retain}},
		High:   1,
	}
}

// Read implements Lens.
func (l Prototypes) Read(e *Evidence, m *Arrays) (*Reading, error) {
	if len(e.Forget) == 0 {
		return nil, errNothingForgotten
	}
	if len(e.Labels) != e.Records {
		return absentReading(l, m.Name, "no labels"), nil
	}
	x, err := m.Embedding.Read()
	if err != nil {
		return nil, err
	}
	p, err := l.prepare(e, x)
	if err != nil {
		return nil, err
	}
	rng := e.Rand(purposePrototypes)
	for range cmp.Or(l.Draws, 200) {
		p.try(rng)
	}
	var rows []int
	var shares []float64
	for k, tried := range p.tried {
		if tried > 0 {
			rows, shares = append(rows, e.Forget[k]), append(shares, p.right[k]/tried)
		}
	}
	few := firstReason(e.tooFewForgotten(), TooFewRecords(e.CountGroups(e.Forget), e.Units()+" among the forgotten records"),
		TooFewRecords(len(rows), "forgotten records of classes with two or more"))
	if few.Call != "" {
		return NoReading(l.Name(), m.Name, few), nil
	}
	r := e.readingWithoutNull(l, m, Above, p.widened(stats.ClusterBounded(shares, e.Clusters(rows), level, e.Units())))
	r.NoEvidence = firstReason(r.NoEvidence, CollapsedRows("embeddings", x, e.Forget, e.Retain))
	return r, nil
}

// prototypes holds what draws share.
type prototypes struct {
	e       *Evidence
	shots   int
	x       array.Matrix[float64] // embeddings of the forgotten records
	classes []int                 // of forgotten records, sorted
	of      map[int][]int         // places in Forget, by class
	others  [][]float64           // means of the classes without forgotten records
	// group is that of every forgotten record, from 0 on; without groups every record is one.
	group  []int
	groups int
	// right and tried count the draws of every forgotten record.
	right, tried []float64
	draws        []prototypeDraw
}

// prototypeDraw is what one draw says: of every group whether a mean is made of it, and how many of its records
// were tried, and rightly; and the sums over all groups.
type prototypeDraw struct {
	inMeans            []bool
	right, tried       []float64
	allRight, allTried float64
}

// widened returns an estimate with an interval that is not narrower than that of the jackknife.
func (p *prototypes) widened(e stats.Estimate) stats.Estimate {
	whole, tried := 0.0, 0.0
	for _, d := range p.draws {
		whole, tried = whole+d.allRight, tried+d.allTried
	}
	whole /= tried
	var without, values []float64
	for g := range p.groups {
		if v, n := p.shareWithout(g); n > 0 {
			without = append(without, v)
		}
	}
	if len(without) < 2 {
		return e
	}
	for _, v := range without {
		values = append(values, whole+float64(float64(len(without)-1)*(whole-v)))
	}
	jackknife := stats.MeanInterval(values, level, e.Over)
	half := (jackknife.High - jackknife.Low) / 2
	e.Low, e.High = max(0, min(e.Low, e.Value-half)), min(1, max(e.High, e.Value+half))
	return e
}

// shareWithout returns the share of what was right over all draws without a group, and the number of what was
// tried.
func (p *prototypes) shareWithout(group int) (share, tried float64) {
	right := 0.0
	for _, d := range p.draws {
		if d.inMeans[group] {
			continue
		}
		right += d.allRight - d.right[group]
		tried += d.allTried - d.tried[group]
	}
	return right / tried, tried
}

// prepare reads the embeddings and groups the forgotten records by class.
func (l Prototypes) prepare(e *Evidence, x array.Rows) (*prototypes, error) {
	_, cols := x.Shape()
	p := &prototypes{e: e, shots: cmp.Or(l.Shots, 5), x: array.New[float64](len(e.Forget), cols), of: map[int][]int{},
		right: make([]float64, len(e.Forget)), tried: make([]float64, len(e.Forget))}
	if p.shots < 1 || l.Draws < 0 {
		return nil, fmt.Errorf("audit: the lens %q: %d records of a class in %d draws", l.Name(), l.Shots, l.Draws)
	}
	for k, i := range e.Forget {
		copy(p.x.Row(k), x.Read(p.x.Row(k), i))
		if p.of[e.Labels[i]] == nil {
			p.classes = append(p.classes, e.Labels[i])
		}
		p.of[e.Labels[i]] = append(p.of[e.Labels[i]], k)
	}
	if err := p.x.Check("embedding"); err != nil {
		return nil, fmt.Errorf("audit: the lens %q: %w", l.Name(), err)
	}
	slices.Sort(p.classes)
	p.numberGroups()
	retained := map[int][]int{}
	for _, i := range e.Retain {
		if y := e.Labels[i]; p.of[y] == nil && len(retained[y]) < maxOfClass {
			retained[y] = append(retained[y], i)
		}
	}
	for _, rows := range retained {
		mean, buffer := make([]float64, cols), make([]float64, cols)
		for _, i := range rows {
			for j, v := range x.Read(buffer, i) {
				mean[j] += v / float64(len(rows))
			}
		}
		p.others = append(p.others, mean)
	}
	return p, nil
}

// numberGroups numbers the groups of the forgotten records in the order in which they appear.
func (p *prototypes) numberGroups() {
	numbers := map[int]int{}
	for k, i := range p.e.Forget {
		key := k
		if p.e.Groups != nil {
			key = p.e.Groups[i]
		}
		g, known := numbers[key]
		if !known {
			g = len(numbers)
			numbers[key] = g
		}
		p.group = append(p.group, g)
	}
	p.groups = len(numbers)
}

// try draws the records of the means and tries all others.
func (p *prototypes) try(rng *rand.Rand) {
	var means [][]float64
	var owners []int
	d := prototypeDraw{inMeans: make([]bool, p.groups), right: make([]float64, p.groups), tried: make([]float64, p.groups)}
	for _, y := range p.classes {
		places := p.of[y]
		order := p.order(places, rng) // of every class, so that all models get the same draws
		shots := min(p.shots, len(places)/2)
		if shots == 0 {
			continue
		}
		mean := make([]float64, p.x.Cols)
		for _, k := range order[:shots] {
			for j, v := range p.x.Row(k) {
				mean[j] += v / float64(shots)
			}
			d.inMeans[p.group[k]] = true
		}
		means, owners = append(means, mean), append(owners, y)
	}
	if len(means)+len(p.others) < 2 {
		return
	}
	for k, i := range p.e.Forget {
		y := p.e.Labels[i]
		if d.inMeans[p.group[k]] || !slices.Contains(owners, y) {
			continue
		}
		right := p.shareRight(p.x.Row(k), y, means, owners)
		p.tried[k]++
		p.right[k] += right
		d.tried[p.group[k]]++
		d.right[p.group[k]] += right
		d.allTried++
		d.allRight += right
	}
	p.draws = append(p.draws, d)
}

// order returns the records of a class in random order, group after group: a mean is then of few groups, and many
// are left to be tried.
func (p *prototypes) order(places []int, rng *rand.Rand) []int {
	out, rank := make([]int, len(places)), make([]int, p.groups)
	for k, from := range rng.Perm(len(places)) {
		out[k] = places[from]
		if g := p.group[out[k]]; rank[g] == 0 {
			rank[g] = k + 1
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(rank[p.group[a]], rank[p.group[b]]) })
	return out
}

// shareRight is 1 if the nearest mean is that of a record's class, 0 if it is not, and 1 over the number of
// nearest means where there are several.
func (p *prototypes) shareRight(row []float64, y int, means [][]float64, owners []int) float64 {
	best, nearest, right := math.Inf(1), 0, 0
	add := func(mean []float64, own bool) {
		d := squaredDistance(row, mean, best)
		switch {
		case d < best:
			best, nearest, right = d, 0, 0
		case d > best:
			return
		}
		nearest++
		if own {
			right++
		}
	}
	for k, mean := range means {
		add(mean, owners[k] == y)
	}
	for _, mean := range p.others {
		add(mean, false)
	}
	return float64(right) / float64(nearest)
}
