package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/figures"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var update = flag.Bool("update", false, "write the numbers of the committed tables into FINDINGS.md")

// A number of FINDINGS.md stands between two comments, of which the first says
// where it comes from: table, group, row, column, and how it is written.
//
//	<!--ruler/table1; forget fraction 1 %; do nothing; M2 gap; .4-->-0.0011<!--/-->
//
// The last word is text (the cell as it is printed), or value, low or high with a
// number of digits; .4 is value.4. What a paper printed stands in
// <!--printed-->0.89<!--/-->, what a test or a notebook shows in <!--test NAME-->.
var marked = regexp.MustCompile(`(?s)<!--([^/].*?)-->(.*?)<!--/-->`)

func TestEveryNumberOfTheFindingsIsInACommittedTable(t *testing.T) {
	b, err := os.ReadFile("FINDINGS.md")
	if err != nil {
		t.Fatal(err)
	}
	said := string(b)
	now := marked.ReplaceAllStringFunc(said, func(s string) string {
		m := marked.FindStringSubmatch(s)
		if kind := strings.Fields(m[1]); len(kind) > 0 && (kind[0] == "printed" || kind[0] == "test") {
			return s
		}
		v, err := committed(m[1])
		if err != nil {
			t.Errorf("%s: %v", s, err)
			return s
		}
		switch {
		case v == strings.Join(strings.Fields(m[2]), " "): // which may be broken between words
			return s
		case !*update:
			t.Errorf("FINDINGS.md says %s, the table %s: %s", m[2], v, m[1])
		}
		return "<!--" + m[1] + "-->" + v + "<!--/-->"
	})
	if *update && !t.Failed() {
		if err := os.WriteFile("FINDINGS.md", []byte(now), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bare := regexp.MustCompile("(?s)`[^`]*`|\\]\\([^)]*\\)|arXiv [0-9.]+").ReplaceAllString(marked.ReplaceAllString(said, ""), "")
	for i, line := range strings.Split(bare, "\n") {
		if found := regexp.MustCompile(`\d\.\d|\d of \d|\d %`).FindString(line); found != "" && !allowed(line) {
			t.Errorf("line %d: %q stands in no table: %s", i+1, found, line)
		}
	}
}

// allowed are settings, which are no results: a forget fraction, a level.
func allowed(line string) bool {
	rest := regexp.MustCompile(`\b(1|5|10|20|50|95) %`).ReplaceAllString(line, "")
	return !regexp.MustCompile(`\d\.\d|\d of \d|\d %`).MatchString(rest)
}

// committed looks up what a comment names.
func committed(place string) (string, error) {
	part := strings.Split(strings.Join(strings.Fields(place), " "), "; ") // a comment may be broken between words
	if n := len(part); n > 5 {                                            // the group's name has one of its own
		part = append([]string{part[0], strings.Join(part[1:n-3], "; ")}, part[n-3:]...)
	}
	if len(part) == 5 && part[1] == "-" {
		part[1] = ""
	}
	if len(part) != 5 {
		return "", fmt.Errorf("want table; group; row; column; form")
	}
	t, err := paper.Committed(figures.Files, part[0])
	if err != nil {
		return "", err
	}
	c, err := cell(t, part[1], part[2], part[3])
	if err != nil {
		return "", err
	}
	what, digits, numeric := strings.Cut(part[4], ".")
	if !numeric {
		return c.Text, nil
	}
	d, err := strconv.Atoi(digits)
	if err != nil {
		return "", fmt.Errorf("%q digits", digits)
	}
	return number(c, what, d)
}

func number(c report.Cell, what string, digits int) (string, error) {
	if e := c.Estimate; e != nil {
		v := map[string]float64{"": e.Value, "value": e.Value, "low": e.Low, "high": e.High}[what]
		return strconv.FormatFloat(v, 'f', digits, 64), nil
	}
	for _, v := range []*float64{c.Value, c.P} {
		if v != nil && (what == "" || what == "value") {
			return strconv.FormatFloat(*v, 'f', digits, 64), nil
		}
	}
	return "", fmt.Errorf("the cell has no %s", what)
}

// cell is where a row and a column meet; the first of several columns of a name
// is meant, and a row is named by its first cells, "adult, 5 %".
func cell(t *report.Table, group, row, column string) (report.Cell, error) {
	for i, c := range t.Columns {
		if c.Name != column {
			continue
		}
		for _, r := range t.Rows {
			if r.Group == group && len(r.Cells) > i && strings.HasPrefix(names(r)+",", row+",") {
				return r.Cells[i], nil
			}
		}
		return report.Cell{}, fmt.Errorf("no row %q in the group %q", row, group)
	}
	return report.Cell{}, fmt.Errorf("no column %q", column)
}

func names(r report.Row) string {
	var out []string
	for _, c := range r.Cells {
		if c.Text == "" || c.Value != nil || c.Estimate != nil {
			break
		}
		out = append(out, c.Text)
	}
	return strings.Join(out, ", ")
}
