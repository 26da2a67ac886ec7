package logs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
)

func TestPublishedLogsAreDescribed(t *testing.T) {
	info := Published()
	if !info.Published() || info.Folder != PublishedName || info.Licence == "" || info.Citation == "" || info.Homepage == "" || len(info.Files) != 11 {
		t.Errorf("%+v", info)
	}
	seen := map[string]bool{}
	for _, f := range info.Files {
		if len(f.SHA256) != 64 || f.Size < 100_000 || len(f.Sources) != 1 || seen[f.SHA256] || seen[f.Sources[0].URL] {
			t.Errorf("%+v", f)
		}
		seen[f.SHA256], seen[f.Sources[0].URL] = true, true
	}
}

func TestAMissingOrChangedLogIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	_, _, err := LoadTOFU(t.Context(), "phi_full_wd0")
	refuses(t, err, "lethe data get tofu_logs", filepath.Join(dir, "tofu_logs", "phi_full_wd0.json"), "lethe data get")
	if !errors.Is(err, datasets.ErrMissing) {
		t.Errorf("%v", err)
	}
	if _, _, err := LoadDepthStudy(t.Context()); !errors.Is(err, datasets.ErrMissing) {
		t.Errorf("%v", err)
	}
	_, _, err = LoadTOFU(t.Context(), "phi_full_wd1")
	refuses(t, err, "phi_full_wd1")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "tofu_logs"), 0o755),
		os.WriteFile(filepath.Join(dir, "tofu_logs", "phi_full_wd0.json"), text(t, log(2)), 0o644)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := LoadTOFU(t.Context(), "phi_full_wd0"); !errors.Is(err, datasets.ErrMismatch) {
		t.Errorf("other bytes: %v", err)
	}
}

// The files of the data folder are those that the publishers have, byte for byte.
func TestPublishedLogsAreThePublishers(t *testing.T) {
	datatest.Dir(t)
	if !Published().Present() {
		t.Skip("no published logs in the data folder")
	}
	states, err := datasets.Check(t.Context(), Published())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		if !s.OK() {
			t.Errorf("%+v", s)
		}
	}
	l, hash, err := LoadTOFU(t.Context(), "phi_full_wd0")
	if err != nil || l.Forget.Questions() != 300 || hash != tofuFiles[6].sha256 {
		t.Errorf("%s, %v", hash, err)
	}
	s, hash, err := LoadDepthStudy(t.Context())
	if err != nil || len(s.Models) != 152 || len(hash) != 64 {
		t.Errorf("%s, %v", hash, err)
	}
}
