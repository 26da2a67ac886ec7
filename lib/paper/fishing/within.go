package fishing

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
)

var within = paper.Recipe{
	ID:    "fishing/within",
	Title: "Is it membership or cell type? Half of a rare type in, half out",
	Doc: "Every model of a fleet is trained on a random half of the cells in question and on all others; the other half is trained on by the " +
		"model's partner. 'within' is the AUC of the cells that a model had against those of the same type that it had not: no matched " +
		"non-members are needed, and an attacker who knows the type alone has one half. 'matched' is the same attack by the paper's protocol: " +
		"the cells that the model had against the unseen cells nearest to them. 'retrained' models never had any of the cells; what an " +
		"attack finds there is not membership. Learned attackers are logistic regressions; the columns say on how many features of a cell, and " +
		"from how many other models they learned.",
}

// Fleet is a study's fleet: models of one recipe, among which the records of a group,
// or of the whole train part, are dealt.
type Fleet struct {
	Case
	Models int
	Whole  bool
}

// FleetStudy is what the within-cluster table computes at one scale.
type FleetStudy struct {
	Scale  string
	Fleets []Fleet
}

// FleetStudyAt is the study of the scale of that name.
func FleetStudyAt(scale string) (FleetStudy, error) {
	s := FleetStudy{Scale: scale}
	switch scale {
	case "quick":
		s.Fleets = []Fleet{rareFleet(24), plantedFleet("near-copies", datacells.Twins), plantedFleet("no copies", datacells.Singles),
			plantedFleet("small batch", datacells.Batch), tabularFleet("Breast Cancer", "breast_cancer", 0, 32)}
	case "hour":
		s.Fleets = []Fleet{bloodFleet("dendritic cells", "DC", 32), tabularFleet("German Credit", "german_credit", 0, 64)}
	case "standard":
		s.Fleets = []Fleet{bloodFleet("dendritic cells", "DC", 64), bloodFleet("platelets", "Platelet", 64),
			tabularFleet("German Credit", "german_credit", 0, 64)}
	case "atlas":
		s.Fleets = []Fleet{fleetOf(atlas(), 16, Original, Retrained, Ten, RetainTuned)}
	case "paper":
		s.Fleets = []Fleet{fleetOf(blood33k(), 64, fleetArms()...), fleetOf(mouse(), 64, fleetArms()...)}
	default:
		return s, unknown(scale)
	}
	return s, nil
}

// rareFleet deals the simulated rare type. Many models have to be small: fewer genes
// and one hidden layer.
func rareFleet(models int) Fleet {
	c := simulated()
	c.Only = []string{Original, Retrained, Ten}
	c.Cells.Variable.Top, c.Fit.Epochs, c.Fit.Batch, c.LR = 200, 40, 64, 1e-3
	c.Arch = func(genes, _ int) model.Architecture { return vae.Cells{Genes: genes, Hidden: []int{32}, Latent: 6} }
	return Fleet{Case: c, Models: models}
}

// plantedFleet deals a group that the simulator planted.
func plantedFleet(label, group string) Fleet {
	f := rareFleet(16)
	f.Label, f.Class, f.Planted = "simulated, "+label, "", group
	f.Only = []string{Original}
	return f
}

// fleetArms are what is asked of fleets of real cells.
func fleetArms() []string { return []string{Original, Retrained, Ten, RetainTuned, ExtraTrue} }

// bloodFleet deals a type of PBMC-3k.
func bloodFleet(label, class string, models int) Fleet {
	return fleetOf(blood(label, class, 40), models, fleetArms()...)
}

// fleetOf deals the cells that a case is to forget. The network is ours, and small: layers of
// 128 and 64, ten latent variables, 40 epochs, where the paper's has 7.3 million weights and 100
// epochs, of which 64 would take two days on two cores with as few cells as PBMC-3k has.
func fleetOf(c Case, models int, arms ...string) Fleet {
	c.Only, c.Fit.Epochs = arms, 40
	c.Arch = func(genes, _ int) model.Architecture {
		return vae.Cells{Genes: genes, Hidden: []int{128, 64}, Latent: 10}
	}
	return Fleet{Case: c, Models: models}
}

// tabularFleet deals a whole table among classifiers, RULER's network.
func tabularFleet(label, dataSet string, rows, models int) Fleet {
	c := Case{Label: "classifier, " + label, Setting: lab.Setting{DataSet: dataSet, MaxRows: rows}, Only: []string{Original}}
	return Fleet{Case: c, Models: models, Whole: true}
}

// of is the setting of a fleet's models.
func (f Fleet) of() lab.Setting {
	if f.LR == 0 {
		return f.Setting
	}
	return f.at(0)
}

// Found is what an attack says of a fleet's models, as an arm leaves them.
type Found struct {
	Case   string `json:"case"`
	Arm    string `json:"arm"`
	Attack string `json:"attack"`
	Dealt  int    `json:"n_dealt"` // records, half of which each model had
	// Features is how many numbers of a record the attack looks at, Others how many other
	// models it compares with or learns from.
	Features int `json:"n_features"`
	Others   int `json:"n_others"`
	// Mutual says that what one model teaches about another is what that teaches about it.
	Mutual bool `json:"mutual"`
	// Within are the records that a model had against those of the same group that it
	// had not; nil where the attack cannot be asked, which Why says why.
	Within *shadow.Sweep `json:"within,omitempty"`
	Why    string        `json:"why,omitempty"`
	// Matched are, per model, those that it had against the unseen records that lie
	// nearest to them, of which there are Negatives, SameType of them of the group, on
	// average over models.
	Matched   []float64 `json:"matched,omitempty"`
	Negatives float64   `json:"n_negatives"`
	SameType  float64   `json:"n_same_type"`
}

// fleets is what the table of one scale is made of.
type fleets struct {
	FleetStudy
	env *paper.Env
	*paper.Evidence[Found]
}

func collectFleets(ctx context.Context, e *paper.Env, s FleetStudy) (*fleets, error) {
	found, err := paper.Collect(ctx, e, fleetPieces(e, s))
	return &fleets{s, e, found}, err
}

func (s *fleets) provenance() report.Provenance {
	return s.Provenance(s.env, within.ID, s.Scale, FleetResults, 1)
}

// fleetPieces are a study's fleets; the case of a fleet is its first model.
func fleetPieces(e *paper.Env, s FleetStudy) (out []paper.Piece[Found]) {
	l := e.Lab()
	for _, of := range s.Fleets {
		p := paper.Piece[Found]{
			ID: of.job(), About: of.Label, File: "found.json",
			Key:  func(first *lab.Case) store.Key { return fleetKey(l, first, of) },
			Cost: func(first *lab.Case) int64 { return int64(first.Problem.Train.X.Rows * of.Models) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]Found, error) {
				f, err := l.Fleet(ctx, of.of(), of.Models, of.Whole)
				if err != nil {
					return nil, err
				}
				return of.measure(ctx, f)
			},
		}
		for k, at := range of.of().Fleet(of.Models, of.Whole) {
			if k == 0 {
				p.Setting = at
			}
			p.Models = append(p.Models, paper.Models{Setting: at, Methods: of.methods()})
		}
		out = append(out, p)
	}
	return out
}

// fleetEvidence identifies what attacks say of a fleet in the store.
type fleetEvidence struct {
	lab.NetworkKey
	Label      string       `json:"label"`
	Goal       lab.Goal     `json:"goal"`
	Fit        train.Config `json:"fit"`
	Dealt      string       `json:"dealt"`
	Whole      bool         `json:"whole"`
	Models     int          `json:"models"`
	Arms       []armKey     `json:"arms"`
	Attacks    []string     `json:"attacks"`
	Neighbours int          `json:"neighbours"`
	Attack     int          `json:"attack"` // version
	Results    int          `json:"results"`
}

// FleetResults is the version of the numbers of the within-cluster table. 2: an attacker
// learns from a matched cell where he learns from the member that it lies beside. 3: see
// Results. 4: unseen cells are those that no method looks at. 5: attackers that learn on other
// models have all of them but the partner, as those by shadow models have; latent axes are
// aligned; an attacker knows half of a model's own cells.
const FleetResults = 5

func fleetKey(l *lab.Lab, first *lab.Case, of Fleet) store.Key {
	k := fleetEvidence{
		NetworkKey: lab.NetworkKeyOf(first.Problem.Arch), Label: of.Label, Goal: first.Goal, Fit: first.Fit, Whole: of.Whole, Models: of.Models,
		Dealt: lab.RowsKey(slices.Concat(first.Forget, first.Out)), Attacks: of.Attacks(), Neighbours: of.Neighbours,
		Attack: attack.Version, Results: FleetResults,
	}
	for _, a := range of.arms() {
		k.Arms = append(k.Arms, armKey{a.Label, lab.MethodKeyOf(a.Method)})
	}
	return l.Key("evidence/fishing-within", first.Problem, k,
		map[string]int64{"train": int64(first.Seed), "unlearn": lab.UnlearnSeed, "half": lab.HalfSeed, "split": lab.CellsSeed})
}

func (f Fleet) job() string {
	group := f.Class + f.Planted
	if f.Whole {
		group = "everything"
	}
	return fmt.Sprintf("evidence/fishing-within/%s/%s/models-%d", f.DataSet, group, f.Models)
}

// group reports whether a record is of the group that is dealt.
func (f Fleet) group(p *lab.Problem, part datasets.Part, row int) bool {
	if f.Class != "" {
		return p.About.Classes[part.Y[row]] == f.Class
	}
	return slices.Contains(p.About.Planted[f.Planted], part.IDs[row])
}

// What follows is for notebooks.

// FleetsHere are the fleets of the reader's scale.
func FleetsHere() ([]Fleet, error) {
	s, err := FleetStudyAt(paper.ScaleName())
	return s.Fleets, err
}

// Sail trains the models of a fleet under some arms, or finds them in the store, so that
// a reader does not wait for all of them at once. Without an arm it trains nothing.
func (f Fleet) Sail(ctx context.Context, arms ...string) (*lab.Fleet, error) {
	e, err := paper.Open()
	if err != nil {
		return nil, err
	}
	models, err := e.Lab().Fleet(ctx, f.of(), f.Models, f.Whole)
	if err != nil {
		return nil, err
	}
	f.Only = append([]string{}, arms...) // nil would be all
	return models, models.Ahead(ctx, f.methods()...)
}

// Caught is what every attack says of fleets.
func Caught(ctx context.Context, of ...Fleet) (Catch, error) {
	e, err := paper.Open()
	if err != nil {
		return nil, err
	}
	s, err := collectFleets(ctx, e, FleetStudy{Scale: paper.ScaleName(), Fleets: of})
	if err != nil {
		return nil, err
	}
	return s.Rows, nil
}
