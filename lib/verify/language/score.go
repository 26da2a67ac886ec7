package language

import "fmt"

// Evidence holds what scores need, by role. All tokens are those of the same documents.
type Evidence struct {
	Target *Tokens // of the model that is judged

	// Reference are tokens of another model, which does not know the documents or knows all of them
	// alike, such as the one before fine-tuning. For Reference.
	Reference *Tokens
	// Prefixed are tokens of the model that is judged, when a text that it was not trained on stands
	// before every document. For ReCaLL.
	Prefixed *Tokens
	// Compressed is the length in bytes of every document's text under zlib (level 6, Python's
	// default, with header). For Zlib.
	Compressed []int
}

// Score is one number per document: higher for what the model was trained on. One file holds one
// score, and its zero value is the published setting. With AUC, forgotten against held-out
// documents, the null value is the retrained model's AUC, and 0.5 where both sets come from one
// distribution.
type Score interface {
	// Name is the score's short name, such as "min-k".
	Name() string
	// About says in one line what it is.
	About() string
	// Scores returns a value per document. It refuses empty documents by number, and names what is
	// missing from the evidence.
	Scores(e Evidence) ([]float64, error)
}

// DocumentError says why a score has no value for a document, by its number in the evidence.
type DocumentError struct {
	Score    string
	Document int
	Why      string
}

// Error names the score and the document.
func (e *DocumentError) Error() string {
	return fmt.Sprintf("%s: document %d %s", e.Score, e.Document, e.Why)
}

// Scores returns every score at its zero value; a new one adds one line.
func Scores() []Score {
	return []Score{
		Loss{}, Probability{}, ExactMemorisation{}, ExtractionStrength{}, Zlib{}, Reference{}, MinK{}, MinKPlusPlus{}, ReCaLL{},
	}
}
