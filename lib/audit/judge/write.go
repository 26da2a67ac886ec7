// Writing a report as HTML, Markdown and JSON, with the fields of the JSON form.

package judge

import (
	"encoding/json"
	"io"
	"runtime/debug"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Version is the version of this package's numbers and answers: it is raised when there are others. 3: answers take
// the lenses together. 4: doubts about the order of arrays, classes that tell sets apart, single records beside several retrained models.
const Version = 4

// module is the module path of this package.
const module = "github.com/lethe-ml/lethe"

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module && m.Version != "" {
			return m.Version
		}
	}
	return "(devel)"
}

// Write writes report.html, report.md and, last, report.json into a folder, which it creates. Each
// file is complete or absent. If writing is interrupted, the files may be of two reports;
// report.json is of the last report that was written completely.
func (r *Report) Write(folder string) error {
	page, err := r.Page()
	if err != nil {
		return err
	}
	return page.WriteFiles(folder, r.JSON)
}

// The JSON form: every number that may be unknown is a pointer.
type (
	jsonReport struct {
		Question    string            `json:"question"`
		Answers     []string          `json:"answers"`
		Headlines   []Headline        `json:"headlines"`
		Records     int               `json:"records"`
		Sets        map[audit.Set]int `json:"sets"`
		Groups      *jsonGroups       `json:"groups,omitempty"` // where records are in groups
		ByInputs    jsonInputs        `json:"inputs"`           // what they say without any model
		Models      []jsonModel       `json:"models"`
		Verdicts    []jsonVerdict     `json:"verdicts"`
		Costs       []jsonCost        `json:"costs,omitempty"`
		Quantised   []jsonQuantised   `json:"quantised,omitempty"`
		Skipped     []jsonSkipped     `json:"not_judged"`
		Exposed     []jsonExposure    `json:"exposures"`
		StandOut    []string          `json:"stand_out"`
		Trajectory  *jsonTrajectory   `json:"trajectory,omitempty"` // where there are checkpoints
		Published   []publishedNumber `json:"published,omitempty"`  // of language models: as published, not a verdict
		Notes       []string          `json:"notes"`
		Suggestions []string          `json:"would_settle"`
		Files       []File            `json:"files"`
		Inputs      string            `json:"inputs_sha256"` // of the list of files; see VerifyReport
		Lethe       string            `json:"lethe"`
		Version     int               `json:"results_version"`
		Seed        uint64            `json:"seed"`
	}
	jsonModel struct {
		Name   string `json:"name"`
		Role   Role   `json:"role"`
		Arrays string `json:"arrays"`
	}
	jsonVerdict struct {
		Lens         string        `json:"judgement"`
		Layer        string        `json:"layer,omitempty"`
		Model        string        `json:"model"`
		Call         audit.Call    `json:"verdict"`
		Text         string        `json:"says"`
		Reading      jsonReading   `json:"reading"`
		Original     *jsonReading  `json:"original"`
		Retrained    []jsonReading `json:"retrained"`
		Against      *jsonReading  `json:"reference_reading"` // of a model that never had the records; null: there is none
		Reference    Reference     `json:"reference"`
		Smallest     *float64      `json:"smallest_seen"`
		SmallestFrom string        `json:"smallest_seen_from,omitempty"`
		Why          string        `json:"why,omitempty"`  // of a verdict that the number is no evidence
		Weak         bool          `json:"weak,omitempty"` // does not stand where all lenses are taken together
	}
	jsonReading struct {
		Model string   `json:"model"`
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
		Level float64  `json:"level"`
		Over  string   `json:"over"`
		Null  *float64 `json:"null"`
		N     int      `json:"n"`
		// Clustered is there where the interval is over groups; n then is their number.
		Clustered *stats.Clustered `json:"clustered,omitempty"`

		Memory string   `json:"memory"`
		Chance *float64 `json:"chance_p95"`
		Mean   *float64 `json:"chance_mean"`
	}
	jsonTrajectory struct {
		Sentences []string      `json:"says"`
		Steps     []string      `json:"steps"`
		Curves    []jsonCurve   `json:"courses"`
		Skipped   []jsonSkipped `json:"not_followed"`
	}
	jsonCurve struct {
		Quantity  string        `json:"quantity"`
		Lens      string        `json:"judgement"`
		Cost      bool          `json:"cost"`
		Steps     []*jsonStep   `json:"steps"` // null where the model lacks the arrays
		Retrained []jsonReading `json:"retrained"`
	}
	jsonStep struct {
		Call    audit.Call  `json:"verdict,omitempty"` // none where the quantity is cost
		Reading jsonReading `json:"reading"`
	}
	jsonSkipped struct {
		Lens  string `json:"judgement"`
		Layer string `json:"layer,omitempty"`
		Why   string `json:"why"`
	}
)

// JSON writes the report with its fields in a fixed order; unknown values are null.
func (r *Report) JSON(w io.Writer) error {
	e := r.Evidence
	out := jsonReport{
		Question: e.question(), Answers: r.Answers(), Records: e.Records,
		Sets:   map[audit.Set]int{Forget: len(e.Forget), Retain: len(e.Retain), HeldOut: len(e.HeldOut)},
		Groups: e.jsonGroups(), ByInputs: r.Inputs.json(e),
		Verdicts: []jsonVerdict{}, Skipped: []jsonSkipped{}, Notes: r.warnings(), Suggestions: append([]string{}, r.Suggestions()...),
		Files: e.Files, Inputs: inputsHash(e.Files), Lethe: version(), Version: Version, Seed: e.Seed,
	}
	for _, m := range e.ModelsOf(Unlearned) {
		out.Headlines = append(out.Headlines, r.Headline(m.Name))
	}
	for _, m := range e.Models {
		out.Models = append(out.Models, jsonModel{m.Name, m.Role, arraysText(m)})
	}
	for _, v := range r.Verdicts {
		j := jsonVerdict{
			Lens: v.Lens.Name(), Layer: v.Layer, Model: v.Reading.Model, Call: v.Call, Text: v.Text(), Reading: toJSON(v.Reading),
			Retrained: []jsonReading{}, Reference: v.Reference, Smallest: report.FiniteOrNil(v.Smallest), SmallestFrom: v.SmallestFrom,
			Why: v.Why, Weak: v.Weak,
		}
		if v.Original != nil {
			o := toJSON(*v.Original)
			j.Original = &o
		}
		for _, x := range v.Retrained {
			j.Retrained = append(j.Retrained, toJSON(x))
		}
		if ref := v.shownReference(); ref != nil {
			against := toJSON(*ref)
			j.Against = &against
		}
		out.Verdicts = append(out.Verdicts, j)
	}
	for _, u := range r.Skipped {
		out.Skipped = append(out.Skipped, jsonSkipped{u.Lens.Name(), u.Layer, u.Why})
	}
	out.Costs = r.jsonCosts()
	out.Quantised = r.jsonQuantised()
	out.Exposed, out.StandOut = []jsonExposure{}, []string{}
	for _, x := range r.Exposures {
		out.Exposed = append(out.Exposed, x.json())
	}
	for _, m := range e.ModelsOf(Unlearned) {
		out.StandOut = append(out.StandOut, r.StandOut(m.Name)...)
	}
	out.Trajectory = r.Trajectory.json()
	out.Published = e.publishedNumbers()
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// json returns nil for a nil trajectory.
func (t *Trajectory) json() *jsonTrajectory {
	if t == nil {
		return nil
	}
	out := &jsonTrajectory{Sentences: append([]string{}, t.Sentences()...), Steps: []string{}, Curves: []jsonCurve{}, Skipped: []jsonSkipped{}}
	for _, m := range t.Steps {
		out.Steps = append(out.Steps, m.Name)
	}
	for _, c := range t.Curves {
		j := jsonCurve{Quantity: c.Label(), Lens: c.Name(), Cost: c.Cost, Retrained: []jsonReading{}}
		for _, v := range c.Steps {
			var step *jsonStep
			if v != nil {
				step = &jsonStep{Reading: toJSON(v.Reading)}
			}
			if v != nil && !c.Cost {
				step.Call = v.Call
			}
			j.Steps = append(j.Steps, step)
		}
		for _, x := range c.Retrained {
			j.Retrained = append(j.Retrained, toJSON(x))
		}
		out.Curves = append(out.Curves, j)
	}
	for _, u := range t.Skipped {
		out.Skipped = append(out.Skipped, jsonSkipped{u.Lens.Name(), u.Layer, u.Why})
	}
	return out
}

func toJSON(r audit.Reading) jsonReading {
	e := stats.Estimate(r.Estimate)
	return jsonReading{
		Model: r.Model, Value: report.FiniteOrNil(e.Value), Low: report.FiniteOrNil(e.Low), High: report.FiniteOrNil(e.High),
		Level: e.Level, Over: e.Over, Null: e.Null, N: e.N, Clustered: e.Clustered,
		Memory: map[audit.Side]string{audit.Above: "above", audit.Below: "below"}[r.Memory],
		Chance: report.FiniteOrNil(r.Floor.P95), Mean: report.FiniteOrNil(r.Floor.Mean),
	}
}
