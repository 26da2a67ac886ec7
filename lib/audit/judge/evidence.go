package judge

import (
	"time"

	"github.com/lethe-ml/lethe/lib/audit"
)

// Evidence holds the arrays of a folder after all checks: every array is finite, has a row per
// record, and fits the others. Large arrays stay in their files until they are needed.
type Evidence struct {
	audit.Evidence

	Folder   string
	Question string
	Date     string   // of the unlearned model, as audit.json gives it: 2026-05-17
	Files    []File   // every file that was read
	Notes    []string // warnings: what is suspicious and not wrong in itself

	doubts map[string][]string // by model: why its arrays may not be those of the records

	groupNames []string // by number, as group.npy has them
	// recall is the ROUGE-L recall of what models answer, by model and record; NaN where a record has none.
	recall map[string][]float64
}

// File identifies a file that the audit read.
type File struct {
	Name   string `json:"name"`  // below the folder
	Array  string `json:"array"` // type and shape
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`

	checkpoint bool // of a checkpoint
	modified   time.Time
}

// The words of package audit that stand in the names of files and in every report.
type (
	Lens  = audit.Lens
	Model = audit.Arrays
	Role  = audit.Role
)

// The roles of models and the sets of records.
const (
	Unlearned  = audit.Unlearned
	Original   = audit.Original
	Retrained  = audit.Retrained
	Checkpoint = audit.Checkpoint
	Quantised  = audit.Quantised
	Shadow     = audit.Shadow
	// ReferenceModel is the role of models that were trained neither on forgotten nor on held-out records.
	ReferenceModel = audit.Reference

	Forget  = audit.Forget
	Retain  = audit.Retain
	HeldOut = audit.HeldOut
)
