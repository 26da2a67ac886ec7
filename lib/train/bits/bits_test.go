package bits

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// -update rewrites known.json.
var update = flag.Bool("update", false, "write known.json anew")

// off disables instructions of a process; level names what it should have
// left with.
var off = map[kernels.Level]string{
	kernels.AVX2:   "cpu.avx512f=off,cpu.avx512bw=off,cpu.avx512vl=off,cpu.avx512dq=off",
	kernels.Scalar: "cpu.avx512f=off,cpu.avx2=off,cpu.fma=off",
}

const level = "LETHE_TEST_LEVEL"

// Every network has the bits that the repository knows, on this processor's
// instructions, on older ones, and without any.
func TestEveryNetworkHasTheKnownBits(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("only amd64's bits are promised; lethe doctor --bits compares them here")
	}
	e, err := engine.Open("lethe")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	all, err := Read(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		write(t, all)
		return
	}
	for _, r := range all {
		if !r.OK() {
			t.Errorf("%s: %s with %s, should be %s", r.Network, r.Hash, kernels.Best(), r.Known)
		}
	}
	if want := os.Getenv(level); want != "" {
		if want != kernels.Best().String() {
			t.Errorf("this ran with %s, not %s", kernels.Best(), want)
		}
		return
	}
	for l, flags := range off {
		if l >= kernels.Best() {
			continue // the processor has no more to take away
		}
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
		c.Env = append(os.Environ(), "GODEBUG="+flags, level+"="+l.String())
		if said, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", l, err, said)
		}
	}
}

func write(t *testing.T, all []Reading) {
	out := map[string]string{}
	for _, r := range all {
		out[r.Network] = r.Hash
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err == nil {
		err = os.WriteFile("known.json", append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Two networks have two hashes, and each is known by its own name.
func TestHashesTellNetworksApart(t *testing.T) {
	is, err := knownHashes()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, s := range subjects() {
		hash := is[s.name]
		if seen[hash] != "" || strings.TrimSpace(hash) == "" {
			t.Errorf("%s has the hash %q of %q", s.name, hash, seen[hash])
		}
		seen[hash] = s.name
	}
	if len(seen) != len(is) {
		t.Errorf("%d hashes are known of %d networks", len(is), len(seen))
	}
}
