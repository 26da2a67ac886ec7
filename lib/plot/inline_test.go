package plot_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
)

func TestAnInlineFigureIsOneElementWithoutFonts(t *testing.T) {
	for _, width := range []int{400, 900} {
		svg, err := plot.Inline(demoStrips(), width)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(svg, "<svg ") || !strings.HasSuffix(svg, "</svg>") || strings.Contains(svg, "font-face") || strings.Contains(svg, "url(") {
			t.Errorf("%.200s ... %s", svg, svg[len(svg)-20:])
		}
		if !strings.Contains(svg, "RULER") && !strings.Contains(svg, "forgotten") {
			t.Error("the text of the figure is not in it")
		}
		if n := strings.Count(svg, "<text"); n < 20 || strings.Count(svg, "textLength=") != n {
			t.Errorf("of %d texts %d keep their width", n, strings.Count(svg, "textLength="))
		}
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if svg, err := plot.Inline(plot.Strips{}, 400); err == nil {
		t.Errorf("a figure of nothing: %.100s", svg)
	}
}

// In Liberation Sans, as in Arial, a digit is 0.556 of the font's size wide.
func TestAnInlineTextIsAsWideAsItWasLaidOut(t *testing.T) {
	f := plot.Forest{Rows: []plot.ForestRow{{Label: "0123456789", Estimate: stats.Estimate{Value: 1, Low: math.NaN(), High: math.NaN()}}}}
	svg, err := plot.Inline(f, 600)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`textLength="([0-9.]+)"[^>]*font-size:([0-9.]+)px[^>]*>0123456789<`).FindStringSubmatch(svg)
	if m == nil {
		t.Fatalf("the label is not in\n%s", svg)
	}
	length, _ := strconv.ParseFloat(m[1], 64)
	size, _ := strconv.ParseFloat(m[2], 64)
	if em := length / size / 10; math.Abs(em-0.556) > 0.002 {
		t.Errorf("a digit is %.3f em wide", em)
	}
}
