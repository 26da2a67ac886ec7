// The table of the UDS study.

package logs

import (
	"errors"
	"fmt"
	"reflect"
)

// DepthStudy is the table of the UDS study (gnueaj/unlearning-depth-score): what 152 models of TOFU
// score under each metric.
type DepthStudy struct {
	Models       []DepthModel       `json:"models"`
	MethodCounts map[string]int     `json:"method_counts"` // unlearned models of each method
	FullUtility  map[string]float64 `json:"full_utility"`  // by epoch
}

// DepthModel is a row. Numbers are as published, all in [0, 1] up to rounding, higher for more
// forgetting or more utility.
type DepthModel struct {
	Name      string   `json:"model"`
	Epoch     string   `json:"epoch"`
	Method    string   `json:"method"`
	Alpha     *float64 `json:"alpha"`        // nil where the method has none
	Rate      *float64 `json:"lr"`           // nil for the full and the retrained model
	Reference bool     `json:"is_reference"` // the full or the retrained model, not an unlearned one

	UDS             float64 `json:"uds"`
	LogitLens       float64 `json:"logit_lens"`
	OneMinusES      float64 `json:"one_minus_es"`       // extraction strength
	OneMinusEM      float64 `json:"one_minus_em"`       // exact memorisation
	OneMinusPara    float64 `json:"one_minus_paraprob"` // probability of paraphrased answers
	OneMinusTruth   float64 `json:"one_minus_truth"`    // truth ratio, of a form that the file does not say
	SLoss           float64 `json:"s_loss"`             // bounded MIA of the loss, and so on
	SZlib           float64 `json:"s_zlib"`
	SMinK           float64 `json:"s_mink"`
	SMinKPP         float64 `json:"s_minkpp"`
	PrivacyMIA      float64 `json:"privacy_mia"`
	Privacy         float64 `json:"privacy"`
	Memorisation    float64 `json:"mem"`
	Overall         float64 `json:"overall"`
	RelativeUtility float64 `json:"utility_rel"`
	Utility         float64 `json:"utility"`
	ModelUtility    float64 `json:"model_utility"`
	Fluency         float64 `json:"fluency"`
	RetainProb      float64 `json:"retain_q_prob"`
	RetainROUGE     float64 `json:"retain_q_rouge"`
	RetainTruth     float64 `json:"retain_truth_ratio"`
	AuthorsProb     float64 `json:"ra_q_prob"`
	AuthorsROUGE    float64 `json:"ra_q_rouge"`
	AuthorsTruth    float64 `json:"ra_truth_ratio"`
	FactsProb       float64 `json:"wf_q_prob"`
	FactsROUGE      float64 `json:"wf_q_rouge"`
	FactsTruth      float64 `json:"wf_truth_ratio"`
}

// ReadDepthStudy reads the table. It refuses a model without a name or given twice, one that lacks a
// number, a number outside [-0.001, 1.001], and counts of methods that are not those of the models.
func ReadDepthStudy(path string) (*DepthStudy, error) {
	b, err := readText(path)
	if err != nil {
		return nil, err
	}
	out, err := parseDepthStudy(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// parseDepthStudy reads the JSON text of the table.
func parseDepthStudy(b []byte) (*DepthStudy, error) {
	var raw struct {
		Models       []map[string]any   `json:"models"`
		MethodCounts map[string]int     `json:"method_counts"`
		FullUtility  map[string]float64 `json:"full_utility"`
	}
	var out DepthStudy
	for _, to := range []any{&out, &raw} {
		if err := decode(b, to); err != nil {
			return nil, err
		}
	}
	if err := out.check(raw.Models); err != nil {
		return nil, err
	}
	return &out, nil
}

// check compares the table with the keys that its rows have in the file.
func (s *DepthStudy) check(rows []map[string]any) error {
	var list []error
	seen, counts := map[string]bool{}, map[string]int{}
	for i, m := range s.Models {
		if m.Name == "" || seen[m.Name] {
			list = append(list, fmt.Errorf("model %d is called %q: no name, or one given twice", i, m.Name))
		}
		seen[m.Name] = true
		if !m.Reference {
			counts[m.Method]++
		}
		for _, err := range m.check(rows[i]) {
			list = append(list, fmt.Errorf("model %q: %w", m.Name, err))
		}
	}
	if len(s.Models) == 0 {
		list = append(list, errors.New("there are no models"))
	}
	if !reflect.DeepEqual(counts, s.MethodCounts) {
		list = append(list, fmt.Errorf("method_counts is %v, and the models are %v", s.MethodCounts, counts))
	}
	return errors.Join(list...)
}

func (m DepthModel) check(row map[string]any) (list []error) {
	v := reflect.ValueOf(m)
	for k := range v.NumField() {
		key := v.Type().Field(k).Tag.Get("json")
		given, ok := row[key]
		if !ok || given == nil && v.Field(k).Kind() != reflect.Pointer {
			list = append(list, fmt.Errorf("%s is missing", key))
		}
		if f := v.Field(k); f.Kind() == reflect.Float64 && !(f.Float() >= -0.001 && f.Float() <= 1.001) {
			list = append(list, fmt.Errorf("%s is %v, want 0 to 1", key, f.Float()))
		}
	}
	return list
}
