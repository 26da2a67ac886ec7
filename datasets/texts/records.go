// Records of documents: sentences or windows, as numbers of tokens.

package texts

import (
	"fmt"
	"strings"
	"unicode"
)

// Unit says what a record is.
type Unit string

// The units.
const (
	// Sentences makes a record of each sentence; see Sentence. One that does not fit into a
	// record's tokens is cut into windows.
	Sentences Unit = "sentences"
	// Windows cuts a document after every Tokens - 2 tokens, whatever the sentences. The
	// windows do not overlap. Of BPE a window begins with the last token of the one before,
	// so that every token but a document's first is predicted once.
	Windows Unit = "windows"
	// Documents makes a record of each document, of its question and its text. One that does
	// not fit into a record's tokens is refused. It is for BPE.
	Documents Unit = "documents"
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
	first    int // the first token to predict, of BPE
}

// cutting is the result of making records of documents.
type cutting struct {
	windows    []window
	sentences  int // number of sentences, 0 for other units
	tooLong    int // sentences of more tokens than a record has
	ofDocument []int
}

// cut returns the records of documents, in their order. It refuses a document without a token.
func cut(t *Texts, p Preparation, v encoder) (*cutting, error) {
	out := &cutting{ofDocument: make([]int, len(t.Documents))}
	for i, d := range t.Documents {
		parts := []string{d.fullText()}
		if p.Unit == Sentences {
			parts = SplitSentences(parts[0])
			out.sentences += len(parts)
		}
		for _, part := range parts {
			windows, err := v.encode(d, part, p)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", d.called(i), err)
			}
			if len(windows) > 1 {
				out.tooLong++
			}
			for _, w := range windows {
				w.document = i
				out.windows = append(out.windows, w)
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
