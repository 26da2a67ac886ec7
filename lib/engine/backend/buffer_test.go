package backend

import "testing"

// A wrapped buffer reads the caller's memory, and the backend never reuses that memory.
func TestWrappedNumbersAreNotCopied(t *testing.T) {
	b, numbers := Open(1), []float32{1, 2, 3, 4, 5, 6}
	lent, err := b.Wrap(numbers, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	shape, err := lent.Shape()
	if err != nil {
		t.Fatal(err)
	}
	numbers[4] = 7
	data, err := lent.Data()
	if err != nil {
		t.Fatal(err)
	}
	if flat := data.([]float32); &flat[0] != &numbers[0] || flat[4] != 7 {
		t.Fatalf("a lent buffer holds %v at %p, not %v at %p", flat, flat, numbers, numbers)
	}
	if err := lent.Finalize(); err != nil {
		t.Fatal(err)
	}
	if _, err := lent.Data(); err == nil {
		t.Error("a buffer was used after Finalize")
	}
	for range 100 { // as many as find no other memory
		other, err := b.buffer(shape)
		if err != nil {
			t.Fatal(err)
		}
		clear(other.flat.([]float32))
	}
	if numbers[4] != 7 {
		t.Error("what was lent was given to somebody else")
	}
	if _, err := b.Wrap(numbers, 7); err == nil {
		t.Error("6 numbers fill 7 places")
	}
	if empty, err := b.Wrap(nil, 0, 3); err != nil || empty.(*buffer).alive() != nil {
		t.Errorf("a tensor without elements: %v", err)
	}
}

func TestMemoryIsAsLargeAsAskedForAndLittleLarger(t *testing.T) {
	for n := 0; n < 1<<16; n += 1 + n/100 {
		m, err := allocate(n)
		if err != nil || len(m) < n || 8*len(m) > 9*max(n, 64)+8*8 {
			t.Fatalf("%d bytes for %d", len(m), n)
		}
		number, size := sizeClass(len(m))
		if want, _ := sizeClass(n); size != len(m) || number != want {
			t.Fatalf("%d bytes of class %d go back to class %d, of %d bytes", len(m), want, number, size)
		}
		release(m)
	}
}
