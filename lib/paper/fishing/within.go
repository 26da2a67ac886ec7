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

// ShadowModels is a study's fleet: models of one recipe, among which the records of a group,
// or of the whole train part, are dealt.
type ShadowModels struct {
	Case
	Models int
	Whole  bool
}

// ShadowStudy is what the within-cluster table computes at one scale.
type ShadowStudy struct {
	Scale  string
	Groups []ShadowModels
}

// ShadowStudyAt is the study of the scale of that name.
func ShadowStudyAt(scale string) (ShadowStudy, error) {
	s := ShadowStudy{Scale: scale}
	switch scale {
	case "quick":
		s.Groups = []ShadowModels{rareTypeModels(24), plantedGroupModels("near-copies", datacells.Twins), plantedGroupModels("no copies", datacells.Singles),
			plantedGroupModels("small batch", datacells.Batch), tabularModels("Breast Cancer", "breast_cancer", 0, 32)}
	case "hour":
		s.Groups = []ShadowModels{pbmc3kModels("dendritic cells", "DC", 32), tabularModels("German Credit", "german_credit", 0, 64)}
	case "standard":
		s.Groups = []ShadowModels{pbmc3kModels("dendritic cells", "DC", 64), pbmc3kModels("platelets", "Platelet", 64),
			tabularModels("German Credit", "german_credit", 0, 64)}
	case "atlas":
		s.Groups = []ShadowModels{caseModels(atlas(), 16, Original, Retrained, Ten, RetainTuned)}
	case "paper":
		s.Groups = []ShadowModels{caseModels(pbmc33k(), 64, shadowVariants()...), caseModels(tabulaMuris(), 64, shadowVariants()...)}
	default:
		return s, unknownScale(scale)
	}
	return s, nil
}

// rareTypeModels deals the simulated rare type. Many models have to be small: fewer genes
// and one hidden layer.
func rareTypeModels(models int) ShadowModels {
	c := simulated()
	c.Only = []string{Original, Retrained, Ten}
	c.Cells.Variable.Top, c.Fit.Epochs, c.Fit.Batch, c.LR = 200, 40, 64, 1e-3
	c.Arch = func(genes, _ int) model.Architecture { return vae.Cells{Genes: genes, Hidden: []int{32}, Latent: 6} }
	return ShadowModels{Case: c, Models: models}
}

// plantedGroupModels deals a group that the simulator planted.
func plantedGroupModels(label, group string) ShadowModels {
	f := rareTypeModels(16)
	f.Label, f.Class, f.Planted = "simulated, "+label, "", group
	f.Only = []string{Original}
	return f
}

// shadowVariants are what is asked of fleets of real cells.
func shadowVariants() []string { return []string{Original, Retrained, Ten, RetainTuned, ExtraTrue} }

// pbmc3kModels deals a type of PBMC-3k.
func pbmc3kModels(label, class string, models int) ShadowModels {
	return caseModels(pbmc3k(label, class, 40), models, shadowVariants()...)
}

// caseModels deals the cells that a case is to forget. The network is ours, and small: layers of
// 128 and 64, ten latent variables, 40 epochs, where the paper's has 7.3 million weights and 100
// epochs, of which 64 would take two days on two cores with as few cells as PBMC-3k has.
func caseModels(c Case, models int, variants ...string) ShadowModels {
	c.Only, c.Fit.Epochs = variants, 40
	c.Arch = func(genes, _ int) model.Architecture {
		return vae.Cells{Genes: genes, Hidden: []int{128, 64}, Latent: 10}
	}
	return ShadowModels{Case: c, Models: models}
}

// tabularModels deals a whole table among classifiers, RULER's network.
func tabularModels(label, dataSet string, rows, models int) ShadowModels {
	c := Case{Label: "classifier, " + label, Setting: lab.Setting{DataSet: dataSet, MaxRows: rows}, Only: []string{Original}}
	return ShadowModels{Case: c, Models: models, Whole: true}
}

// spec is the setting of a fleet's models.
func (f ShadowModels) baseSetting() lab.Setting {
	if f.LR == 0 {
		return f.Setting
	}
	return f.setting(0)
}

// AttackResult is what an attack says of a fleet's models, as an arm leaves them.
type AttackResult struct {
	Case     string `json:"case"`
	Variant  string `json:"arm"`
	Attack   string `json:"attack"`
	Assigned int    `json:"n_dealt"` // records, half of which each model had
	// Features is how many numbers of a record the attack looks at, Others how many other
	// models it compares with or learns from.
	Features int `json:"n_features"`
	Others   int `json:"n_others"`
	// Mutual says that what one model teaches about another is what that teaches about it.
	Mutual bool `json:"mutual"`
	// Within are the records that a model had against those of the same group that it
	// had not; nil where the attack cannot be asked, which Why says why.
	Within *shadow.Report `json:"within,omitempty"`
	Why    string         `json:"why,omitempty"`
	// Matched are, per model, those that it had against the unseen records that lie
	// nearest to them, of which there are Negatives, SameType of them of the group, on
	// average over models.
	Matched   []float64 `json:"matched,omitempty"`
	Negatives float64   `json:"n_negatives"`
	SameType  float64   `json:"n_same_type"`
}

// shadowEvidence is what the table of one scale is made of.
type shadowEvidence struct {
	ShadowStudy
	env *paper.Env
	*paper.Evidence[AttackResult]
}

func collectShadow(ctx context.Context, e *paper.Env, s ShadowStudy) (*shadowEvidence, error) {
	found, err := paper.Collect(ctx, e, shadowMeasurements(e, s))
	return &shadowEvidence{s, e, found}, err
}

func (s *shadowEvidence) provenance() report.Provenance {
	return s.Provenance(s.env, within.ID, s.Scale, ShadowResults, 1)
}

// shadowMeasurements are a study's fleets; the case of a fleet is its first model.
func shadowMeasurements(e *paper.Env, s ShadowStudy) (out []paper.Measurement[AttackResult]) {
	l := e.Lab()
	for _, of := range s.Groups {
		p := paper.Measurement[AttackResult]{
			ID: of.job(), About: of.Label, File: "found.json",
			Key:  func(first *lab.Case) store.Key { return shadowStoreKey(l, first, of) },
			Cost: func(first *lab.Case) int64 { return int64(first.Problem.Train.X.Rows * of.Models) },
			Measure: func(ctx context.Context, _ *lab.Case) ([]AttackResult, error) {
				f, err := l.ShadowModels(ctx, of.baseSetting(), of.Models, of.Whole)
				if err != nil {
					return nil, err
				}
				return of.measure(ctx, f)
			},
		}
		for k, at := range of.baseSetting().ShadowSettings(of.Models, of.Whole) {
			if k == 0 {
				p.Setting = at
			}
			p.Models = append(p.Models, paper.Models{Setting: at, Methods: of.methods()})
		}
		out = append(out, p)
	}
	return out
}

// shadowKey identifies what attacks say of a fleet in the store.
type shadowKey struct {
	lab.NetworkKey
	Label      string       `json:"label"`
	Goal       lab.Goal     `json:"goal"`
	Fit        train.Config `json:"fit"`
	Assigned   string       `json:"dealt"`
	Whole      bool         `json:"whole"`
	Models     int          `json:"models"`
	Variants   []variantKey `json:"arms"`
	Attacks    []string     `json:"attacks"`
	Neighbours int          `json:"neighbours"`
	Attack     int          `json:"attack"` // version
	Results    int          `json:"results"`
}

// ShadowResults is the version of the numbers of the within-cluster table. 2: an attacker
// learns from a matched cell where he learns from the member that it lies beside. 3: see
// Results. 4: unseen cells are those that no method looks at. 5: attackers that learn on other
// models have all of them but the partner, as those by shadow models have; latent axes are
// aligned; an attacker knows half of a model's own cells.
const ShadowResults = 5

func shadowStoreKey(l *lab.Lab, first *lab.Case, of ShadowModels) store.Key {
	k := shadowKey{
		NetworkKey: lab.NetworkKeyOf(first.Problem.Arch), Label: of.Label, Goal: first.Goal, Fit: first.Fit, Whole: of.Whole, Models: of.Models,
		Assigned: lab.RowsKey(slices.Concat(first.Forget, first.Out)), Attacks: of.Attacks(), Neighbours: of.Neighbours,
		Attack: attack.Version, Results: ShadowResults,
	}
	for _, a := range of.variants() {
		k.Variants = append(k.Variants, variantKey{a.Label, lab.MethodKeyOf(a.Method)})
	}
	return l.Key("evidence/fishing-within", first.Problem, k,
		map[string]int64{"train": int64(first.Seed), "unlearn": lab.UnlearnSeed, "half": lab.ShadowSplitSeed, "split": lab.CellsSeed})
}

func (f ShadowModels) job() string {
	group := f.Class + f.Planted
	if f.Whole {
		group = "everything"
	}
	return fmt.Sprintf("evidence/fishing-within/%s/%s/models-%d", f.DataSet, group, f.Models)
}

// inGroup reports whether a record is of the group that is dealt.
func (f ShadowModels) inGroup(p *lab.Problem, part datasets.Part, row int) bool {
	if f.Class != "" {
		return p.About.Classes[part.Y[row]] == f.Class
	}
	return slices.Contains(p.About.Planted[f.Planted], part.IDs[row])
}

// What follows is for notebooks.

// ShadowModelsAtScale are the fleets of the reader's scale.
func ShadowModelsAtScale() ([]ShadowModels, error) {
	s, err := ShadowStudyAt(paper.ScaleName())
	return s.Groups, err
}

// Train trains the models of a fleet under some arms, or finds them in the store, so that
// a reader does not wait for all of them at once. Without an arm it trains nothing.
func (f ShadowModels) Train(ctx context.Context, variants ...string) (*lab.ShadowModels, error) {
	e, err := paper.Open()
	if err != nil {
		return nil, err
	}
	models, err := e.Lab().ShadowModels(ctx, f.baseSetting(), f.Models, f.Whole)
	if err != nil {
		return nil, err
	}
	f.Only = append([]string{}, variants...) // nil would be all
	return models, models.Precompute(ctx, f.methods()...)
}

// RunAttacks is what every attack says of fleets.
func RunAttacks(ctx context.Context, of ...ShadowModels) (AttackResults, error) {
	e, err := paper.Open()
	if err != nil {
		return nil, err
	}
	s, err := collectShadow(ctx, e, ShadowStudy{Scale: paper.ScaleName(), Groups: of})
	if err != nil {
		return nil, err
	}
	return s.Rows, nil
}
