package judge

import (
	"bytes"
	"encoding/json"

	"github.com/lethe-ml/lethe/lib/files"
)

// Config is the content of audit.json. Every entry is optional and replaces what the names in the
// folder say. Paths are relative to the file's own folder.
//
//	{
//	  "question": "Has the model forgotten customer 17?", "date": "2026-05-17",
//	  "labels": ["labels_train.npy", "labels_test.npy"],
//	  "forget": "forget.npy", "retain": "retain.npy", "heldout": "rest",
//	  "group": "patient_id.npy", "group_unit": "patient", "groups_may_mix": true,
//	  "unlearned": {"outputs": ["scrub/train.npy", "scrub/test.npy"]},
//	  "retrained": [{"name": "seed 1", "outputs": "retrained/1.npy"}, {"name": "seed 2", "outputs": "retrained/2.npy"}]
//	}
type Config struct {
	Question string `json:"question,omitempty"`
	Date     string `json:"date,omitempty"` // of the unlearned model; without it, that of its files
	Labels   Files  `json:"labels,omitempty"`
	Forget   Files  `json:"forget,omitempty"`
	Retain   Files  `json:"retain,omitempty"`  // or the word rest
	HeldOut  Files  `json:"heldout,omitempty"` // or the word rest
	// Group holds the group of every record, such as its author or patient, and GroupUnit what a
	// group is, in the singular ("author"). GroupsMayMix accepts groups with records to be forgotten
	// and others.
	Group        Files  `json:"group,omitempty"`
	GroupUnit    string `json:"group_unit,omitempty"`
	GroupsMayMix bool   `json:"groups_may_mix,omitempty"`
	// Offset says where the tokens of every record begin and where the last ones end, n+1 numbers; Zlib
	// is the compressed length of every record's text in bytes.
	Offset Files `json:"offset,omitempty"`
	Zlib   Files `json:"zlib,omitempty"`
	// Inputs holds what models are given, a row per record. For texts, InputTokens holds the tokens of every
	// whole text end to end, and InputOffset where each text begins, and the end.
	Inputs      Files `json:"inputs,omitempty"`
	InputTokens Files `json:"input_tokens,omitempty"`
	InputOffset Files `json:"input_offset,omitempty"`

	Unlearned Models `json:"unlearned,omitempty"`
	Original  Models `json:"original,omitempty"`
	Retrained Models `json:"retrained,omitempty"`
	Shadows   Models `json:"shadows,omitempty"`
	// Checkpoints are models saved along unlearning, in their order.
	Checkpoints Models `json:"checkpoints,omitempty"`
	// Quantised are copies of the unlearned model with rounded weights.
	Quantised Models `json:"quantised,omitempty"`
	// References were trained neither on the forgotten nor on the held-out records.
	References Models `json:"references,omitempty"`
}

// Rest, in place of a file of rows, stands for all records in no other set.
const Rest = "rest"

// Files names one file, or several files whose rows follow each other: a string or a list of
// strings in JSON.
type Files []string

// UnmarshalJSON reads a string or a list of strings.
func (f *Files) UnmarshalJSON(b []byte) error { return oneOrMany((*[]string)(f), b) }

// Models holds the files of one model or of several: an object or a list of objects in JSON.
type Models []ModelFiles

// UnmarshalJSON reads an object or a list of objects.
func (m *Models) UnmarshalJSON(b []byte) error { return oneOrMany((*[]ModelFiles)(m), b) }

// ModelFiles holds the files of one model. One of outputs, logits and probabilities is enough; for
// outputs, the values show whether they are logits or probabilities.
type ModelFiles struct {
	Name          string           `json:"name,omitempty"`
	Outputs       Files            `json:"outputs,omitempty"`
	Logits        Files            `json:"logits,omitempty"`
	Probabilities Files            `json:"probabilities,omitempty"`
	Losses        Files            `json:"losses,omitempty"`
	Embedding     Files            `json:"embedding,omitempty"`
	Activations   map[string]Files `json:"activations,omitempty"`
	In            Files            `json:"in,omitempty"` // of a shadow model: what it was trained on
	// Of a language model, a number per token: the log-probability, mean and deviation of what the model
	// expects, whether the token is the most probable one, and the log-probability behind a prefix.
	LogProb   Files `json:"logprob,omitempty"`
	Mean      Files `json:"logprob_mean,omitempty"`
	Deviation Files `json:"logprob_deviation,omitempty"`
	Correct   Files `json:"correct,omitempty"`
	Prefixed  Files `json:"logprob_prefixed,omitempty"`
	// A row per record: mean log-probabilities of the right answer in other words and of wrong ones; and of
	// the record's tokens in the original model with each layer's state taken from this model.
	Answers Files `json:"answers,omitempty"`
	Patched Files `json:"patched,omitempty"`
}

func oneOrMany[T any](to *[]T, b []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("[")) {
		return part(b, to)
	}
	var one T
	if err := part(b, &one); err != nil {
		return err
	}
	*to = []T{one}
	return nil
}

// part decodes a part of an object and refuses unknown names: otherwise a misspelt name would
// silently remove an array from the audit.
func part(b []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// maxConfig bounds the size of audit.json in bytes.
const maxConfig = 1 << 20

func readConfig(path string) (*Config, error) {
	b, err := files.Read(path, maxConfig)
	if err != nil {
		return nil, err
	}
	var c Config
	if err := files.DecodeStrict(b, &c); err != nil {
		return nil, err
	}
	return &c, nil
}
