// Keys: what a result depends on, and the ID that follows from it.

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Key names everything that a result depends on. Equal keys must give equal bytes; what is
// not in the key must not change the result.
//
// Config is printed as JSON, so only its exported fields count. Two types with the same
// JSON are the same configuration, and a choice that the JSON does not show (which
// implementation an interface holds) needs a field of its own. Code from outside Lethe is
// part of the key with all fields of its values: see CodeOf.
type Key struct {
	Recipe  string            `json:"recipe"`  // "train", "unlearn", "evidence/ruler", ...
	Config  any               `json:"config"`  // a typed struct
	Seeds   map[string]int64  `json:"seeds"`   // stream -> seed
	Data    map[string]string `json:"data"`    // name -> hash
	Engine  string            `json:"engine"`  // for instance "go/avx512"
	Results int               `json:"results"` // version of the numbers

	// DependsOn are further values that the result depends on and that Config does not
	// show, or shows by name only. Their code from outside Lethe stands in Code.
	DependsOn []any `json:"-"`
	// Code is, in a stored key, the code from outside Lethe that Config and DependsOn
	// use; see CodeOf. Leave it nil when you make a key.
	Code []string `json:"code,omitempty"`
}

// ID returns the hexadecimal SHA-256 of the key's canonical JSON.
func (k Key) ID() (string, error) {
	b, err := k.canonical()
	if err != nil {
		return "", err
	}
	return digest(b), nil
}

// canonical returns the key as JSON with sorted keys, without blanks, and with numbers as
// encoding/json prints them. A nil map and an empty one are the same.
func (k Key) canonical() ([]byte, error) {
	if k.Recipe == "" {
		return nil, errors.New("store key: the recipe is empty")
	}
	if k.Seeds == nil {
		k.Seeds = map[string]int64{}
	}
	if k.Data == nil {
		k.Data = map[string]string{}
	}
	code, err := CodeOf(append([]any{k.Config}, k.DependsOn...)...)
	if err != nil {
		return nil, fmt.Errorf("store key of recipe %q: %w", k.Recipe, err)
	}
	k.Code = append(slices.Clip(k.Code), code...)
	printed, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("store key of recipe %q: %w", k.Recipe, err)
	}
	// encoding/json prints bytes that are not UTF-8 as this escape, which would
	// give different keys the same ID.
	if bytes.Contains(printed, []byte(`\ufffd`)) {
		return nil, fmt.Errorf("store key of recipe %q: a text in it is not valid UTF-8", k.Recipe)
	}
	dec := json.NewDecoder(bytes.NewReader(printed))
	dec.UseNumber() // a float64 would lose the digits of large integers
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, fmt.Errorf("store key of recipe %q: %w", k.Recipe, err)
	}
	return json.Marshal(tree)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// isID reports whether name has the form of a run's ID.
func isID(name string) bool {
	b, err := hex.DecodeString(name)
	return err == nil && len(b) == sha256.Size && name == hex.EncodeToString(b)
}
