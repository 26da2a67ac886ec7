package torch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/model/vision"
)

// architectures are the classifiers that Parse builds, each without a setting.
func architectures() []model.Architecture {
	var out []model.Architecture
	for _, f := range tabular.All() {
		out = append(out, f.New(0, 0))
	}
	for _, f := range vision.All() {
		out = append(out, f.New(0, 0, 0))
	}
	return out
}

// Names are the networks that Parse knows.
func Names() []string {
	var out []string
	for _, a := range architectures() {
		out = append(out, a.Name())
	}
	return out
}

// Parse builds a network from its name and its settings, "resnet-18:width=16,outputs=100":
// the words are those of its fields in JSON, and what is left out has its default. A
// word without a value is true; a list stands in brackets, "hidden=[64,32]".
func Parse(text string) (model.Architecture, error) {
	name, settings, _ := strings.Cut(text, ":")
	all := architectures()
	i := slices.IndexFunc(all, func(a model.Architecture) bool { return a.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("no network is called %q; there are %s", name, strings.Join(Names(), ", "))
	}
	fields := fieldNames(all[i])
	usage := fmt.Errorf("%s takes %s", name, strings.Join(fields, ", "))
	object := map[string]json.RawMessage{}
	for _, part := range splitSettings(settings) {
		key, value, given := strings.Cut(part, "=")
		if !given {
			value = "true"
		}
		if !slices.Contains(fields, key) {
			return nil, fmt.Errorf("%q is no setting: %w", key, usage)
		}
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("%s is set twice", key)
		}
		if !json.Valid([]byte(value)) {
			return nil, fmt.Errorf("%s=%s: no number, list or true", key, value)
		}
		object[key] = json.RawMessage(value)
	}
	arch, err := withFields(all[i], object)
	if err != nil {
		return nil, err
	}
	if err := arch.Check(); err != nil {
		return nil, fmt.Errorf("%w; %w", err, usage)
	}
	return arch, nil
}

// withFields is a network like the given one with other fields.
func withFields(like model.Architecture, fields map[string]json.RawMessage) (model.Architecture, error) {
	raw, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	out := reflect.New(reflect.TypeOf(like))
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(out.Interface()); err != nil {
		return nil, fmt.Errorf("%s: %w", like.Name(), err)
	}
	return out.Elem().Interface().(model.Architecture), nil
}

// fieldNames are the names of a network's fields in JSON. How weights begin is none of
// them: a state_dict has them.
func fieldNames(a model.Architecture) []string {
	var out []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(a)) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "init" {
			out = append(out, name)
		}
	}
	return out
}

// splitSettings cuts a text at commas outside of brackets.
func splitSettings(text string) []string {
	if text == "" {
		return nil
	}
	var out []string
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			out, from = append(out, text[from:i]), i+1
		}
	}
	return append(out, text[from:])
}
