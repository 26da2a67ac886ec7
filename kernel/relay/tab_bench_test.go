// How long the very first Tab takes.

package relay

import (
	"strings"
	"testing"
	"time"
)

// BenchmarkFirstTab starts a kernel on a notebook that imports much of the library and asks
// for a completion at once, as a reader does who opens a notebook and types. It needs a real
// gonb and gopls; GOPLSCACHE may hold what gopls has kept from other kernels.
func BenchmarkFirstTab(b *testing.B) {
	gonb := realGonb(b)
	source := `{"cells":[{"cell_type":"code","source":"import (\n\t\"github.com/lethe-ml/lethe/lib/lab\"\n\t\"github.com/lethe-ml/lethe/lib/nb\"\n)\n\nfunc opened() *lab.Lab { return nb.Try(lab.Open()) }"}]}`
	root := withNotebook(b, source)
	for _, one := range []struct{ name, code, want string }{
		{"package", "%%\nnb.Ta", `"Table"`}, {"method", "%%\nopened().", `"Case"`},
	} {
		b.Run(one.name, func(b *testing.B) {
			for b.Loop() {
				c := prepareClient(b)
				began := time.Now()
				c.start(Options{Gonb: gonb, GoWork: root})
				info := request("kernel_info_request", `{}`)
				c.send(jupyterShell, info)
				c.until(info)
				ready := time.Now()
				r := request("complete_request", string(encode(map[string]any{"code": one.code, "cursor_pos": len(one.code)})))
				c.send(jupyterShell, r)
				for _, s := range c.until(r) {
					if s.msg.head.Type == "complete_reply" && !strings.Contains(string(s.msg.content), one.want) {
						b.Errorf("the reply lacks %s: %s", one.want, s.msg.content)
					}
				}
				b.ReportMetric(ready.Sub(began).Seconds(), "s/start")
				b.ReportMetric(time.Since(ready).Seconds(), "s/Tab")
				c.stop()
				_ = c.ended()
			}
		})
	}
}
