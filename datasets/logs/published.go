// Where the published logs are.

package logs

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/datasets"
)

// PublishedName is the name of the set of published logs, and of its folder in the data folder.
const PublishedName = "tofu_logs"

const (
	tofuCommit  = "bdc209ea7c6cc2e7079ea1afb6468d3ddcc65f8e"
	depthCommit = "fc316398620f79a42d80bc8acc87128081aa01c5"
	depthTable  = "uds_method_results.json"
)

// Published describes TOFU's published logs that ReadTOFU was written for, and the table of the UDS
// study: their addresses, sizes and hashes. It is no set of records to train on.
func Published() datasets.Info {
	info := datasets.Info{
		Name: PublishedName, Title: "TOFU, published evaluation logs", Folder: PublishedName, Task: "logs of language models, no records to train on",
		Licence: "MIT (TOFU), Apache-2.0 (UDS)",
		Citation: "P. Maini et al. (2024), TOFU: A Task of Fictitious Unlearning for LLMs; the table of models of the Unlearning Depth Score " +
			"(gnueaj/unlearning-depth-score)",
		Homepage: "https://github.com/locuslab/tofu",
		Description: "Losses, recalls and answers of Llama-2-7B and Phi-1.5, fine-tuned on all people or without those to forget, question by " +
			"question; and what 152 models score under each metric of the UDS study.",
	}
	for _, f := range tofuFiles {
		info.Files = append(info.Files, datasets.File{Name: f.name + ".json", Size: f.size, SHA256: f.sha256, Sources: []datasets.Source{{
			URL: fmt.Sprintf("https://raw.githubusercontent.com/locuslab/tofu/%s/data/ft_epoch5_%s_%s/eval_results/ds_size300/eval_log_aggregated.json",
				tofuCommit, f.rate, f.name),
		}}})
	}
	info.Files = append(info.Files, datasets.File{Name: depthTable, Size: 185380,
		SHA256: "e628c2293678b9dc3e7a2e3bb10da8b2a1fc2e891d3152bd6b2853563fe08145",
		Sources: []datasets.Source{{
			URL: "https://raw.githubusercontent.com/gnueaj/unlearning-depth-score/" + depthCommit + "/docs/data/method_results.json",
		}}})
	return info
}

// tofuFiles are TOFU's logs, by model, the people that it was trained on, and weight decay.
var tofuFiles = []struct {
	name, rate string
	size       int64
	sha256     string
}{
	{"llama2-7b_full_wd0", "lr1e-05", 1024877, "60d454469bd8554602ac35ce9efa3338bd063093a6ac069f87b0128d5422e874"},
	{"llama2-7b_full_wd0.01", "lr1e-05", 1024979, "19bb2f1126ceda46507dbcfeda75598e3a0712d86b4b97adb4f1151d424e4a3f"},
	{"llama2-7b_retain90_wd0", "lr1e-05", 1029866, "bef18f9a279106e91fa85c97b0b08506f14a3b4aef8278703aa1cb33dbe5472b"},
	{"llama2-7b_retain90_wd0.01", "lr1e-05", 1030130, "3f41716c749fd79e02521791c4a1a4d679106cd38eae88f1592c3e00c683a99d"},
	{"llama2-7b_retain95_wd0", "lr1e-05", 889264, "a457fd8c0ff97a6d34a6b0c2ab47736ccde3d4c6e421cc275b04df9af491b853"},
	{"llama2-7b_retain99_wd0", "lr1e-05", 665065, "4637d10974a8bec93601a807d805ee49a0743204720444c2a6ff769ea44d9e29"},
	{"phi_full_wd0", "lr2e-05", 1556872, "04a53bcec3655676c42c9ec5d0e8d6c0196b880efebe9304194ab9395ecb96eb"},
	{"phi_full_wd0.01", "lr2e-05", 1558548, "2b1a4b84028f900ea3f9258ad1d97e6a754b6a64e210c5fde65d78f796017601"},
	{"phi_retain90_wd0", "lr2e-05", 1576462, "05b88dfb5b6967842a224aa5f408b5b903cf130e218521371619528eadc425cd"},
	{"phi_retain90_wd0.01", "lr2e-05", 1575697, "d7eb9b6f45533c4614e445d53e32fc22ef4b693235d1706c9763896e547caf58"},
}

// LoadTOFU reads a log of Published from the data folder, for example "phi_full_wd0", and returns the
// SHA-256 of its text. It refuses bytes that are not the published ones; without the file the error
// is a datasets.ErrMissing that says where it comes from.
func LoadTOFU(ctx context.Context, name string) (*TOFU, string, error) {
	return loadPublished(ctx, name+".json", parseTOFU)
}

// LoadDepthStudy reads the table of the UDS study as LoadTOFU reads a log.
func LoadDepthStudy(ctx context.Context) (*DepthStudy, string, error) {
	return loadPublished(ctx, depthTable, parseDepthStudy)
}

func loadPublished[T any](ctx context.Context, name string, parse func([]byte) (*T, error)) (*T, string, error) {
	path, b, source, err := datasets.ReadFile(ctx, Published(), name)
	if err != nil {
		return nil, "", fmt.Errorf("published logs of TOFU and UDS (lethe data get %s): %w", PublishedName, err)
	}
	out, err := parse(b)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return out, source.SHA256, nil
}
