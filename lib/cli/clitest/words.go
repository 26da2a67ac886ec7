package clitest

import (
	"regexp"
	"strings"
	"sync"
)

// PrivateWords are words of this project's past that a reader cannot know, with the terms
// that replace them. Keys are regular expressions for whole words in lower case.
var PrivateWords = map[string]string{
	"arms?":               "variant",
	"fleets?":             "shadow models",
	"sail(s|ed)?":         "train",
	"strangers?":          "non-members",
	"judgements?":         "lens, verdict",
	"by heart":            "memorised",
	"a?shore|aboard":      "host, on the device",
	"crews?":              "workers",
	"shelf|shelves":       "cache",
	"desks?":              "panel",
	"knobs?":              "slider",
	"gardens?|villages?":  "fixture",
	"kitchens?|furniture": "layer, package",
	"surgeons?":           "gradient transform",
	"mixers?":             "gradient combiner",
	"corrupters?":         "noise augmenter",
	"twinned":             "state dict names",
	"oddit(y|ies)":        "warnings",
	"undone":              "skipped",
	"deals?|dealt":        "assign, split",
	"strays?":             "unexpected file",
	"he|his|him|himself":  "they, their, them",
	"she|her|hers":        "they, their, them",
	"do(es|ing)? nothing": "no unlearning",
	"of before":           "stale, earlier",
	"anybody's":           "any model's",
	"last words?":         "last output, last record",
}

// privatePatterns are the expressions of PrivateWords, compiled.
var privatePatterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	out := map[string]*regexp.Regexp{}
	for word := range PrivateWords {
		out[word] = regexp.MustCompile(`\b(?:` + word + `)\b`)
	}
	return out
})

// FindPrivateWords returns the private words in a text, each with its replacement.
func FindPrivateWords(text string) (found []string) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for word, pattern := range privatePatterns() {
		if hit := pattern.FindString(text); hit != "" {
			found = append(found, hit+" (say: "+PrivateWords[word]+")")
		}
	}
	return found
}
