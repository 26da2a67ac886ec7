package fisher

import (
	"fmt"
	"slices"
)

// Part compares the tensors of one category, or all of them.
type Part struct {
	Name    string `json:"name"`
	Weights int    `json:"weights"`
	// Dead is the number of weights in tensors that are dead in both sets; no value includes them.
	Dead   int     `json:"dead"`
	Cosine float64 `json:"cosine"`
	// RankForget and RankRetain are effective ranks over the number of weights.
	RankForget float64 `json:"rank_forget"`
	RankRetain float64 `json:"rank_retain"`
	Top1       float64 `json:"top1"`  // share of the largest 1 % in common; null 0.01
	Top10      float64 `json:"top10"` // share of the largest 10 % in common; null 0.1
}

// Global is the name of the part that holds all tensors.
const Global = "global"

// ByTensor is the category function of a table with a row per tensor.
func ByTensor(tensor string) string { return tensor }

// Compare compares the information of the forget set with that of the retain set by category, in
// the order of their first tensors, and for all tensors, last. category names a tensor's category;
// "" counts it only in the whole. A category that is entirely dead is left out.
func Compare(forget, retain Diagonal, category func(tensor string) string) ([]Part, error) {
	if err := checkSameTensors(forget, retain); err != nil {
		return nil, err
	}
	var names []string
	for _, t := range forget.Tensors {
		if name := category(t.Name); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	dead := deadTensors(forget, retain)
	var out []Part
	for _, name := range append(names, Global) {
		is := func(tensor string) bool { return name == Global || category(tensor) == name }
		alive := func(tensor string) bool { return is(tensor) && !dead[tensor] }
		f := forget.Filter(alive)
		if len(f.Tensors) == 0 {
			continue
		}
		p, err := compare(f, retain.Filter(alive))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		p.Name, p.Dead = name, forget.Filter(is).Size()-p.Weights
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, errDead
	}
	return out, nil
}

func compare(f, r Diagonal) (p Part, err error) {
	p.Weights = f.Size()
	if p.Cosine, err = Cosine(f, r); err != nil {
		return p, err
	}
	for _, m := range []struct {
		to *float64
		of Diagonal
	}{{&p.RankForget, f}, {&p.RankRetain, r}} {
		rank, err := EffectiveRank(m.of)
		if err != nil {
			return p, err
		}
		*m.to = rank / float64(p.Weights)
	}
	if p.Top1, err = TopShared(f, r, 0.01); err != nil {
		return p, err
	}
	p.Top10, err = TopShared(f, r, 0.1)
	return p, err
}

// Cosines returns only the cosines of Compare, by category; a category that is dead in either set
// has none.
func Cosines(forget, retain Diagonal, category func(tensor string) string) (map[string]float64, error) {
	if err := checkSameTensors(forget, retain); err != nil {
		return nil, err
	}
	dead, sums := deadTensors(forget, retain), map[string]*products{Global: {}}
	for i, t := range forget.Tensors {
		if dead[t.Name] {
			continue
		}
		name := category(t.Name)
		if sums[name] == nil {
			sums[name] = &products{}
		}
		for j, v := range t.Values {
			sums[Global].add(v, retain.Tensors[i].Values[j])
			if name != "" && name != Global {
				sums[name].add(v, retain.Tensors[i].Values[j])
			}
		}
	}
	out := map[string]float64{}
	for name, s := range sums {
		if c, err := s.cosine(); err == nil {
			out[name] = c
		}
	}
	return out, nil
}

// deadTensors returns the tensors that are dead in both.
func deadTensors(a, b Diagonal) map[string]bool {
	out := map[string]bool{}
	for i, t := range a.Tensors {
		out[t.Name] = !isAlive(t, a.Damping) && !isAlive(b.Tensors[i], b.Damping)
	}
	return out
}

func isAlive(t Tensor, damping float64) bool {
	return slices.ContainsFunc(t.Values, func(v float64) bool { return v > damping })
}
