package backend

import (
	"cmp"
	"maps"
	"slices"
)

// arena assigns the values between steps to offsets in one piece of memory. Two values that
// are never alive at the same step may overlap.
type arena struct{ lifetimes map[int]*lifetime }

// lifetime is that of a slot: the first and the last step that needs it.
type lifetime struct{ slot, first, last, bytes int }

func newArena() *arena { return &arena{map[int]*lifetime{}} }

func (a *arena) lifeOf(slot int) *lifetime {
	if a.lifetimes[slot] == nil {
		a.lifetimes[slot] = &lifetime{slot: slot, first: -1}
	}
	return a.lifetimes[slot]
}

// define records that a step writes a slot of the given size.
func (a *arena) define(slot, step, bytes int) {
	l := a.lifeOf(slot)
	l.first, l.last, l.bytes = step, max(l.last, step), max(bytes, 1)
}

// use records that a step reads a slot.
func (a *arena) use(slot, step int) { l := a.lifeOf(slot); l.last = max(l.last, step) }

// remove takes a slot out of the arena.
func (a *arena) remove(slot int) { delete(a.lifetimes, slot) }

// cacheLine is the size of a cache line in bytes; offsets are multiples of it.
const cacheLine = 64

// assignOffsets assigns an offset to every written slot, the large ones first, each at the
// lowest offset that is free during its lifetime. It returns the size of the arena in bytes.
func (a *arena) assignOffsets(places map[int]int) int {
	all := slices.DeleteFunc(slices.Collect(maps.Values(a.lifetimes)), func(l *lifetime) bool { return l.first < 0 })
	slices.SortFunc(all, func(a, b *lifetime) int {
		return cmp.Or(b.bytes-a.bytes, a.first-b.first, a.slot-b.slot)
	})
	end := 0
	var placed []*lifetime
	for _, l := range all {
		at := 0
		for _, other := range placed { // by address
			if other.last < l.first || l.last < other.first {
				continue
			}
			if at+l.bytes <= places[other.slot] {
				break
			}
			at = max(at, (places[other.slot]+other.bytes+cacheLine-1)/cacheLine*cacheLine)
		}
		places[l.slot] = at
		end = max(end, at+l.bytes)
		i, _ := slices.BinarySearchFunc(placed, at, func(o *lifetime, at int) int { return places[o.slot] - at })
		placed = slices.Insert(placed, i, l)
	}
	return end
}
