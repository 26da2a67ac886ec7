package judge

import "github.com/lethe-ml/lethe/lib/audit"

// Neighbours asks whether the forgotten records are as close to their nearest retained neighbour as
// retained records are to theirs: RULER's M4 (equations 5 to 7).
//
// Null: 0.5. A model that never had the records may lie elsewhere, because of the geometry of the
// data alone: only a retrained model places a reading.
type Neighbours struct{}

var _ Lens = Neighbours{}

// Name implements Lens.
func (Neighbours) Name() string { return "neighbours" }

// About implements Lens.
func (Neighbours) About() About {
	return About{
		Asks: "Are forgotten records as close to retained ones as these are to each other?",
		How: "M4: mean percentile of a forgotten record's similarity to its nearest retained neighbour among those of at most 2,000 retained " +
			"records, with Student's interval. The floor is that of a mean of uniform ranks.",
		Source: "RULER, equations 5 to 7",
		Family: RepresentationFamily,
	}
}

// Needs implements Lens.
func (Neighbours) Needs() Needs { return Needs{Arrays: []Array{Embedding}, Sets: []Set{Retain}} }

// Read implements Lens.
func (j Neighbours) Read(e *Evidence, m *Model) (*audit.Reading, error) {
	evidence, err := e.rulerEvidence(m, nil, nil)
	if err != nil {
		return nil, err
	}
	r, err := audit.Neighbours{}.ReadEmbeddings(m.Name, *evidence)
	return withLensName(r, j), err
}
