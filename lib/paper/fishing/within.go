package fishing

// The within-cluster study: shadow models with half of a type each.

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	datacells "github.com/lethe-ml/lethe/datasets/cells"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/train"
)

var within = paper.Recipe{
	ID:    "fishing/within",
	Title: "Is it membership or cell type? Half of a rare type in, half out",
	Doc: "Every model is trained on a random half of the cells in question and on all others; the other half is trained on by the " +
		"model's partner. 'within' is the AUC of the cells that a model had against those of the same type that it had not: no matched " +
		"non-members are needed, and an attacker who knows the type alone has one half. 'matched' is the same attack by the paper's protocol: " +
		"the cells that the model had against the unseen cells nearest to them. 'retrained' models never had any of the cells; what an " +
		"attack finds there is not membership. Learned attackers are logistic regressions; the columns say on how many features of a cell, and " +
		"from how many other models they learned.",
}

// ShadowModels is a set of shadow models of one recipe: the records of a group, or of the whole
// train part, are assigned to random halves of them.
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

// ShadowStudyAt returns the study of a scale.
func ShadowStudyAt(scale string) (ShadowStudy, error) {
	s := ShadowStudy{Scale: scale}
	switch scale {
	case "quick":
		s.Groups = []ShadowModels{
			rareTypeModels(24), plantedGroupModels("near-copies", datacells.NearCopies), plantedGroupModels("no copies", datacells.Singles),
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

// rareTypeModels assigns the simulated rare type. The network is small, because many are
// trained: fewer genes and one hidden layer.
func rareTypeModels(models int) ShadowModels {
	c := simulated()
	c.Only = []string{Original, Retrained, Ten}
	c.genes(200)
	c.Fit.Epochs, c.Fit.Batch, c.LR = 40, 64, 1e-3
	c.Model = vae.Cells{Hidden: []int{32}, Latent: 6}
	return ShadowModels{Case: c, Models: models}
}

// plantedGroupModels assigns a group that the simulator planted.
func plantedGroupModels(label, group string) ShadowModels {
	f := rareTypeModels(16)
	f.Label, f.Forget = "simulated, "+label, lab.Planted(group)
	f.Only = []string{Original}
	return f
}

// shadowVariants are the variants of shadow models on real cells.
func shadowVariants() []string { return []string{Original, Retrained, Ten, RetainTuned, ExtraTrue} }

// pbmc3kModels assigns a type of PBMC-3k.
func pbmc3kModels(label, class string, models int) ShadowModels {
	return caseModels(pbmc3k(label, class, 40), models, shadowVariants()...)
}

// caseModels assigns the cells that a case forgets. The network is smaller than the paper's,
// because many are trained: layers of 128 and 64, ten latent variables, 40 epochs, instead of
// 7.3 million weights and 100 epochs.
func caseModels(c Case, models int, variants ...string) ShadowModels {
	c.Only, c.Fit.Epochs = variants, 40
	c.Model = vae.Cells{Hidden: []int{128, 64}, Latent: 10}
	return ShadowModels{Case: c, Models: models}
}

// tabularModels assigns a whole table; the models are classifiers with RULER's network.
func tabularModels(label, dataSet string, rows, models int) ShadowModels {
	c := Case{Label: "classifier, " + label, Setting: lab.Setting{Data: lab.Table{Set: dataSet, MaxRows: rows}}, Only: []string{Original}}
	return ShadowModels{Case: c, Models: models, Whole: true}
}

// baseSetting is the setting of the models.
func (f ShadowModels) baseSetting() lab.Setting {
	if f.LR == 0 {
		return f.Setting
	}
	return f.setting(0)
}

// AttackResult is the result of an attack on the shadow models of one variant.
type AttackResult struct {
	Case     string `json:"case"`
	Variant  string `json:"arm"`
	Attack   string `json:"attack"`
	Assigned int    `json:"n_dealt"` // number of assigned records; each model has half of them
	// Features is the number of values of a record that the attack uses, Others the number of
	// other models it compares with or learns from.
	Features int `json:"n_features"`
	Others   int `json:"n_others"`
	// Mutual says that models teach one another, so that their results depend on each other.
	Mutual bool `json:"mutual"`
	// Within compares the records that a model had with those of the same group that it had not;
	// nil if the attack is not possible, with the reason in Why.
	Within *shadow.Report `json:"within,omitempty"`
	Why    string         `json:"why,omitempty"`
	// Matched are AUCs, one per model, of the records that it had against the nearest unseen
	// records. Negatives is the mean number of these, SameType the number of the group among
	// them.
	Matched   []float64 `json:"matched,omitempty"`
	Negatives float64   `json:"n_negatives"`
	SameType  float64   `json:"n_same_type"`
}

// shadowEvidence is the data behind the table of one scale.
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

// shadowMeasurements are a study's shadow models; the case of a measurement is the first model.
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
			p.Others = append(p.Others, paper.Models{Setting: at, Methods: of.methods()})
		}
		out = append(out, p)
	}
	return out
}

// shadowKey is the configuration of the results in the store.
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

// ShadowResults is the version of the numbers of the within-cluster table. 2: an attacker learns
// from a matched cell in the same folds as from its nearest member. 3: see Results. 4: unseen
// cells are those that no method uses. 5: attackers that learn on other models have all except
// the partner, like those by shadow models; latent axes are aligned; an attacker knows half of a
// model's own cells.
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
	group := "everything"
	if planted, is := f.Forget.(lab.Planted); is {
		group = string(planted)
	} else if !f.Whole {
		group = forgottenClass(f.Setting)
	}
	return fmt.Sprintf("evidence/fishing-within/%s/%s/models-%d", f.DataSet(), group, f.Models)
}

// inGroup reports whether a record is of the assigned group.
func (f ShadowModels) inGroup(p *lab.Problem, part datasets.Part, row int) bool {
	if class := forgottenClass(f.Setting); class != "" {
		return p.About.Classes[part.Y[row]] == class
	}
	planted, _ := f.Forget.(lab.Planted)
	return slices.Contains(p.About.Planted[string(planted)], part.IDs[row])
}

// For notebooks.

// ShadowModelsAtScale are the shadow models of the scale that LETHE_SCALE names.
func ShadowModelsAtScale() ([]ShadowModels, error) {
	s, err := ShadowStudyAt(paper.ScaleName())
	return s.Groups, err
}

// Train trains the shadow models of some variants, or finds them in the store, so that a
// notebook can show progress. Without variants it trains nothing.
func (f ShadowModels) Train(ctx context.Context, variants ...string) (*lab.ShadowModels, error) {
	e, err := paper.Open()
	if err != nil {
		return nil, err
	}
	models, err := e.Lab().ShadowModels(ctx, f.baseSetting(), f.Models, f.Whole)
	if err != nil {
		return nil, err
	}
	f.Only = append([]string{}, variants...) // nil would mean all
	return models, models.Precompute(ctx, f.methods()...)
}

// RunAttacks runs every attack on sets of shadow models.
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
