package command

import (
	"maps"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestANameIsGivenOnce(t *testing.T) {
	for _, c := range []struct {
		args  []string
		want  map[string]string
		words string
	}{
		{[]string{"--m", "a=1,b=2=3", "--m", "c=x y"}, map[string]string{"a": "1", "b": "2=3", "c": "x y"}, ""},
		{[]string{"--m", `"a=1,2",b=3`}, map[string]string{"a": "1,2", "b": "3"}, ""},
		{[]string{"--m", "a=1,a=2"}, nil, "a is named twice, for 1 and 2"},
		{[]string{"--m", "a=1", "--m", "a=1"}, nil, "a is named twice"},
		{[]string{"--m", "a"}, nil, "a is no pair NAME=VALUE"},
		{[]string{"--m", "=1"}, nil, "no pair NAME=VALUE"},
		{[]string{"--m", ""}, nil, "a pair NAME=VALUE is expected"},
	} {
		var got map[string]string
		f := pflag.NewFlagSet("test", pflag.ContinueOnError)
		pairsFlag(f, &got, "m", "")
		err := f.Parse(c.args)
		if c.words != "" {
			if err == nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%v: %v", c.args, err)
			}
			continue
		}
		if err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%v: %v, %v", c.args, got, err)
		}
	}
}
