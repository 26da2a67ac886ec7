package report

import (
	"math"
	"strconv"
	"testing"
)

// The text of a verdict has a contrast of 7 to 1 with its plate, and no two tones of one colour have
// one mark.
func TestVerdictsAreLegible(t *testing.T) {
	marks := map[string]tone{}
	for word, look := range verdicts {
		if c := contrast(t, look.text, look.plate); c < 7 {
			t.Errorf("%s: contrast %.1f", word, c)
		}
		if other, seen := marks[look.mark]; seen && other != look {
			t.Errorf("%s has the mark of another tone", word)
		}
		marks[look.mark] = look
	}
	if len(marks) != 6 {
		t.Errorf("%d marks", len(marks))
	}
}

// contrast is that of WCAG 2.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v > 0.04045 {
			v = math.Pow((v+0.055)/1.055, 2.4)
		} else {
			v /= 12.92
		}
		sum += weight * v
	}
	return sum
}

func TestAVerdictIsFoundBehindANumberOnly(t *testing.T) {
	for text, want := range map[string]string{
		"0.54 [0.38, 0.70] remembered":  "remembered",
		"0.54 [0.38, 0.70]\u2020 blind": "blind",
		"0.54 [no interval] too few":    "too few",
		"0.54 [0.38, 0.70]":             "",
		"0.54 [0.38, 0.70] or more":     "",
		"forgotten":                     "",
	} {
		if got := verdictBehind(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if c := Str("set").WithVerdict("reference"); c.Text != "set reference" || c.Verdict != "" {
		t.Errorf("%+v", c)
	}
}
