package backend

import (
	"cmp"
	"maps"
	"slices"
)

// arena lays out what lives between steps in one piece of memory. Two values that
// are never alive at the same step may have the same place.
type arena struct{ lives map[int]*life }

// life is that of a slot: the first and the last step that needs it.
type life struct{ slot, first, last, bytes int }

func newArena() *arena { return &arena{map[int]*life{}} }

func (a *arena) of(slot int) *life {
	if a.lives[slot] == nil {
		a.lives[slot] = &life{slot: slot, first: -1}
	}
	return a.lives[slot]
}

// from says that a step writes a slot of so many bytes.
func (a *arena) from(slot, step, bytes int) {
	l := a.of(slot)
	l.first, l.last, l.bytes = step, max(l.last, step), max(bytes, 1)
}

// until says that a step needs a slot.
func (a *arena) until(slot, step int) { l := a.of(slot); l.last = max(l.last, step) }

// leave says that a slot lies elsewhere.
func (a *arena) leave(slot int) { delete(a.lives, slot) }

// line is that of a cache: places begin there.
const line = 64

// place finds every written slot's place, the large ones first, each at the lowest
// address that is free during its life, and returns how many bytes they take.
func (a *arena) place(places map[int]int) int {
	all := slices.DeleteFunc(slices.Collect(maps.Values(a.lives)), func(l *life) bool { return l.first < 0 })
	slices.SortFunc(all, func(a, b *life) int {
		return cmp.Or(b.bytes-a.bytes, a.first-b.first, a.slot-b.slot)
	})
	end := 0
	var placed []*life
	for _, l := range all {
		at := 0
		for _, other := range placed { // by address
			if other.last < l.first || l.last < other.first {
				continue
			}
			if at+l.bytes <= places[other.slot] {
				break
			}
			at = max(at, (places[other.slot]+other.bytes+line-1)/line*line)
		}
		places[l.slot] = at
		end = max(end, at+l.bytes)
		i, _ := slices.BinarySearchFunc(placed, at, func(o *life, at int) int { return places[o.slot] - at })
		placed = slices.Insert(placed, i, l)
	}
	return end
}
