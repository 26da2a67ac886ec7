// The folder of a report: its name, and whether it holds the report of other data.

package comparison

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/own"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
)

// DataTitle is what a title calls data: a user's file by its own name, without its extension; other data as Data.Name does.
func DataTitle(d lab.Data) string {
	if _, file := d.(lab.KeyedData); file {
		if info, err := d.Info(); err == nil && own.Readable(info.Title) != "" {
			return own.Readable(info.Title)
		}
	}
	return d.Name()
}

// ErrOtherReport is the error for a folder that holds the report of other data.
var ErrOtherReport = errors.New("holds the report of other data")

// maxReport bounds the bytes of a report.json that is read.
const maxReport = 1 << 30

// CheckFolder returns an ErrOtherReport if a folder holds the report of other data than these: of other files, by
// the hashes of their bytes, or of files of other content. A report that does not say of which files it is, as of the first version, is one of the
// data whose name it has. It is no error if the folder holds no report.
func CheckFolder(folder string, d lab.Data) error {
	there, err := reportIn(folder)
	if err != nil || there == nil {
		return err
	}
	same := there.Data == d.Name()
	if there.Sources != nil {
		same = slices.Equal(there.Sources, jsonSources(d)) && (len(there.Sources) > 0 || there.Data == DataTitle(d))
	}
	if !same {
		return fmt.Errorf("%s %w: %q", folder, ErrOtherReport, there.Question)
	}
	return nil
}

// FolderFor returns the folder of a study's report where the user names none: NAME-report, or, if that holds the report of
// another question on the same data, one of its own, which the same study finds again. taken says which
// question that is; "" if there is none. Methods and seeds do not count: more of them extend a report.
func FolderFor(s lab.Setting) (folder, taken string, err error) {
	folder = DataTitle(s.Data) + "-report"
	if err := CheckFolder(folder, s.Data); err != nil {
		return "", "", err
	}
	there, err := reportIn(folder)
	if err != nil || there == nil {
		return folder, "", err
	}
	if there.Study == studyKey(s) || there.Study == "" && there.Forget == s.ForgetSetName() { // "": of an earlier version
		return folder, "", nil
	}
	what := []rune(own.Readable(s.ForgetSetName()))
	folder += "-" + string(what[:min(len(what), longestForgetName)]) + "-" + studyKey(s)
	return folder, there.Question, CheckFolder(folder, s.Data)
}

// longestForgetName bounds what the name of a forget set adds to that of a folder.
const longestForgetName = 40

// studyKey is equal where two studies have the same data, read alike, the same records to forget, network and training.
func studyKey(s lab.Setting) string {
	data := ""
	if keyed, is := s.Data.(lab.KeyedData); is {
		data = keyed.Key()
	} else if s.Data != nil { // nil: the default
		data = s.Data.Name()
	}
	s.Data = lab.Table{}
	return store.ContentHash([]any{data, lab.ModelsKey(s)})[:8]
}

// reportIn reads the report in a folder; nil: there is none.
func reportIn(folder string) (*jsonResult, error) {
	path := filepath.Join(folder, "report.json")
	b, err := files.Read(path, maxReport)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var there jsonResult
	if err := json.Unmarshal(b, &there); err != nil {
		return nil, fmt.Errorf("%s is no report: %w", path, err)
	}
	return &there, nil
}

// jsonSource is a file of the data.
type jsonSource struct {
	SHA256 string `json:"sha256"`
}

// jsonSources are the files of the user's own data, none of others.
func jsonSources(d lab.Data) []jsonSource {
	out := []jsonSource{}
	if s, is := d.(interface{ Sources() []datasets.SourceFile }); is {
		for _, f := range s.Sources() {
			out = append(out, jsonSource{f.SHA256})
		}
	}
	return out
}
