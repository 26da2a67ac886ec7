package cells

// Simulated counts with known structure.

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Simulation generates counts with known structure. Cell i of type t in batch b with library
// size L_i has for gene g
//
//	x_ig ~ NB(mean L_i p_tbg, variance mean + mean^2/theta_g),  then 0 with probability Dropout
//	p_tbg proportional to a_g Fold^[g is a marker of t] exp(s_bg),  sum over g of p_tbg = 1
//
// with log a_g ~ N(0, 1.2^2), log L_i normal with mean log Library, log theta_g ~ N(log Theta,
// 0.3^2), s_bg ~ N(0, BatchSD^2). Genes MT-1 to MT-5 are the mitochondrial ones, with about 3 %
// of the counts together in every type.
//
// It plants rare types (in the order of Rare), near-duplicates (NearCopies) and batches. A near-copy
// has the type, the batch and the library size of another cell and all of its counts, except that
// each count is drawn anew with probability CopyNoise.
//
// The zero value is a small experiment: 1,000 cells, 600 genes, 6 types of falling size and two
// rare ones of 32 and 14 cells, like PBMC-3k's dendritic cells and platelets.
type Simulation struct {
	Cells      int     `json:"cells,omitempty" default:"1000"` // including rare cells and near-copies
	Genes      int     `json:"genes,omitempty" default:"600"`
	Types      int     `json:"types,omitempty" default:"6"`        // common types
	Rare       []int   `json:"rare,omitempty"`                     // cells of each rare type; nil: 32, 14; empty: none
	Markers    int     `json:"markers,omitempty" default:"30"`     // marker genes per type
	Fold       float64 `json:"fold,omitempty" default:"6"`         // by how much a type raises its markers
	Library    float64 `json:"library,omitempty" default:"3000"`   // counts of a median cell
	LibrarySD  float64 `json:"library_sd,omitempty" default:"0.3"` // of the logarithm of the library size
	Theta      float64 `json:"theta,omitempty" default:"3"`        // large: Poisson
	Dropout    float64 `json:"dropout,omitempty"`                  // probability that a count becomes 0
	NearCopies int     `json:"twins,omitempty"`                    // near-duplicates
	CopyNoise  float64 `json:"twin_noise,omitempty" default:"0.05"`
	Batches    int     `json:"batches,omitempty" default:"1"`
	BatchSD    float64 `json:"batch_sd,omitempty"` // 0: 0.3 if there are batches
}

// Simulated are simulated counts with their true structure.
type Simulated struct {
	Counts  array.Sparse[float32]
	Genes   []string
	Types   []string              // names: type0 ... , rare0 ...
	Type    []int                 // of each cell
	Batch   []int                 // of each cell
	CopyOf  []int                 // the cell that this cell duplicates, -1 for originals
	Library []float64             // expected counts of each cell, before dropout
	Share   array.Matrix[float64] // types x genes: expected shares without a batch, rows sum to 1
	Markers [][]int               // of each type, ascending
	Theta   []float64             // of each gene
}

const mitochondrial = 5

// SetDefaults implements defaults.Setter.
func (s *Simulation) SetDefaults() {
	if s.Rare == nil {
		s.Rare = []int{32, 14}
	}
	if s.Batches > 1 {
		s.BatchSD = cmp.Or(s.BatchSD, 0.3)
	}
}

func (s Simulation) check() error {
	planted := s.NearCopies + s.Types
	for _, n := range s.Rare {
		planted += n
		if n < 1 {
			return fmt.Errorf("cells.Simulation: a rare type of %d cells", n)
		}
	}
	switch {
	case s.Types < 1 || s.Batches < 1 || s.NearCopies < 0 || s.Markers < 1:
		return fmt.Errorf("cells.Simulation: %d types, %d batches, %d near-copies, %d markers", s.Types, s.Batches, s.NearCopies, s.Markers)
	case s.Cells < planted:
		return fmt.Errorf("cells.Simulation: %d cells cannot hold %d rare and copied cells and one of each common type", s.Cells, planted)
	case s.Genes < s.Markers+mitochondrial:
		return fmt.Errorf("cells.Simulation: %d genes, of which %d are markers of a type and %d mitochondrial", s.Genes, s.Markers, mitochondrial)
	case !(s.Fold > 0) || !(s.Library > 0) || !(s.Theta > 0) || !(s.LibrarySD >= 0) || !(s.BatchSD >= 0):
		return fmt.Errorf("cells.Simulation: fold %v, library %v, theta %v, deviations %v and %v", s.Fold, s.Library, s.Theta, s.LibrarySD, s.BatchSD)
	case !(s.Dropout >= 0 && s.Dropout < 1) || !(s.CopyNoise >= 0 && s.CopyNoise <= 1):
		return fmt.Errorf("cells.Simulation: dropout %v and copy noise %v are not probabilities", s.Dropout, s.CopyNoise)
	}
	return nil
}

// Draw draws the counts. Every cell has its own random stream, so that the same rng gives the
// same counts on any number of cores. Cells are in random order. A large simulation can be
// interrupted by ctx.
func (s Simulation) Draw(ctx context.Context, rng *rand.Rand) (*Simulated, error) {
	s = defaults.Fill(s)
	if err := s.check(); err != nil {
		return nil, err
	}
	if rng == nil {
		return nil, fmt.Errorf("cells.Simulation: rng is nil")
	}
	out := &Simulated{}
	base := s.drawProgramme(out, rng)
	s.drawTypes(out, rng)
	shift := array.Normal(rng, s.Batches, s.Genes, s.BatchSD)
	shares := make([]array.Matrix[float64], s.Batches)
	for b := range shares {
		shares[b] = out.shares(base, s.Fold, shift.Row(b))
	}
	out.Share = out.shares(base, s.Fold, make([]float64, s.Genes))
	found := s.counts(ctx, out, shares, rng.Uint64())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	order := rng.Perm(s.Cells)
	out = out.reordered(order)
	out.Counts = buildMatrix(found, order, s.Genes)
	return out, nil
}

// reordered puts cell order[k] at position k, so that row numbers do not reveal near-copies.
func (m *Simulated) reordered(order []int) *Simulated {
	out, at := *m, make([]int, len(order)+1)
	for k, i := range order {
		at[i] = k
	}
	at[len(order)] = -1 // for -1, no cell
	out.Type, out.Batch, out.CopyOf, out.Library = nil, nil, nil, nil
	for _, i := range order {
		original := m.CopyOf[i]
		if original < 0 {
			original = len(order)
		}
		out.Type, out.Batch, out.Library = append(out.Type, m.Type[i]), append(out.Batch, m.Batch[i]), append(out.Library, m.Library[i])
		out.CopyOf = append(out.CopyOf, at[original])
	}
	return &out
}

// counts draws all cells: the originals in parallel, then the near-copies. The result is incomplete if
// ctx is cancelled.
func (s Simulation) counts(ctx context.Context, m *Simulated, shares []array.Matrix[float64], key uint64) []sparseRow {
	_, task := progress.Start(ctx, "drawing cells", s.Cells)
	defer task.Done()
	found := make([]sparseRow, s.Cells)
	draw := func(row []float32, i int) *rand.Rand {
		own := rand.New(rand.NewPCG(key, uint64(i)))
		task.Add(1)
		s.drawCell(row, m, shares[m.Batch[i]].Row(m.Type[i]), i, own)
		return own
	}
	inParts(s.Cells-s.NearCopies, numParts, func(_, from, to int) {
		row := make([]float32, s.Genes)
		for i := from; i < to && ctx.Err() == nil; i++ {
			draw(row, i)
			found[i] = newSparseRow(row)
		}
	})
	row, older := make([]float32, s.Genes), make([]float32, s.Genes)
	for i := s.Cells - s.NearCopies; i < s.Cells && ctx.Err() == nil; i++ {
		own := draw(row, i)
		clear(older)
		found[m.CopyOf[i]].copyTo(older)
		for j, v := range older {
			if own.Float64() >= s.CopyNoise {
				row[j] = v
			}
		}
		found[i] = newSparseRow(row)
	}
	return found
}

// sparseRow is a row without its zeros.
type sparseRow struct {
	columns []int32
	values  []float32
}

func newSparseRow(row []float32) sparseRow {
	var f sparseRow
	for j, v := range row {
		if v != 0 {
			f.columns, f.values = append(f.columns, int32(j)), append(f.values, v)
		}
	}
	return f
}

func (f sparseRow) copyTo(row []float32) {
	for k, j := range f.columns {
		row[j] = f.values[k]
	}
}

// buildMatrix makes a matrix of the rows in this order and frees each row.
func buildMatrix(rows []sparseRow, order []int, genes int) array.Sparse[float32] {
	n := 0
	for _, f := range rows {
		n += len(f.values)
	}
	out := array.Sparse[float32]{Rows: len(rows), Cols: genes, Starts: make([]int, 1, len(rows)+1),
		Columns: make([]int32, 0, n), Values: make([]float32, 0, n)}
	for _, i := range order {
		out.Columns, out.Values = append(out.Columns, rows[i].columns...), append(out.Values, rows[i].values...)
		out.Starts = append(out.Starts, len(out.Columns))
		rows[i] = sparseRow{}
	}
	return out
}

// drawProgramme draws the marker genes of every type and the base level of every gene.
func (s Simulation) drawProgramme(out *Simulated, rng *rand.Rand) (base []float64) {
	base, out.Theta = make([]float64, s.Genes), make([]float64, s.Genes)
	sum := 0.0
	for j := range s.Genes {
		out.Genes = append(out.Genes, fmt.Sprintf("G%d", j+1))
		base[j], out.Theta[j] = math.Exp(1.2*rng.NormFloat64()), s.Theta*math.Exp(0.3*rng.NormFloat64())
		if j >= mitochondrial {
			sum += base[j]
		}
	}
	for j := range mitochondrial {
		out.Genes[j], base[j] = fmt.Sprintf("MT-%d", j+1), 0.03*sum/(0.97*mitochondrial)
	}
	for t := range s.Types + len(s.Rare) {
		name := fmt.Sprintf("type%d", t)
		if t >= s.Types {
			name = fmt.Sprintf("rare%d", t-s.Types)
		}
		out.Types = append(out.Types, name)
		genes := rng.Perm(s.Genes - mitochondrial)[:s.Markers]
		for k := range genes {
			genes[k] += mitochondrial
		}
		slices.Sort(genes)
		out.Markers = append(out.Markers, genes)
	}
	return base
}

// drawTypes assigns types, batches, library sizes and near-copies. The common types have falling
// sizes, each seven tenths of the one before.
func (s Simulation) drawTypes(out *Simulated, rng *rand.Rand) {
	var types []int
	for r, n := range s.Rare {
		types = append(types, slices.Repeat([]int{s.Types + r}, n)...)
	}
	common, weight, sum := s.Cells-s.NearCopies-len(types), make([]float64, s.Types), 0.0
	for t := range weight {
		weight[t] = math.Pow(0.7, float64(t))
		sum += weight[t]
		types = append(types, t) // at least one
	}
	for k, extra := 0, common-s.Types; k < extra; k++ {
		at, t := (float64(k)+0.5)/float64(extra)*sum, 0
		for ; t+1 < s.Types && at >= weight[t]; t++ {
			at -= weight[t]
		}
		types = append(types, t)
	}
	rng.Shuffle(len(types), func(a, b int) { types[a], types[b] = types[b], types[a] })
	for i := range s.Cells {
		original := -1
		if i >= len(types) {
			original = rng.IntN(s.Cells - s.NearCopies)
		}
		b, l := rng.IntN(s.Batches), s.Library*math.Exp(s.LibrarySD*rng.NormFloat64())
		if original >= 0 {
			types, b, l = append(types, types[original]), out.Batch[original], out.Library[original]
		}
		out.CopyOf, out.Batch, out.Library = append(out.CopyOf, original), append(out.Batch, b), append(out.Library, l)
	}
	out.Type = types
}

// shares are the expected shares of every gene in every type.
func (m *Simulated) shares(base []float64, fold float64, shift []float64) array.Matrix[float64] {
	out := array.New[float64](len(m.Types), len(base))
	for t := range m.Types {
		row, sum := out.Row(t), 0.0
		for j, v := range base {
			row[j] = v * math.Exp(shift[j])
		}
		for _, j := range m.Markers[t] {
			row[j] *= fold
		}
		for _, v := range row {
			sum += v
		}
		for j := range row {
			row[j] /= sum
		}
	}
	return out
}

// drawCell draws the counts of one cell into row.
func (s Simulation) drawCell(row []float32, m *Simulated, share []float64, i int, rng *rand.Rand) {
	for j, p := range share {
		x := negativeBinomial(float64(m.Library[i]*p), m.Theta[j], rng)
		if s.Dropout > 0 && rng.Float64() < s.Dropout {
			x = 0
		}
		row[j] = float32(x)
	}
}

// negativeBinomial draws a count with this mean and variance mean + mean^2/theta, by inversion:
// it takes one random number and as many steps as the count.
func negativeBinomial(mean, theta float64, rng *rand.Rand) int {
	q := mean / (mean + theta)
	logP := float64(theta * math.Log1p(-q)) // of 0
	if logP < -600 {                        // 0 is nearly too rare for a float64; the sum of two halves has the same distribution
		return negativeBinomial(mean/2, theta/2, rng) + negativeBinomial(mean/2, theta/2, rng)
	}
	u, p := rng.Float64(), math.Exp(logP)
	for k := 0; ; k++ {
		if u -= p; u < 0 || p < 1e-300 {
			return k
		}
		p *= (float64(k) + theta) / float64(k+1) * q
	}
}
