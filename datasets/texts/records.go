// Records of documents: sentences or windows, as numbers of tokens.

package texts

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lethe-ml/lethe/lib/text/wordpiece"
)

// Unit says what a record is.
type Unit string

// The units.
const (
	// Sentences makes a record of each sentence; see Sentence. One that does not fit into a
	// record's tokens is cut into windows.
	Sentences Unit = "sentences"
	// Windows cuts a document after every Tokens - 2 tokens, whatever the sentences. The
	// windows do not overlap.
	Windows Unit = "windows"
)

// SplitSentences returns the sentences of a text, without the white space around them. A
// sentence ends at white space that follows a full stop, an exclamation or a question mark,
// and at an empty line. Abbreviations are not recognised: "Dr. Smith slept." is two sentences.
func SplitSentences(text string) (out []string) {
	start, before, lines := 0, ' ', 0
	end := func(at int) {
		if s := strings.TrimSpace(text[start:at]); s != "" {
			out = append(out, s)
		}
		start = at
	}
	for at, r := range text {
		if !unicode.IsSpace(r) {
			before, lines = r, 0
			continue
		}
		if r == '\n' {
			lines++
		}
		if before == '.' || before == '!' || before == '?' || lines == 2 {
			end(at)
			before = ' '
		}
	}
	end(len(text))
	return out
}

// window is a record before it has a number.
type window struct {
	document int
	tokens   []int
}

// cutting is the result of making records of documents.
type cutting struct {
	windows    []window
	sentences  int // number of sentences, 0 for Windows
	tooLong    int // sentences of more tokens than a record has
	ofDocument []int
}

// cut returns the records of documents, in their order. It refuses a document without a token.
func cut(t *Texts, p Preparation, v *wordpiece.Vocabulary) (*cutting, error) {
	out := &cutting{ofDocument: make([]int, len(t.Documents))}
	for i, d := range t.Documents {
		parts := []string{d.Text}
		if p.Unit == Sentences {
			parts = SplitSentences(d.Text)
			out.sentences += len(parts)
		}
		for _, part := range parts {
			windows, err := v.Encode(part, p.Tokens)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", d.called(i), err)
			}
			if len(windows) > 1 {
				out.tooLong++
			}
			for _, tokens := range windows {
				out.windows = append(out.windows, window{i, tokens})
			}
			out.ofDocument[i] += len(windows)
		}
		if out.ofDocument[i] == 0 {
			return nil, fmt.Errorf("%s: the text has no word; leave the document out", d.called(i))
		}
	}
	return out, nil
}

// note says how many texts were longer than a record.
func (c *cutting) note(p Preparation) string {
	if c.tooLong == 0 {
		return ""
	}
	if p.Unit == Windows {
		return fmt.Sprintf("%d of %d documents are longer than %d tokens and are cut into windows.", c.tooLong, len(c.ofDocument), p.Tokens)
	}
	return fmt.Sprintf("%d of %d sentences are longer than %d tokens and are cut into windows.", c.tooLong, c.sentences, p.Tokens)
}

// write writes the tokens of a window to the memory of a record's tokens, and padding after them.
func (w window) write(to []float32, pad int) {
	for k := range to {
		to[k] = float32(pad)
	}
	for k, token := range w.tokens {
		to[k] = float32(token)
	}
}
