// A BERT that begins with published weights.

package text

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// Pretrained is a BERT whose initial weights are those of a safetensors file (BERT.ReadWeights);
// what the file lacks, such as the head for masked language modelling, is drawn at random. The
// seed of a training draws that part alone, and "random weights" are these initial weights.
type Pretrained struct {
	BERT
	SHA256 string `json:"begins_with"` // of the file, in hex: results are stored under it
	Path   string `json:"-"`           // of the file
}

var (
	_ model.Pretrained     = Pretrained{}
	_ model.StateDictNamer = Pretrained{}
	_ model.Network        = Pretrained{}
)

// maxWeightsFile is the largest file of weights that is read: BERT-large has 1.3 GB.
const maxWeightsFile int64 = 4 << 30

// FileSHA256 returns the SHA-256 of a file in hex, for Pretrained.
func FileSHA256(path string) (string, error) {
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxWeightsFile+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if n > maxWeightsFile {
		return "", fmt.Errorf("%s: the file has more than %d bytes", path, maxWeightsFile)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// weightsFiles are the files that were read, by path and SHA-256. A file is read once: every
// training of a study begins with it.
var weightsFiles sync.Map // weightsID -> func() (*safetensors.File, error)

type weightsID struct{ path, sha256 string }

// file returns the file's tensors after comparing its SHA-256.
func (m Pretrained) file() (*safetensors.File, error) {
	id := weightsID{m.Path, m.SHA256}
	read, _ := weightsFiles.LoadOrStore(id, sync.OnceValues(func() (*safetensors.File, error) { return readWeightsFile(id) }))
	f, err := read.(func() (*safetensors.File, error))()
	if err != nil {
		weightsFiles.Delete(id) // the file may come
	}
	return f, err
}

func readWeightsFile(id weightsID) (*safetensors.File, error) {
	got, err := FileSHA256(id.path)
	if err != nil {
		return nil, err
	}
	if got != id.sha256 {
		return nil, fmt.Errorf("%s: the file has the SHA-256 %s, expected %s", id.path, got, id.sha256)
	}
	return safetensors.Read(id.path)
}

// Load implements model.Pretrained. It reads the file, or finds it read; notes are those of
// BERT.ReadWeights.
func (m Pretrained) Load(drawn nn.Params) (weights nn.Params, notes []string, err error) {
	f, err := m.file()
	if err != nil {
		return nil, nil, err
	}
	weights, notes, err = m.BERT.ReadWeights(f, drawn)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", m.Path, err)
	}
	return weights, notes, nil
}

// Name implements model.Architecture.
func (Pretrained) Name() string { return "bert-pretrained" }

// ForData implements model.Network.
func (m Pretrained) ForData(s model.Sizes) (model.Architecture, error) {
	if _, err := m.BERT.ForData(s); err != nil {
		return nil, err
	}
	return m, nil
}
