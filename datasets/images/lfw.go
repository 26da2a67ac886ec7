// Labeled Faces in the Wild: description and loader.

package images

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/files"
)

// lfw returns the description and the loader of the people of Labeled Faces in the Wild of whom
// there are at least ten photographs: 158 people, 4,324 images, as RULER takes them. The task is
// gender; the column "identity" names the person. There are no parts: all images are in Train, by
// name and number.
//
// The images are read from the folder lfw of the data folder, which holds a folder per person, as
// lfw.tgz unpacks to:
//
//	lfw/George_W_Bush/George_W_Bush_0001.jpg
//	lfw/male_names.txt
//	lfw/female_names.txt
//
// The folder of another version (lfw_funneled, lfw-deepfunneled) may lie inside it as it is.
//
// What is known of the files: layout, size and crop are those that scikit-learn 1.9.1 reads
// (sklearn/datasets/_lfw.py). The gender files are those of M. Afifi and A. Abdelhamed (2017),
// arXiv:1706.04277, made by machine and corrected by hand; that they hold the name of an image per
// line is known from a program that reads them. No source states a checksum of the single files,
// and the loader was tested on small folders in the same format only.
func lfw() set {
	return set{
		info: datasets.Info{
			Name: "lfw", Title: "Labeled Faces in the Wild, people with ten images", Folder: "lfw", Task: "gender",
			Rows: 4324, Features: 3 * lfwSide * lfwSide, Shape: [3]int{3, lfwSide, lfwSide}, Classes: []string{"male", "female"},
			Licence: "research use, with citation",
			Citation: "G. B. Huang, M. Ramesh, T. Berg, E. Learned-Miller (2007), Labeled Faces in the Wild: a database for studying face " +
				"recognition in unconstrained environments, University of Massachusetts Amherst, TR 07-49; gender: M. Afifi, " +
				"A. Abdelhamed (2017), AFIF4: deep gender classification based on AdaBoost-based fusion of isolated facial features " +
				"and foggy faces, arXiv:1706.04277",
			Homepage:    "http://vis-www.cs.umass.edu/lfw/",
			Description: "Photographs of 158 people from the news, ten or more each, in colour, cut and scaled to 64 x 64: for forgetting a person.",
			Reading: []string{
				"Put a folder per person into the folder lfw, as lfw.tgz has them, and male_names.txt and female_names.txt beside them.",
				"Cut: lines 70 to 194, as scikit-learn does, and as many columns around the middle, 63 to 187, because networks take " +
					"square images; then scaled to 64 x 64. RULER does not say how it cuts and scales.",
				"No checksum of the single files is known: whether they are the published ones is not checked.",
			},
			Files: []datasets.File{
				{Name: genderFiles[0], AtMost: maxNames},
				{Name: genderFiles[1], AtMost: maxNames},
			},
		},
		caveat: "No checksum of the single files is known: whether they are the published ones was not checked.",
		open:   func(r *loader) (*content, error) { return openLFW(r, 158) },
	}
}

const (
	lfwSize     = 250     // side of a published image
	lfwTop      = 70      // first line of the cut
	lfwLeft     = 63      // its first column
	lfwCut      = 125     // side of the cut
	lfwSide     = 64      // side of the scaled cut
	lfwAtLeast  = 10      // images of a person who is kept
	maxPeople   = 1 << 16 // folders
	maxOfPerson = 1 << 12 // images in one
	maxNames    = 4 << 20 // bytes of a list of names
)

// genderFiles are the lists of names, in the order of the classes.
var genderFiles = [2]string{"male_names.txt", "female_names.txt"}

// lfwFolders are the names that the published archives unpack to.
var lfwFolders = []string{"lfw", "lfw_funneled", "lfw-deepfunneled"}

// lfwPerson is a person with their images.
type lfwPerson struct {
	name   string
	images []string // names of the files, by number
}

// openLFW lists the folder and reads the lists of names. kept is the expected number of people
// with enough images.
func openLFW(r *loader, kept int) (*content, error) {
	genders, err := r.genders()
	if err != nil {
		return nil, err
	}
	folder, err := lfwFolder(r.info)
	if err != nil {
		return nil, err
	}
	people, known, err := listLFW(folder)
	if err != nil {
		return nil, err
	}
	if err := genders.check(folder, known); err != nil {
		return nil, err
	}
	if len(people) != kept {
		return nil, fmt.Errorf("datasets: %s: %d people have at least %d images, expected %d", folder, len(people), lfwAtLeast, kept)
	}
	identity := datasets.Column{Name: IdentityColumn, Kind: datasets.Category}
	var paths []string
	var labels []int
	for k, p := range people {
		y, listed := genders[p.name]
		if !listed {
			return nil, fmt.Errorf("datasets: %s: %s is neither in %s nor in %s", folder, p.name, genderFiles[0], genderFiles[1])
		}
		identity.Values = append(identity.Values, p.name)
		for _, image := range p.images {
			paths = append(paths, filepath.Join(folder, p.name, image))
			labels, identity.Codes = append(labels, y.class), append(identity.Codes, int32(k))
		}
	}
	return &content{columns: []datasets.Column{identity}, train: part{rows: len(paths), read: func(row int, pixels []byte) (int, int, error) {
		return labels[row], 0, readLFW(paths[row], pixels)
	}}}, nil
}

// lfwFolder returns the folder with the folders of the people.
func lfwFolder(info datasets.Info) (string, error) {
	dir, err := datasets.Dir()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, info.Folder)
	var found []string
	for _, name := range lfwFolders {
		if i, err := os.Stat(filepath.Join(folder, name)); err == nil && i.IsDir() {
			found = append(found, filepath.Join(folder, name))
		}
	}
	switch {
	case len(found) > 1:
		return "", fmt.Errorf("datasets: %s: two versions of the images, in %s; keep one", folder, strings.Join(found, " and "))
	case len(found) == 1:
		return found[0], nil
	}
	return folder, nil
}

// listLFW returns the people with enough images, by name, and the names of all.
func listLFW(folder string) (people []lfwPerson, known map[string]bool, err error) {
	list, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("datasets: %s: %w; put the folders of the people there, as lfw.tgz has them; %s names the data folder",
			folder, datasets.ErrMissing, datasets.EnvDir)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("datasets: %w", err)
	}
	if len(list) > maxPeople {
		return nil, nil, fmt.Errorf("datasets: %s: %d entries, at most %d are read", folder, len(list), maxPeople)
	}
	known = map[string]bool{}
	for _, e := range list {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		p, err := listPerson(folder, e.Name())
		if err != nil {
			return nil, nil, err
		}
		if known[p.name] = true; len(p.images) >= lfwAtLeast {
			people = append(people, p)
		}
	}
	if len(known) == 0 {
		return nil, nil, fmt.Errorf("datasets: %s: %w; there is no folder of a person in it; %s names the data folder",
			folder, datasets.ErrMissing, datasets.EnvDir)
	}
	return people, known, nil
}

// listPerson returns a person with their images. Any other file in the folder is an error, except
// hidden ones.
func listPerson(folder, name string) (p lfwPerson, err error) {
	list, err := os.ReadDir(filepath.Join(folder, name))
	if err != nil {
		return p, fmt.Errorf("datasets: %w", err)
	}
	p.name = name
	for _, e := range list {
		file := e.Name()
		if strings.HasPrefix(file, ".") || file == "Thumbs.db" || file == "desktop.ini" {
			continue
		}
		if who, numbered := personOfImage(file); !numbered || who != name {
			return p, fmt.Errorf("datasets: %s: expected images %s_0001.jpg and so on", filepath.Join(folder, name, file), name)
		}
		if p.images = append(p.images, file); len(p.images) > maxOfPerson {
			return p, fmt.Errorf("datasets: %s: more than %d images", filepath.Join(folder, name), maxOfPerson)
		}
	}
	return p, nil
}

// personOfImage returns the person that the name of an image begins with, and whether a number of
// four digits and .jpg follow.
func personOfImage(file string) (name string, numbered bool) {
	stem, jpg := strings.CutSuffix(file, ".jpg")
	if !jpg || len(stem) < 6 || stem[len(stem)-5] != '_' {
		return "", false
	}
	for _, digit := range stem[len(stem)-4:] {
		if digit < '0' || digit > '9' {
			return "", false
		}
	}
	return stem[:len(stem)-5], true
}

// genderLine is where a person's gender was read.
type genderLine struct {
	class, line int
	path        string
}

// genderLists are the people of both lists of names.
type genderLists map[string]genderLine

// genders reads both lists of names. Nobody is in both.
func (r *loader) genders() (genderLists, error) {
	out := genderLists{}
	for class, file := range genderFiles {
		path, b, err := r.file(file)
		if err != nil {
			return nil, err
		}
		err = readNames(b, func(name string, line int) error {
			before, twice := out[name]
			if twice && before.class != class {
				return fmt.Errorf("%s is in %s too, line %d", name, before.path, before.line)
			}
			if !twice {
				out[name] = genderLine{class, line, path}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("datasets: %s:%w", path, err)
		}
	}
	return out, nil
}

// check returns an error for the first listed person who has no folder.
func (l genderLists) check(folder string, known map[string]bool) error {
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if at := l[name]; !known[name] {
			return fmt.Errorf("datasets: %s:%d: there is no folder of %q in %s", at.path, at.line, name, folder)
		}
	}
	return nil
}

// readNames calls each with the person on every line of a list: a line is the name of an image,
// or of the folder of a person. Empty lines are passed over. An error begins with the line.
func readNames(b []byte, each func(name string, line int) error) error {
	b, err := files.TrimBOM(b)
	if err != nil {
		return fmt.Errorf("1: %w", err)
	}
	for k, text := range bytes.Split(b, []byte("\n")) {
		line := strings.TrimSpace(string(text))
		if line == "" {
			continue
		}
		name, numbered := personOfImage(line)
		if !numbered {
			name = line
		}
		if !utf8.ValidString(line) || strings.ContainsAny(name, "/\\ \t,;") || !numbered && strings.Contains(name, ".") {
			return fmt.Errorf("%d: %q is not the name of an image, such as George_W_Bush_0001.jpg", k+1, clipText(line))
		}
		if err := each(name, k+1); err != nil {
			return fmt.Errorf("%d: %w", k+1, err)
		}
	}
	return nil
}

// clipText returns the beginning of a text.
func clipText(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// readLFW reads one image, cuts the face and scales it.
func readLFW(path string, pixels []byte) error {
	b, err := files.Read(path, maxJPEG)
	if err != nil {
		return err
	}
	whole := make([]byte, 3*lfwSize*lfwSize)
	if err := decodeJPEG(whole, b, [3]int{3, lfwSize, lfwSize}); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	cut := make([]byte, 0, lfwCut*lfwCut)
	for ch := range 3 {
		cut = cut[:0]
		for y := range lfwCut {
			start := (ch*lfwSize+lfwTop+y)*lfwSize + lfwLeft
			cut = append(cut, whole[start:start+lfwCut]...)
		}
		for k, v := range ScaleChannel(slices.Clone(cut), lfwCut, lfwSide) {
			pixels[ch*lfwSide*lfwSide+k] = roundToByte(v)
		}
	}
	return nil
}
