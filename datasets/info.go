package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Info is what is known about a data set before any of its files is read.
type Info struct {
	Name, Title string

	// Task says in a few words what is predicted from what.
	Task string

	// Rows and Features are the shape of the Table.
	Rows, Features int

	// Classes are the class names in code order; nil where only the files have
	// them, which NumClasses then counts.
	Classes    []string
	NumClasses int

	// Shape is channels, height and width of the images of an image set, and
	// TestRows how many of Rows are its published test part. Both are zero for
	// a table.
	Shape    [3]int
	TestRows int

	Licence, Citation, Homepage, Description string

	// Reading lists, numbered in the order of importance, where the published
	// experiments read the files in a way one would not guess.
	Reading []string

	// Folder is the folder under Dir that holds Files. Two sets can share one.
	Folder string
	Files  []File

	// Embedded sets work without any file; Synthetic ones are generated.
	Embedded, Synthetic bool
}

// ClassCount returns the number of classes.
func (i Info) ClassCount() int { return max(len(i.Classes), i.NumClasses) }

// Published reports whether an address and a hash are known of every file that is
// needed, so that the set can be downloaded; others have to be put there by hand.
func (i Info) Published() bool {
	return !slices.ContainsFunc(i.Files, func(f File) bool { return (len(f.Sources) == 0 || !f.Known()) && !f.Optional })
}

// Present looks for the set's files in Dir, without reading them.
func (i Info) Present() bool {
	dir, err := Dir()
	return err == nil && !slices.ContainsFunc(i.Files, func(f File) bool {
		path := filepath.Join(dir, i.Folder, f.Name)
		_, plain := os.Stat(path)
		_, packed := os.Stat(path + ".gz")
		return plain != nil && packed != nil && !f.Optional
	})
}

// Size returns the total number of bytes of the published files.
func (i Info) Size() int64 {
	var total int64
	for _, f := range i.Files {
		total += f.Size
	}
	return total
}

// File is one published file. Size and SHA256 are of the decompressed bytes, so
// that a publisher's plain file and any gzip copy of it both verify, unless
// Compressed says otherwise.
type File struct {
	Name   string
	Size   int64
	SHA256 string

	// MD5 stands in for a SHA-256 that nobody to be trusted states. It guards
	// against damage, not against somebody who means to deceive. Where neither
	// is known the file is not downloaded: it has to be put there by hand, is
	// read with a caveat, and its SHA-256 as found is in SourceFile.
	MD5 string

	// AtMost bounds a file whose Size is 0, because nobody to be trusted says
	// how long it is.
	AtMost int64

	// Compressed marks a compressed file (gzip or zip) whose Size and SHA256 are of the bytes as
	// the publisher compressed them, because only that hash is known from
	// somebody to be trusted. Only that very file verifies: neither its plain
	// form nor another compression of it does.
	Compressed bool

	// Optional marks a file that the set loads without, as its Reading says.
	Optional bool

	// Alternates are copies that go around with other bytes and the same content.
	// They are read as the published file is.
	Alternates []Alternate

	Sources []Source
}

// Alternate is a copy of a published file whose bytes differ as Differs says.
type Alternate struct {
	Size            int64
	SHA256, Differs string
}

// Limit is the greatest number of bytes that the file can have.
func (f File) Limit() int64 {
	limit := f.AtMost
	if f.Size > 0 {
		limit = f.Size
	}
	for _, t := range f.Alternates {
		limit = max(limit, t.Size)
	}
	return limit
}

// Source is one place to download a File from. When Member is set the URL is a
// zip archive and Member the file's name in it; when Gzip is set the URL gives
// the file in gzip's format; when both are, a tar archive in gzip's format.
type Source struct {
	URL, Member string
	Gzip        bool

	// Checked says whether the makers of this release fetched the URL and found
	// the stated SHA-256. Where it is false the address is the publisher's as
	// documented, and the hash still decides whether the bytes are used.
	Checked bool
}

// set is what one data set's file contributes: what it is, and how to make it.
type set struct {
	info Info
	load func(*loader) (*Table, error)
}

// sets lists every data set in the order that All reports.
func sets() []set {
	return []set{
		adult(), diabetes130(), breastCancer(), heartDisease(), germanCredit(),
		bankMarketing(), wineQuality(), phoneme(), magic(), electricity(),
		covertype(), higgs(),
		diabetes130Any(), heartDiseaseUCI(),
		twoMoons(), moonsIsland(), blobsDuplicates(), tabularOutliers(), linearFlips(),
	}
}

// All lists every data set: RULER's ten in the paper's order, then the two large
// ones of its Table 12, then the other readings of the ten's files, then the
// generated ones.
func All() []Info {
	all := sets()
	out := make([]Info, len(all))
	for i, s := range all {
		out[i] = s.info
	}
	return out
}

// RULER returns the names of the paper's ten tabular data sets in its order.
func RULER() []string {
	return []string{
		"adult", "diabetes130", "breast_cancer", "heart_disease", "german_credit",
		"bank_marketing", "wine_quality", "phoneme", "magic", "electricity",
	}
}

// Lookup returns the named data set, or an error that suggests the names close
// to the one given.
func Lookup(name string) (Info, error) {
	s, err := findSet(name)
	return s.info, err
}

func findSet(name string) (set, error) {
	for _, s := range sets() {
		if s.info.Name == name {
			return s, nil
		}
	}
	_, err := LookupIn(All(), name)
	return set{}, err
}

// LookupIn is Lookup in any list of data sets.
func LookupIn(all []Info, name string) (Info, error) {
	var names, near []string
	for _, i := range all {
		if i.Name == name {
			return i, nil
		}
		names = append(names, i.Name)
		if Similar(name, i.Name) {
			near = append(near, i.Name)
		}
	}
	return Info{}, unknownNameError(name, near, names)
}

func unknownNameError(name string, near, names []string) error {
	if len(near) > 0 {
		return fmt.Errorf("datasets: no data set is called %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return fmt.Errorf("datasets: no data set is called %q; there are %s", name, strings.Join(names, ", "))
}

// withoutSeparators leaves out what joins the words of a name. Making it takes longer than a lookup.
var withoutSeparators = strings.NewReplacer("_", "", "-", "", " ", "")

// Similar reports whether a typo separates the two names, or one is part of the other.
func Similar(got, want string) bool {
	plain := func(s string) string { return withoutSeparators.Replace(strings.ToLower(s)) }
	g, w := plain(got), plain(want)
	if len(g) >= 3 && (strings.Contains(w, g) || strings.Contains(g, w)) {
		return true
	}
	return editDistance(g, w) <= 2
}

// editDistance is Levenshtein's: insertions, deletions and substitutions.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = slices.Min([]int{cost, row[j+1] + 1, row[j] + 1})
		}
	}
	return row[len(b)]
}
