package logs

import (
	"fmt"
	"strings"
	"testing"
)

// Python writes NaN and Infinity, which are no JSON: the error names metric and question.
func TestNaNInALogIsNamedByItsKeys(t *testing.T) {
	good := string(text(t, openLogOf(3)))
	const loss = `"1":{"avg_loss":0.25,"prob":`
	if !strings.Contains(good, loss) {
		t.Fatal(good)
	}
	bad := strings.Replace(good, loss, "\n"+strings.Replace(loss, "0.25", "-Infinity", 1), 1)
	bad = strings.ReplaceAll(bad, `"rougeL_recall":0.5`, `"rougeL_recall":NaN`)
	_, err := parseOpenUnlearning([]byte("\ufeff" + bad))
	refuses(t, err, "line 2: forget_Q_A_Prob, value_by_index, 1, avg_loss is -Infinity (and 12 more): Python writes it so")
	_, err = ReadTOFU(write(t, "log.json", []byte(strings.Replace(string(text(t, log(2))), "[1.25,2.25]", "[1.25, NaN]", 1))))
	refuses(t, err, "line 1: eval_log.json, average_perturb_loss, 0, 1 is NaN: Python writes")
	_, err = parseDepthStudy([]byte(strings.Replace(string(text(t, study())), "0.3,", "Infinity,", 1)))
	refuses(t, err, "line 1: models, 1, uds is Infinity: Python")
}

// In a text such words are text, and without them another error of syntax stays what it is.
func TestNaNInATextIsText(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": "NaN", "b\"": "\\", "c": "Infinity}`:         "",
		`{"a": {"b": [1, {"c": NaN}, NaN]}}`:                "line 1: a, b, 1, c is NaN",
		"{\"a\": 1,\n\n\"NaN\": NaN, }":                     "line 3: NaN is NaN",
		`{"b\" NaN": NaN}`:                                  "line 1: b\" NaN is NaN",
		`{"a": "x" NaN}`:                                    "",
		strings.Repeat("[", 1000) + "NaN":                   "",
		strings.Repeat("[", 8) + `"", NaN` + `]]]]]]]]`:     "line 1: 0, 0, 0, 0, 0, 0, 0, 1 is NaN",
		strings.Repeat("[", 100000) + "NaN":                 "",
		fmt.Sprintf(`{"a": %s}`, strings.Repeat("NaN", 99)): "",
	} {
		if w := findNonFinite([]byte(text)); w.first != want {
			t.Errorf("%.60s: %q, want %q", text, w.first, want)
		}
	}
}
