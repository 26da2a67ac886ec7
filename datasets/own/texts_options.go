// Options of ReadTexts.

package own

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
)

// textSettings are the resolved options of ReadTexts. They are part of the key.
type textSettings struct {
	Column       string
	Group        string `json:",omitempty"`
	Tokens       int    `json:",omitempty"` // of a window, 0: not yet known
	MaxDocuments int    `json:",omitempty"`
	DropEmpty    bool   `json:",omitempty"`
}

// textOption returns an option that changes the settings of texts.
func textOption(change func(s *textSettings) error) TableOption {
	return func(s *tableSettings) error {
		if s.Texts == nil {
			s.Texts = &textSettings{}
		}
		return change(s.Texts)
	}
}

// Column names the column of the texts.
func Column(name string) TableOption {
	return textOption(func(s *textSettings) error {
		if name == "" || s.Column != "" && s.Column != name {
			return fmt.Errorf("the column of the texts is %q and %q: one column has them", s.Column, name)
		}
		s.Column = name
		return nil
	})
}

// Tokens sets the number of tokens of a window, the two that mark its ends among them. Without it
// windows hold most of the texts whole, with 16 to 64 tokens.
func Tokens(n int) TableOption {
	return textOption(func(s *textSettings) error {
		if err := (texts.Preparation{Tokens: n}).Check(); err != nil || n == 0 {
			return fmt.Errorf("Tokens(%d): a window has 3 to 512 tokens", n)
		}
		s.Tokens = n
		return nil
	})
}

// MaxDocuments keeps a random part of the texts, equal texts together: at most n.
func MaxDocuments(n int) TableOption {
	return textOption(func(s *textSettings) error {
		if n < 1 {
			return fmt.Errorf("MaxDocuments(%d): at least one text is needed", n)
		}
		s.MaxDocuments = n
		return nil
	})
}

// DropEmpty leaves out the rows without a text, or with one without a word. Without it they are an error.
func DropEmpty() TableOption {
	return textOption(func(s *textSettings) error { s.DropEmpty = true; return nil })
}

// textColumn returns the position of the column of the texts, -1 if the records are no texts.
func (s *tableSettings) textColumn(names []string) int {
	if s.Texts == nil {
		return -1
	}
	return slices.Index(names, s.Texts.Column)
}

// checkTextColumns returns an error for a column of texts or a group that cannot be one.
func (s *tableSettings) checkTextColumns(columns []string) error {
	if name := s.Texts.Column; name != "" && !slices.Contains(columns, name) {
		return datasets.UnknownColumn(name, columns)
	}
	for _, name := range []string{texts.ColumnDocument, texts.ColumnText} {
		if slices.Contains(columns, name) && s.Forced[name].What != forcedIgnored && s.Texts.Column != name {
			return fmt.Errorf("a column is called %q, the name of one that is added to every set of texts; rename it, or say Ignore(%q)", name, name)
		}
	}
	switch c := s.Texts.Column; {
	case c == "":
		return fmt.Errorf("no column of texts is named: say Column(column), with one of %s", firstOf(columns))
	case c == s.Target:
		return fmt.Errorf("the column %q is named for the texts and as the target; name two columns", c)
	case c == s.Texts.Group:
		return fmt.Errorf("the column %q is named for the texts and as the group; name two columns", c)
	case s.Forced[c].What != "":
		return fmt.Errorf("the column %q cannot be that of the texts and %s", c, s.Forced[c].What)
	}
	return nil
}
