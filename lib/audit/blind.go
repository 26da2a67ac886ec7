package audit

import (
	"errors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/blind"
)

// BlindAttackName is the name of the reading of Evidence.BlindAttack.
const BlindAttackName = "blind attack"

// maxBlind bounds the records of a set that the blind attack uses.
const maxBlind = 600

// BlindAttack asks whether forgotten records can be told from held-out ones by their inputs and labels
// alone, without any model (blind.Attack): the signed AUC over the records of both, of a large set 600 of
// them, drawn at random.
//
// Null: 0.5, the sets have the same distribution, which the null of every attack on a model supposes.
// Where the AUC is away from it, an attack may reach as much without any memory, on either side of
// 0.5. Inputs that are the same for all of these records give no reading.
func (e *Evidence) BlindAttack() (*Reading, error) {
	if err := e.checkInputs(); err != nil {
		return nil, err
	}
	return e.blindAttack(e.inputKernel)
}

// ClassAttack is BlindAttack by labels alone, for evidence without inputs: whether some classes are more frequent among
// forgotten than among held-out records, as where a whole class is forgotten.
func (e *Evidence) ClassAttack() (*Reading, error) {
	if e.Labels == nil {
		return nil, errors.New("audit: no labels")
	}
	return e.blindAttack(e.classKernel)
}

// blindAttack is the blind attack by a kernel of the inputs.
func (e *Evidence) blindAttack(kernel func(rows []int) (blind.Kernel, error)) (*Reading, error) {
	few := firstReason(TooFewRecords(len(e.Forget), Forget.Adjective()+" records"), TooFewRecords(len(e.HeldOut), HeldOut.Adjective()+" records"))
	if groups := min(e.CountGroups(e.Forget), e.CountGroups(e.HeldOut)); few.Call == "" {
		few = TooFewRecords(groups, e.Units()+" in the smaller set")
	}
	if few.Call != "" {
		return NoReading(BlindAttackName, "", few), nil
	}
	rng := e.Rand(purposeBlind)
	var rows []int
	for _, set := range [][]int{e.Forget, e.HeldOut} {
		if len(set) > maxBlind {
			set = valuesAt(set, rng.Perm(len(set))[:maxBlind])
		}
		rows = append(rows, set...)
	}
	r := blind.Records{Clusters: e.Clusters(rows), Unit: e.Units()}
	for k := range rows {
		r.Member = append(r.Member, k < min(maxBlind, len(e.Forget)))
	}
	inputs, err := kernel(rows)
	if err != nil {
		return nil, err
	}
	if inputs.Empty() {
		return NoReading(BlindAttackName, "", Reason{CannotTell, e.sameInputs()}), nil
	}
	r.Kernel = inputs
	if e.Labels != nil {
		r.Kernel = blind.WithClasses(inputs, valuesAt(e.Labels, rows))
	}
	result, err := blind.Attack(r, rng)
	if err != nil {
		return nil, err
	}
	return &Reading{Lens: BlindAttackName, Memory: Above, Estimate: result.AUC, Floor: result.Floor}, nil
}

// classKernel says how alike records are in their classes alone.
func (e *Evidence) classKernel(rows []int) (blind.Kernel, error) {
	at := map[int]int{}
	for _, i := range rows {
		if _, known := at[e.Labels[i]]; !known {
			at[e.Labels[i]] = len(at)
		}
	}
	x := array.New[float64](len(rows), len(at))
	for k, i := range rows {
		x.Row(k)[at[e.Labels[i]]] = 1
	}
	return blind.Vectors(x), nil
}

// sameInputs says that inputs tell no record from another.
func (e *Evidence) sameInputs() string {
	if e.Texts != nil {
		return "the inputs say nothing: all texts are equally long, and no token is in three of them and not in all"
	}
	return "the inputs are the same for all forgotten and held-out records"
}

// inputKernel says how alike records are in their inputs.
func (e *Evidence) inputKernel(rows []int) (blind.Kernel, error) {
	if e.Texts != nil {
		return blind.Texts(valuesAt(e.Texts, rows)), nil
	}
	all, err := e.Inputs.Read()
	if err != nil {
		return blind.Kernel{}, err
	}
	_, cols := all.Shape()
	x := array.New[float64](len(rows), cols)
	for k, i := range rows {
		copy(x.Row(k), all.Read(x.Row(k), i))
	}
	return blind.Vectors(x), nil
}
