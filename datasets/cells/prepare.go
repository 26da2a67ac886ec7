// Preparation of cells for training: filtering, genes, classes, split.

package cells

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/defaults"
)

// Unlabelled is the class name of the cells without a published class. It follows the published
// ones.
const Unlabelled = "no label"

// Preparation says how a set of cells becomes training data. The zero value is what the program of
// "Fishing for Privacy" did to PBMC-33k: its Choice of cells and genes, the genes chosen on all
// cells including the held-out ones, and 85 % of the cells for training.
type Preparation struct {
	cells.Choice
	// TrainFraction of the cells, by numpy's legacy shuffle, rounded down.
	TrainFraction float64 `json:"train_fraction,omitempty" default:"0.85"`
	// Clusters uses Leiden's clusters as classes instead of the published types, as
	// the paper does. See Smallest.
	Clusters bool `json:"clusters,omitempty"`
	// Scaled scales every gene to mean 0 and standard deviation 1 over all cells,
	// clipped at 10, as the program did to Tabula Muris. Then X is not an expression,
	// and its sums are not library sizes.
	Scaled bool `json:"scaled,omitempty"`
	// GroupBy is a column of Obs, such as a donor, whose cells are all in one part, as datasets.GroupedSplit draws them. A
	// cell without a value is a group of its own. "": the split is by cells, as the program's.
	GroupBy string `json:"group_by,omitempty"`
	// Types appends the one-hot class of every cell to its genes, for a conditional
	// network.
	Types bool `json:"types,omitempty"`
}

// Smallest and SecondSmallest are the class names of the two smallest clusters if classes
// are clusters. The others are "cluster 0" (the largest), "cluster 1" and so on. The
// smallest have names of their own because their numbers depend on the number of clusters.
const (
	Smallest       = "smallest cluster"
	SecondSmallest = "second smallest cluster"
)

func (p Preparation) check() error {
	if !(p.TrainFraction > 0 && p.TrainFraction < 1) {
		return fmt.Errorf("the fraction for training is %v, want one between 0 and 1", p.TrainFraction)
	}
	return nil
}

// Prepared filters and normalises the cells, chooses their variable genes and splits them: the
// kept cells are shuffled by RandomState(seed), as in the published program, and the first
// TrainFraction of them, in ascending order, are the train part. X is the expression, ln(1 + count
// per 10,000 of the cell), of every chosen gene, in the order of the set; the features are named
// after the genes. With Types the one-hot classes follow. If classes are clusters, Leiden's
// algorithm uses the same seed. IDs are the numbers of the cells in the set, and the column
// datasets.Library holds their total counts, from which counts can be recovered.
//
// The cells of keep, by their rows in the set, are in the train part, whoever else is; a cell that
// the filter leaves out is an error. With GroupBy they bring all cells of their groups.
func (c *Cells) Prepared(p Preparation, seed uint32, keep ...int) (*datasets.Prepared, error) {
	out, err := c.prepared(defaults.Fill(p), seed, keep)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", c.Name, err)
	}
	return out, nil
}

func (c *Cells) prepared(p Preparation, seed uint32, keep []int) (*datasets.Prepared, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	// selection holds the kept cells and genes, X, and the classes of the cells.
	chosen, err := p.choose(c, seed)
	if err != nil {
		return nil, err
	}
	kept := chosen.Cells
	about := c.About
	about.Classes, about.Features = chosen.classes, nil
	for _, j := range chosen.Genes {
		about.Features = append(about.Features, datasets.Feature{Name: c.Genes[j]})
	}
	if p.Types {
		chosen.x = chosen.withOneHotTypes()
		for _, name := range about.Classes {
			about.Features = append(about.Features, datasets.Feature{Name: "class " + name})
		}
	}
	all := datasets.Part{X: chosen.x, IDs: kept, Y: chosen.y}
	all.Extra = map[string][]float64{datasets.Library: chosen.Library}
	about.GroupColumn = p.GroupBy
	split, groups, err := p.divide(c, kept, seed, keep)
	if err != nil {
		return nil, err
	}
	drawn := ranks(split.Train)
	slices.Sort(split.Train)
	slices.Sort(split.Unseen)
	hash, err := c.preparedHash(p, seed, keep)
	out := &datasets.Prepared{About: about, Train: all.Gather(split.Train), Test: all.Gather(split.Unseen), Hash: hash, DrawOrder: drawn}
	for _, at := range split.Unseen {
		if groups != nil {
			out.TestGroups = append(out.TestGroups, groups[at])
		}
	}
	return out, err
}

// divide returns the parts of the kept cells, by their places among them, with those of keep and the cells of
// their groups in the train part. groups has a number for each kept cell; nil without GroupBy.
func (p Preparation) divide(c *Cells, kept []int, seed uint32, keep []int) (split cells.Split, groups []int, err error) {
	if p.GroupBy == "" {
		if split, err = cells.Divide(len(kept), p.TrainFraction, seed); err != nil {
			return split, nil, err
		}
		return split, nil, moveToTrain(&split, kept, keep)
	}
	values, is := c.Obs[p.GroupBy]
	if !is {
		return split, nil, datasets.UnknownColumn(p.GroupBy, slices.Sorted(maps.Keys(c.Obs)))
	}
	groups = datasets.NumberGroups(len(kept), func(at int) (string, bool) { return values[kept[at]], values[kept[at]] != "" })
	unseen := len(kept) - int(p.TrainFraction*float64(len(kept)))
	drawn, err := datasets.GroupedSplit(make([]int, len(kept)), groups, float64(unseen)/float64(len(kept)), seed)
	if err != nil {
		return split, nil, fmt.Errorf("by %s: %w", p.GroupBy, err)
	}
	split = cells.Split{Train: drawn.Train, Unseen: drawn.Test}
	together := make([]int, 0, len(keep))
	for _, id := range keep {
		if at, is := slices.BinarySearch(kept, id); is { // moveToTrain refuses the others
			together = append(together, at)
		}
	}
	for _, at := range datasets.WithGroups(together, groups)[len(together):] {
		keep = append(keep[:len(keep):len(keep)], kept[at])
	}
	return split, groups, moveToTrain(&split, kept, keep)
}

// moveToTrain moves held-out cells into the train part, after those that are there. ids are the cells of
// the split, ascending.
func moveToTrain(split *cells.Split, ids, keep []int) error {
	for _, id := range keep {
		at, is := slices.BinarySearch(ids, id)
		if !is {
			return fmt.Errorf("cell %d is not one of those that are kept", id)
		}
		if k := slices.Index(split.Unseen, at); k >= 0 {
			split.Unseen, split.Train = slices.Delete(split.Unseen, k, k+1), append(split.Train, at)
		}
	}
	if len(split.Unseen) == 0 {
		return errors.New("no cell is held out")
	}
	return nil
}

// ranks returns the ranks of distinct numbers, counted from 0.
func ranks(list []int) []int {
	sorted, out := slices.Sorted(slices.Values(list)), make([]int, len(list))
	for i, v := range list {
		out[i], _ = slices.BinarySearch(sorted, v)
	}
	return out
}

// selection are the cells and genes that are kept, X and the classes of the cells.
type selection struct {
	*cells.Chosen
	x       array.Matrix[float32]
	classes []string
	y       []int
}

func (p Preparation) choose(c *Cells, seed uint32) (*selection, error) {
	options := defaults.Fill(cells.Options{Choice: p.Choice, Scaled: p.Scaled})
	if p.Clusters {
		all, err := options.Prepare(c.Counts, c.Genes, rand.New(rand.NewPCG(uint64(seed), 0)))
		if err != nil {
			return nil, err
		}
		out := &selection{Chosen: &all.Chosen, x: all.Scaled, classes: clusterNames(slices.Max(all.Groups) + 1), y: all.Groups}
		if !p.Scaled {
			out.x = all.Logged.Dense()
		}
		return out, nil
	}
	kept, err := p.Choose(c.Counts, c.Genes)
	if err != nil {
		return nil, err
	}
	out := &selection{Chosen: kept, classes: append(slices.Clone(c.Classes), Unlabelled)}
	for _, id := range kept.Cells {
		y := c.Y[id]
		if y < 0 {
			y = len(c.Classes)
		}
		out.y = append(out.y, y)
	}
	if !p.Scaled {
		out.x = kept.Logged.Dense()
		return out, nil
	}
	out.x, err = cells.Scale(kept.Logged, options.Limit)
	return out, err
}

// withOneHotTypes returns X with the one-hot class of every cell appended.
func (c *selection) withOneHotTypes() array.Matrix[float32] {
	out := array.New[float32](c.x.Rows, c.x.Cols+len(c.classes))
	for i := range out.Rows {
		copy(out.Row(i), c.x.Row(i))
		out.Row(i)[c.x.Cols+c.y[i]] = 1
	}
	return out
}

// clusterNames returns the names of n clusters, by size.
func clusterNames(n int) []string {
	out := make([]string, n)
	for k := range out {
		out[k] = fmt.Sprintf("cluster %d", k)
	}
	if n > 2 {
		out[n-2] = SecondSmallest
	}
	out[n-1] = Smallest
	return out
}

// preparedHash identifies the prepared data, which follow from the set, the preparation, the seed and
// the cells that are kept in the train part.
func (c *Cells) preparedHash(p Preparation, seed uint32, keep []int) (string, error) {
	how, err := json.Marshal(p)
	h := sha256.New()
	h.Write([]byte(c.Hash))
	h.Write(how)
	h.Write(binary.LittleEndian.AppendUint32(nil, seed))
	for _, id := range keep {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(id)))
	}
	return hex.EncodeToString(h.Sum(nil)), err
}
