package attack_test

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/attacktest"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/population"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
)

func TestEveryAttackConforms(t *testing.T) {
	names := map[string]bool{}
	once := func(t *testing.T, name string) {
		t.Helper()
		if names[name] {
			t.Errorf("two attacks are called %s", name)
		}
		names[name] = true
	}
	for _, a := range attack.All() {
		once(t, a.Name())
		t.Run(a.Name(), func(t *testing.T) { attacktest.Run(t, a) })
	}
	for _, s := range attack.Signals() {
		once(t, s.Name())
		t.Run(s.Name(), func(t *testing.T) { attacktest.RunSignal(t, s) })
	}
	for _, a := range generative.All() {
		once(t, a.Name())
		t.Run(a.Name(), func(t *testing.T) { attacktest.RunGenerative(t, a) })
	}
	for _, a := range shadow.All() {
		once(t, a.Name())
		t.Run(a.Name(), func(t *testing.T) { attacktest.RunShadow(t, a) })
	}
	for _, a := range population.All() {
		once(t, a.Name())
		t.Run(a.Name(), func(t *testing.T) { attacktest.RunPopulation(t, a) })
	}
	for _, a := range learned.Attackers() {
		once(t, a.Name())
		t.Run(a.Name(), func(t *testing.T) { attacktest.RunAttacker(t, a) })
	}
}
