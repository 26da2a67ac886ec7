// Lint: plain language, by sentence length and reading ease.

package notebook

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Limits of the language. Flesch's reading ease (Journal of Applied Psychology
// 32, 1948) is
//
//	206.835 - 1.015 words/sentences - 84.6 syllables/words
//
// with 60 to 70 for plain English, 50 to 60 for "fairly difficult", and below 50 for
// college texts. The limit is 55, because terms of the field (unlearning, membership,
// embedding) have three or four syllables. Guides to plain language recommend 15 to 20
// words a sentence on average.
const (
	minEase     = 55
	maxMean     = 18
	maxSentence = 40
	minWords    = 100 // below this the averages say little
)

type prose struct {
	Words, Sentences, Syllables int
}

func (p prose) mean() float64 { return float64(p.Words) / float64(max(1, p.Sentences)) }

func (p prose) ease() float64 {
	return 206.835 - 1.015*p.mean() - 84.6*float64(p.Syllables)/float64(max(1, p.Words))
}

func (l *linter) language() {
	var total prose
	l.cells(Markdown, func(n int, c *Cell) {
		for _, s := range sentences(c.Source) {
			p := measure(s)
			if p.Words > maxSentence {
				l.add(n, fmt.Sprintf("a sentence of %d words: %s", p.Words, firstLine(s)), fmt.Sprintf("cut it; at most %d", maxSentence))
			}
			total.Words += p.Words
			total.Syllables += p.Syllables
			total.Sentences += p.Sentences
		}
	})
	if total.Words < minWords {
		return
	}
	if m := total.mean(); m > maxMean {
		l.add(0, fmt.Sprintf("sentences of %.1f words on average", m), fmt.Sprintf("write shorter ones; at most %d", maxMean))
	}
	if e := total.ease(); e < minEase {
		l.add(0, fmt.Sprintf("reading ease %.0f", e), fmt.Sprintf("use shorter words and sentences; at least %d, plain English is 60 to 70", minEase))
	}
}

// measure counts words and syllables of one sentence; without a word it is no sentence.
func measure(sentence string) prose {
	var p prose
	for _, field := range strings.Fields(sentence) {
		for _, word := range strings.FieldsFunc(field, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
			if n := syllables(word); n > 0 {
				p.Words++
				p.Syllables += n
			}
		}
	}
	if p.Words > 0 {
		p.Sentences = 1
	}
	return p
}

// syllables estimates the syllables of a word: groups of vowels, without a silent e at the
// end.
func syllables(word string) int {
	n, vowel := 0, false
	letters := 0
	word = strings.ToLower(word)
	for _, r := range word {
		if unicode.IsLetter(r) {
			letters++
		}
		is := strings.ContainsRune("aeiouyäöüéèáóí", r)
		if is && !vowel {
			n++
		}
		vowel = is
	}
	if letters == 0 {
		return 0
	}
	silent := strings.HasSuffix(word, "e") && !strings.HasSuffix(word, "le") && !strings.HasSuffix(word, "ee") ||
		strings.HasSuffix(word, "ed") && !strings.HasSuffix(word, "ted") && !strings.HasSuffix(word, "ded")
	if silent && n > 1 {
		n--
	}
	return max(n, 1)
}

// Patterns of what counts as one word in a sentence, and of what is no prose.
var (
	displayMaths = regexp.MustCompile(`(?s)\$\$.*?\$\$`)
	symbols      = regexp.MustCompile("`[^`\n]*`" + `|\$[^$\n]+\$`)
	link         = regexp.MustCompile(`!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?`)
	address      = regexp.MustCompile(`https?://[^\s)>]*`)
	tag          = regexp.MustCompile(`(?s)<!--.*?-->|</?[a-zA-Z][^>]*>`)
	item         = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)])\s+`)
	shortForm    = regexp.MustCompile(`\b(?:e\.g|i\.e|et al|vs|cf|Fig|Figs|Eq|Eqs|Sec|No|approx)\.`)
	sentenceEnd  = regexp.MustCompile(`[.!?]["'”’)*_]*(?:\s|$)`)
)

// sentences splits the prose of a Markdown text into sentences. Headings, tables, code
// blocks and displayed formulas are left out; inline code and formulas count as one short
// word.
func sentences(markdown string) []string {
	var found []string
	paragraph := ""
	flush := func() {
		text := strings.TrimSpace(paragraph)
		paragraph = ""
		for text != "" {
			at := sentenceEnd.FindStringIndex(text)
			if at == nil {
				at = []int{0, len(text)}
			}
			found = append(found, strings.TrimSpace(text[:at[1]]))
			text = strings.TrimSpace(text[at[1]:])
		}
	}
	text := strings.Join(outsideFences(markdown), "\n")
	text = displayMaths.ReplaceAllString(text, "\n\n")
	text = symbols.ReplaceAllString(text, "it")
	text = link.ReplaceAllString(text, "$1")
	text = address.ReplaceAllString(text, "it")
	text = tag.ReplaceAllString(text, "\n\n")
	text = shortForm.ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, ".", "") })
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimLeft(line, "> \t")
		switch {
		case line == "" || heading.MatchString(line) || strings.HasPrefix(line, "|"):
			flush()
		case item.MatchString(line):
			flush()
			paragraph = item.ReplaceAllString(line, "")
		default:
			paragraph += " " + line
		}
	}
	flush()
	return found
}
