package language

import (
	"slices"
	"strings"
)

// Porter's algorithm for suffix stripping (1980), with NLTK's extensions: what ROUGE's words are
// reduced by. Words are of a-z and 0-9 and longer than three characters; a digit is a consonant.

// irregular are the words that NLTK does not strip by rules.
var irregular = map[string]string{
	"skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
	"innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning",
	"howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}

// ending is a rule: the first whose suffix a word has decides, whether it applies or not.
type ending struct{ suffix, to string }

var (
	step2 = []ending{
		{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"bli", "ble"}, {"alli", "al"},
		{"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"}, {"ator", "ate"}, {"alism", "al"},
		{"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"}, {"iviti", "ive"}, {"biliti", "ble"}, {"fulli", "ful"},
	}
	step3 = []ending{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}
	step4 = []string{
		"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize",
	}
)

// stem returns the stem of a word.
func stem(w string) string {
	if s, ok := irregular[w]; ok {
		return s
	}
	w = stemYs(stemPast(stemPlural(w)))
	w = replaceEnding(stemAdverb(w), step2)
	return stemEnd(dropEnding(replaceEnding(w, step3)))
}

// consonants says of each letter whether it is a consonant: y is one at the start and after a vowel.
func consonants(w string) []bool {
	out := make([]bool, len(w))
	for i := range w {
		switch w[i] {
		case 'a', 'e', 'i', 'o', 'u':
		case 'y':
			out[i] = i == 0 || !out[i-1]
		default:
			out[i] = true
		}
	}
	return out
}

// measure returns how often a vowel is followed by a consonant.
func measure(w string) (m int) {
	c := consonants(w)
	for i := 1; i < len(c); i++ {
		if !c[i-1] && c[i] {
			m++
		}
	}
	return m
}

// endsShort reports whether a word ends in consonant, vowel, consonant other than w, x, y; or is a
// vowel and a consonant.
func endsShort(w string) bool {
	c, n := consonants(w), len(w)
	if n == 2 {
		return !c[0] && c[1]
	}
	return n > 2 && c[n-3] && !c[n-2] && c[n-1] && !strings.Contains("wxy", w[n-1:])
}

// endsDouble reports whether a word ends in a double consonant.
func endsDouble(w string) bool {
	n := len(w)
	return n > 1 && w[n-1] == w[n-2] && consonants(w)[n-1]
}

// stemPlural is step 1a.
func stemPlural(w string) string {
	switch {
	case len(w) == 4 && strings.HasSuffix(w, "ies"):
		return w[:3]
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
		return w
	}
	return strings.TrimSuffix(w, "s")
}

// stemPast is step 1b.
func stemPast(w string) string {
	if s, ok := strings.CutSuffix(w, "ied"); ok {
		if len(w) == 4 {
			return s + "ie"
		}
		return s + "i"
	}
	if s, ok := strings.CutSuffix(w, "eed"); ok {
		if measure(s) > 0 {
			return s + "ee"
		}
		return w
	}
	for _, suffix := range []string{"ed", "ing"} {
		if s, ok := strings.CutSuffix(w, suffix); ok && slices.Contains(consonants(s), false) {
			return restored(s)
		}
	}
	return w
}

// restored completes what is left of a word without -ed or -ing.
func restored(s string) string {
	last := s[len(s)-1:]
	switch {
	case strings.HasSuffix(s, "at"), strings.HasSuffix(s, "bl"), strings.HasSuffix(s, "iz"):
		return s + "e"
	case endsDouble(s):
		if strings.Contains("lsz", last) {
			return s
		}
		return s[:len(s)-1]
	case measure(s) == 1 && endsShort(s):
		return s + "e"
	}
	return s
}

// stemYs is step 1c.
func stemYs(w string) string {
	s, ok := strings.CutSuffix(w, "y")
	if ok && len(s) > 1 && consonants(s)[len(s)-1] {
		return s + "i"
	}
	return w
}

// stemAdverb is what precedes the rules of step 2: -alli becomes -al, to which they still apply, and
// -logi becomes -log.
func stemAdverb(w string) string {
	if s, ok := strings.CutSuffix(w, "alli"); ok && measure(s) > 0 {
		return s + "al"
	}
	if s, ok := strings.CutSuffix(w, "logi"); ok && measure(s+"l") > 0 {
		return s + "log"
	}
	return w
}

// replaceEnding applies the rule of the first suffix that the word has, if a vowel and a consonant
// are left.
func replaceEnding(w string, rules []ending) string {
	for _, r := range rules {
		if s, ok := strings.CutSuffix(w, r.suffix); ok {
			if measure(s) > 0 {
				return s + r.to
			}
			return w
		}
	}
	return w
}

// dropEnding is step 4.
func dropEnding(w string) string {
	for _, suffix := range step4 {
		s, ok := strings.CutSuffix(w, suffix)
		if !ok {
			continue
		}
		if measure(s) > 1 && (suffix != "ion" || strings.HasSuffix(s, "s") || strings.HasSuffix(s, "t")) {
			return s
		}
		return w
	}
	return w
}

// stemEnd is steps 5a and 5b.
func stemEnd(w string) string {
	if s, ok := strings.CutSuffix(w, "e"); ok && (measure(s) > 1 || measure(s) == 1 && !endsShort(s)) {
		w = s
	}
	if strings.HasSuffix(w, "ll") && measure(w[:len(w)-1]) > 1 {
		return w[:len(w)-1]
	}
	return w
}
