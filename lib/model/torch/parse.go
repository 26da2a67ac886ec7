// Building a network from a text such as "resnet-18:width=16".

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
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/model/vision"
)

// architectures returns the classifiers that Parse builds, without settings.
func architectures() []model.Architecture {
	var out []model.Architecture
	for _, f := range tabular.All() {
		out = append(out, f.New(0, 0))
	}
	for _, f := range vision.All() {
		out = append(out, f.New(0, 0, 0))
	}
	for _, f := range text.Classifiers() {
		out = append(out, f.New(0, 0, 0))
	}
	return out
}

// Names returns the names of the networks that Parse knows.
func Names() []string {
	var out []string
	for _, a := range architectures() {
		out = append(out, a.Name())
	}
	return out
}

// Parse builds a network from its name and settings, such as
// "resnet-18:width=16,outputs=100". The settings are the JSON names of the network's
// fields; those left out have their defaults. A setting without a value is true; a list is
// in brackets, "hidden=[64,32]".
func Parse(text string) (model.Architecture, error) {
	name, settings, _ := strings.Cut(text, ":")
	all := architectures()
	i := slices.IndexFunc(all, func(a model.Architecture) bool { return a.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no network %q; there are %s", name, strings.Join(Names(), ", "))
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
			return nil, fmt.Errorf("%q is not a setting: %w", key, usage)
		}
		if _, twice := object[key]; twice {
			return nil, fmt.Errorf("%s is set twice", key)
		}
		if !json.Valid([]byte(value)) {
			return nil, fmt.Errorf("%s=%s: not a number, list or true", key, value)
		}
		object[key] = json.RawMessage(value)
	}
	arch, err := withFields(all[i], object)
	if err != nil {
		return nil, err
	}
	if err := arch.Check(); err != nil {
		unset := slices.DeleteFunc(fields, func(name string) bool { return object[name] != nil })
		return nil, fmt.Errorf("%w; %w; not set here: %s", err, usage, strings.Join(unset, ", "))
	}
	return arch, nil
}

// withFields returns a network like the given one with other fields.
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

// fieldNames returns the JSON names of a network's fields, without the initialisation of
// the weights, which a state_dict replaces.
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
