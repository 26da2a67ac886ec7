// The findings page counts nothing by hand.

package project

import (
	"regexp"
	"strings"
	"testing"
)

// Counts in words: a number or a quantifier before what tables count, a number of a
// number, and "in all".
var (
	counted  = `(?:models?|seeds?|tables?|data ?sets?|networks?|methods?|runs?|conditions?|cases?|fractions?|lens(?:es)?|attacks?|attackers?|protocols?|draws?|claims?|pairs?|trials?|layers?|users?|metrics?|columns?|rows?|variants?|scales?|papers?|tests?)`
	tens     = `(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)`
	numeral  = `(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|` + tens + `(?:-[a-z]+)?|(?:a )?(?:hundred|dozen)|dozens|\d[\d,]*)`
	quantity = `(?:all but ` + numeral + `|` + numeral + `|all|both|every|none|no|neither|either|most|half|several|single|(?:a|one|two|three) (?:third|quarter|fifth)s?|the majority|the minority)`
	between  = `(?: (?:out of|of|the|these|those|its|our|their|them|other|different|[a-z]+ed|[a-z]+er|large|small|paper's|real))*`
	inAWord  = regexp.MustCompile(`(?i)\b(?:` + strings.Join([]string{
		quantity + between + ` ` + counted,                                                 // five models, both retrained models, most of the methods
		quantity + ` (?:out )?(?:of|in) (?:the |a |these |all )*(?:` + numeral + `|every)`, // four of five, one in three, one of a hundred
		`(?:all|both|each|neither|none|either|most|half|` + numeral + `) of (?:them|these|those|us)`,
		`(?:all|each of the|either of the|none of the|of the|the other) ` + numeral, // all five
		`in all`, `in (?:both|neither|none|every one)`, numeral + ` times out of`, `` + numeral + `-fold`, `unanimous(?:ly)?`,
	}, "|") + `)\b`)
)

// A count in words is computed by the template, from a table or from the values behind it.
func TestTheFindingsCountNothingByHand(t *testing.T) {
	for i, text := range strings.Split(withoutValues(markedPage(t)), "\n") {
		for _, found := range inAWord.FindAllString(strings.Join(strings.Fields(text), " "), -1) {
			t.Errorf("line %d: %q is counted by hand (count, runs, seeds, datasets, groups or cell make it): %s", i+1, found, text)
		}
	}
}

func TestCountsInWordsAreFound(t *testing.T) {
	for _, text := range []string{
		"less is left in four of five models", "in one of three", "twenty-three of thirty-two are larger", "in all of them", "all five are below",
		"both models forget", "five models show no difference", "nowhere in all", "Four of the five", "in three out of four cases", "none of the methods does",
		"no method reaches it", "every seed says so", "all seeds agree", "in 4 of 5", "24 models", "one in ten is accused", "most models do", "half of the tables",
		"all but one seed", "neither network", "in both it falls", "each of the ten is above", "a dozen runs", "two retrained models differ", "of the three fractions",
		"all of these", "the other four rise", "three different data sets", "all three", "seven large tables", "of one model", "dozens of runs", "two thirds of the seeds", "a quarter of the models", "the majority of methods", "almost all models", "1 model", "in one case",
	} {
		if inAWord.FindString(text) == "" {
			t.Errorf("%q is no count", text)
		}
	}
	for _, text := range []string{
		"one half", "the retrained model is above it", "2,000 images of CIFAR-10", "a fifth of the pixels", "at the paper's size", "five epochs", "two local epochs a round",
		"over models", "models of other seeds", "Table 9", "[Table 3]", "one number per set", "at scale standard", "the tables", "31 dendritic cells",
	} {
		if found := inAWord.FindString(text); found != "" {
			t.Errorf("%q counts %q", text, found)
		}
	}
}
