package plot_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/plot"
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
