// Package representation attacks what is uploaded in place of data: codes of records ("BlindU"
// sends masked and compressed images), the gradient of a layer, or a model's outputs before and
// after unlearning. It knows no model; everything is on plain arrays, a row per record.
//
// Records that an attacker learns on and records that it is scored on have different types (Shadow
// and Victims, ShadowPair and Target), so that one cannot be passed for the other. Records in both
// are refused by their numbers.
//
// The published program of "BlindU" trains its attackers on the records that it scores; that
// variant is Reconstruction.Coded.
package representation

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
)

const level = 0.95

// Shadow is what an attacker has: records of their own, and the codes of these records after the
// same treatment (masked, compressed, by the same model) as the victims'.
type Shadow struct {
	Numbers []int // which records, in a count that the victims' are in too
	Codes   array.Matrix[float32]
	Records array.Matrix[float32]
	Labels  []int // their classes; nil: not known
}

// Victims are the records whose codes the attacker sees. The originals, before any masking, are the
// truth, which the attacker does not see.
type Victims struct {
	Numbers   []int
	Codes     array.Matrix[float32]
	Originals array.Matrix[float32]
	Labels    []int // their classes, which the server is told; nil: not known
}

func (s Shadow) check() error { return checkSide("shadow", s.Numbers, s.Codes, s.Records, s.Labels) }

func (v Victims) check() error {
	return checkSide("victims", v.Numbers, v.Codes, v.Originals, v.Labels)
}

func checkSide(name string, numbers []int, codes, records array.Matrix[float32], labels []int) error {
	if codes.Rows == 0 || codes.Cols == 0 || records.Cols == 0 {
		return fmt.Errorf("%s: codes of %d x %d, records of %d x %d", name, codes.Rows, codes.Cols, records.Rows, records.Cols)
	}
	if records.Rows != codes.Rows || len(numbers) != codes.Rows {
		return fmt.Errorf("%s: %d codes, %d records and %d numbers", name, codes.Rows, records.Rows, len(numbers))
	}
	if labels != nil && len(labels) != codes.Rows {
		return fmt.Errorf("%s: %d labels of %d records", name, len(labels), codes.Rows)
	}
	return errors.Join(codes.Check(name+", codes"), records.Check(name+", records"))
}

// checkDisjoint refuses sides that do not fit, or share a record.
func checkDisjoint(s Shadow, v Victims) error {
	if err := errors.Join(s.check(), v.check()); err != nil {
		return err
	}
	if s.Codes.Cols != v.Codes.Cols || s.Records.Cols != v.Originals.Cols {
		return fmt.Errorf("shadow: codes of %d columns for records of %d; victims: %d for %d",
			s.Codes.Cols, s.Records.Cols, v.Codes.Cols, v.Originals.Cols)
	}
	own := map[int]bool{}
	for _, n := range s.Numbers {
		own[n] = true
	}
	for i, n := range v.Numbers {
		if own[n] {
			return fmt.Errorf("victims: row %d is record %d, which the attacker has", i, n)
		}
	}
	return nil
}
