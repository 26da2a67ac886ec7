// Tests of precision.go.

package engine

import (
	"strings"
	"testing"
)

func TestAPrecisionIsPartOfTheSpec(t *testing.T) {
	t.Setenv(EnvEngine, "xla:cpu")
	for _, c := range []struct{ spec, name, want string }{
		{"xla:cuda", "", "xla:cuda"}, {"xla:cuda", "tf32", "xla:cuda,tf32"}, {"", "bf16", "xla:cpu,bf16"}, {"", "", ""},
		{"xla:cuda,tf32", "tf32", "xla:cuda,tf32"}, {"lethe", "float32", "lethe,float32"},
	} {
		if got, err := WithPrecision(c.spec, c.name); err != nil || got != c.want {
			t.Errorf("%q with %q: %q, %v", c.spec, c.name, got, err)
		}
	}
	for _, c := range [][2]string{{"xla", "fp16"}, {"xla:cuda,tf32", "bf16"}} {
		if got, err := WithPrecision(c[0], c[1]); err == nil {
			t.Errorf("%v: %q", c, got)
		}
	}
}

func TestOnlyXLAHasOtherPrecisions(t *testing.T) {
	t.Setenv(EnvEngine, "")
	for spec, want := range map[string]string{
		"lethe,tf32": "float32 only", "go,bf16": "float32 only", ",tf32": "float32 only", "auto,bf16": "float32 only",
		"lethe,double": "is no precision", "xla:cuda,": "is no precision",
	} {
		e, err := Open(spec)
		if err == nil {
			e.Close()
			t.Errorf("%s opened", spec)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q does not say %q", spec, err, want)
		}
	}
}

// The names of engines are part of store keys and do not change with the default precision.
func TestFloat32IsNotPartOfTheName(t *testing.T) {
	plain, err := Open("lethe")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	named, err := Open("lethe,float32")
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	if plain.Info().String() != named.Info().String() || named.Precision() != Float32 {
		t.Errorf("%s and %s", plain.Info(), named.Info())
	}
	if Float32.suffix() != "" || TF32.suffix() != ", tf32" || BF16.suffix() != ", bf16" {
		t.Error("another suffix would be another key")
	}
}

func TestTheDefaultIsLethesOwnEngine(t *testing.T) {
	t.Setenv(EnvEngine, "")
	for _, spec := range []string{"", "auto"} {
		e, err := Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if e.Info().Kind != "lethe" {
			t.Errorf("%q is %s", spec, e)
		}
	}
}
