// Descriptions of data sets and of their files, and the list of all sets.

package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Info describes a data set. It is known without reading any file.
type Info struct {
	Name, Title string

	// Task is what is predicted, in a few words.
	Task string

	// Rows and Features are the shape of the Table.
	Rows, Features int

	// Estimated says that Rows and TestRows are estimates: how many records there are is not known
	// before the data are read and prepared, as where cells without counts are left out.
	Estimated bool

	// Classes are the class names in code order. If only the files have them it
	// is nil, and NumClasses is their number.
	Classes    []string
	NumClasses int

	// Shape is channels, height and width of the images of an image set, and
	// TestRows how many of Rows are its published test part. Both are zero for
	// a table.
	Shape    [3]int
	TestRows int

	// Vocabulary is the greatest number of tokens that the records of a text set are made of, 0
	// for others and where it is not known before files are read.
	Vocabulary int

	Licence, Citation, Homepage, Description string

	// Reading lists how the files are read where that is not obvious, the most
	// important first.
	Reading []string

	// Folder is the folder under Dir that holds Files. Two sets can share one.
	Folder string
	Files  []File

	// Embedded sets work without any file; Synthetic ones are generated.
	Embedded, Synthetic bool
}

// ClassCount returns the number of classes.
func (i Info) ClassCount() int { return max(len(i.Classes), i.NumClasses) }

// Published reports whether an address and a hash are known for every required file, so that the
// set can be downloaded. Other sets have to be put into the data folder by hand.
func (i Info) Published() bool {
	return !slices.ContainsFunc(i.Files, func(f File) bool { return (len(f.Sources) == 0 || !f.Known()) && !f.Optional })
}

// Present reports whether the set's required files are in Dir. It does not read them.
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

// File is one published file. Size and SHA256 are of the decompressed bytes, so that a plain file
// and any gzip copy of it verify, unless Compressed is set.
type File struct {
	Name   string
	Size   int64
	SHA256 string

	// MD5 is used if no trusted source states a SHA-256. It detects damage, not
	// manipulation. If neither is known the file is not downloaded: the user puts
	// it into the folder, it is read with a caveat, and SourceFile has its SHA-256.
	MD5 string

	// AtMost bounds the size in bytes if Size is 0, because no trusted source
	// states it.
	AtMost int64

	// Compressed marks a gzip or zip file whose Size and SHA256 are of the compressed
	// bytes, because a trusted source states only these. Only the publisher's own
	// file verifies, neither its plain form nor another compression of it.
	Compressed bool

	// Optional marks a file without which the set can be loaded; see Reading.
	Optional bool

	// Alternates are known copies with other bytes and the same content. They are
	// read like the published file.
	Alternates []Alternate

	Sources []Source

	// Make is a command that makes a file which nobody publishes, in the folder of its set, from the files of the
	// set that the folder is named after; empty: none is known.
	Make string
}

// Alternate is a known copy of a published file. Differs describes how its bytes differ.
type Alternate struct {
	Size            int64
	SHA256, Differs string
}

// Limit returns the greatest number of bytes that the file can have.
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

// Source is one address of a File. If Member is set, the URL is a zip archive and Member the name
// of the file in it. If Gzip is set, the URL is the file in gzip format. If both are set, the URL
// is a tar archive in gzip format.
type Source struct {
	URL, Member string
	Gzip        bool

	// Checked reports whether the URL was fetched for this release and gave the
	// stated SHA-256. If it is false, the address is as the publisher documents it.
	// The hash decides in any case whether the bytes are used.
	Checked bool
}

// set is one data set: its description and its loader.
type set struct {
	info Info
	load func(*loader) (*Table, error)
}

// sets returns every data set in the order of All.
func sets() []set {
	return []set{
		adult(), diabetes130(), breastCancer(), heartDisease(), germanCredit(),
		bankMarketing(), wineQuality(), phoneme(), magic(), electricity(),
		covertype(), higgs(),
		diabetes130Any(), heartDiseaseUCI(),
		twoMoons(), moonsIsland(), blobsDuplicates(), tabularOutliers(), linearFlips(),
	}
}

// All returns every data set: RULER's ten in the paper's order, the two large ones of its Table
// 12, the other variants of these tables, and the generated ones.
func All() []Info {
	all := sets()
	out := make([]Info, len(all))
	for i, s := range all {
		out[i] = s.info
	}
	return out
}

// RULER returns the names of the paper's ten tables in its order.
func RULER() []string {
	return []string{
		"adult", "diabetes130", "breast_cancer", "heart_disease", "german_credit",
		"bank_marketing", "wine_quality", "phoneme", "magic", "electricity",
	}
}

// Lookup returns the named data set, or an error that suggests similar names.
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

// withoutSeparators removes the characters that join the words of a name. It is a variable because
// building the replacer takes longer than a lookup.
var withoutSeparators = strings.NewReplacer("_", "", "-", "", " ", "")

// Similar reports whether the names differ by a typo, or one is part of the other.
func Similar(got, want string) bool {
	plain := func(s string) string { return withoutSeparators.Replace(strings.ToLower(s)) }
	g, w := plain(got), plain(want)
	if min(len(g), len(w)) >= 3 && (strings.Contains(w, g) || strings.Contains(g, w)) {
		return true
	}
	return editDistance(g, w) <= 2
}

// editDistance returns the Levenshtein distance: insertions, deletions and substitutions.
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
