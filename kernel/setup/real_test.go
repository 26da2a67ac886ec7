package setup

import (
	"context"
	"os"
	"testing"
	"time"
)

func TestTheRealThing(t *testing.T) {
	began := time.Now()
	r, err := Prepare(context.Background(), Options{Out: os.Stderr})
	if err != nil {
		t.Skip("this machine cannot be set up: ", err)
	}
	t.Logf("%v", time.Since(began))
	for _, code := range []string{"import \"fmt\"\n%%\nfmt.Println(\"hello\")", "import \"fmt\"\nimport \"github.com/lethe-ml/lethe/lib/engine\"\n%%\ne, err := engine.Open(\"go\")\nfmt.Println(e.Info(), err)"} {
		c, err := r.RunCell(t.Context(), r.Kernel, code)
		t.Logf("%+v, %v", c, err)
	}
}
