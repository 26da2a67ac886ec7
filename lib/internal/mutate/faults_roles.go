package main

// ofRoles are mistakes in who is meant: which seed, which half, which weight, which sizes,
// and whose code.
var ofRoles = []Fault{
	// Seeds.
	{File: "lib/lab/protocol.go", Old: "return s.Shards.asked(users, engine.Root(s.ForgetSeed))", New: "return s.Shards.asked(users, engine.Root(ForgetSeed))",
		Protects: "the forget seed draws which records a user erases", Run: "ForgetSeed"},
	{File: "lib/lab/problem.go", Old: "s.Backdoor.plant(d.data, engine.Root(s.ForgetSeed))", New: "s.Backdoor.plant(d.data, engine.Root(ForgetSeed))",
		Protects: "the forget seed draws the records of a backdoor", Run: "ForgetSeed"},
	{File: "lib/lab/protocol.go", Old: "engine.Root(SplitSeed + c.Shift)", New: "engine.Root(SplitSeed)",
		Protects: "a moved lab draws another half for methods to look at", Run: "TheHalf"},
	{File: "lib/unlearn/vbu.go", Old: "Inputs: codes, Weight: m.Divergence}", New: "Inputs: codes, Weight: 1}", Protects: "VBU's divergence counts by its weight", Run: "VBU"},
	{File: "lib/paper/fishing/table2.go", Old: "stats.ChanceFloor(r.Forget, r.Negatives)", New: "stats.ChanceFloor(r.Forget, r.Unseen)",
		Protects: "the note of table 2 has the floor of its own sizes", Run: "NoteOfTable"},

	// Halves of the test part.
	{File: "lib/lab/protocol.go", Old: "_, is := slices.BinarySearch(seen, i); !is {", New: "_, is := slices.BinarySearch(seen, i); is {",
		Protects: "what methods look at is not judged", Run: "TheHalf"},
	{File: "lib/lab/protocol.go", Old: "		return c.Judged()\n	}\n	rows := make", New: "		return c.heldOut()\n	}\n	rows := make",
		Protects: "a table with a method that looks at held-out records is judged on the others", Run: "TheHalf"},
	{File: "lib/lab/case.go", Old: "HeldOut: at(heldOut, c.Judged())}, nil", New: "HeldOut: at(heldOut, c.heldOut())}, nil",
		Protects: "held-out losses are of records that no method looks at", Tests: "./lib/audit", Run: "HeldOutRecords|NoLens"},
	{File: "lib/audit/groups.go", Old: "layer(o.Test).Gather(c.Judged())", New: "layer(o.Test)",
		Protects: "held-out activations are of records that no method looks at", Run: "HeldOutRecords|NoLens"},
	{File: "lib/audit/reconstruction.go", Old: "rowsAt(judged, seed.Stream", New: "append([]int(nil), seed.Stream",
		Protects: "the drawer learns on records that no method looks at", Run: "NoLens"},
	{File: "lib/audit/relearning.go", Old: "c.Test.Gather(rowsAt(c.Judged(), chosen))", New: "c.Test.Gather(chosen)",
		Protects: "what is learned beside the forgotten records are those whose losses are known", Run: "NoLens"},
	{File: "lib/audit/fisher_overlap.go", Old: "headOf(o.Test, c.Test.Y, judged)", New: "headOf(o.Test, c.Test.Y, c.Forget[:min(len(c.Forget), len(judged))])",
		Protects: "the Fisher lens looks at judged records", Run: "NoLens"},
	{File: "lib/paper/rulerpaper/cell.go", Old: "unseen := c.unseen()\n	res", New: "unseen := c.Unseen()\n	res",
		Protects: "RULER's attack leaves out what a method has seen", Run: "LeavesOut"},
	{File: "lib/paper/sdepaper/unlearned.go", Old: "tests, kept := pick(unseen, rng.Perm(len(unseen)))", New: "tests, kept := rng.Perm(p.Test.X.Rows)",
		Protects: "table 4's attack leaves out what an arm has seen", Run: "TableFourLeaves"},
	{File: "lib/paper/sdepaper/unlearned.go", Old: "order, tests := rng.Perm(len(retain)), pick(unseen, rng.Perm(len(unseen)))",
		New: "order, tests := rng.Perm(len(retain)), rng.Perm(of.test.Rows)", Protects: "table 4's references leave out what an arm has seen", Run: "TableFour"},
	{File: "lib/paper/fishing/within_measure.go", Old: "strangers := v.unseen.take(unseen)", New: "strangers := v.unseen",
		Protects: "a fleet hears cells that no method looks at", Run: "AFleetHears"},
	{File: "lib/paper/fishing/within_measure.go", Old: "rows[k] = unseen[i]", New: "rows[k] = i", Protects: "matched cells are found again", Run: "AFleetHears"},

	// Whose code.
	{File: "lib/store/code.go", Old: "return strings.HasSuffix(pkg, \"_test\")", New: "return false", Protects: "a test package stands for somebody else's", Run: "Outside"},
	{File: "lib/store/code.go", Old: "w.typed(path, v)\n", New: "_ = path\n", Protects: "a value from outside is in the key", Run: "Outside"},
	{File: "lib/store/code.go", Old: "m.Sum != \"\" && b.pinned != \"\"", New: "b.pinned != \"\"", Protects: "a module without a sum is the program", Run: "Sums"},
	{File: "lib/store/code.go", Old: "all = all && actual.Sum != \"\"", New: "_ = all", Protects: "modules without a sum that others call are the program", Run: "Sums"},
	{File: "lib/store/key.go", Old: "append([]any{k.Config}, k.Of...)...", New: "k.Config", Protects: "what a key depends on beside its configuration is in it", Run: "FromOutside"},
	{File: "lib/paper/evidence.go", Old: "key.Of = append(key.Of, c.Goal, p.Measure)", New: "key.Of = append(key.Of, c.Goal)",
		Protects: "a measurement from outside is known by its code", Tests: "./lib/lab", Run: "CodeFromOutside"},
	{File: "lib/lab/problem.go", Old: "if sum := data.Sum(); sum != data.Hash {", New: "if sum := data.Sum(); sum == data.Hash {",
		Protects: "data that somebody has made are known by their content", Run: "CodeFromOutside"},
	{File: "lib/internal/resolved/resolved.go", Old: "return v\n", New: "return r\n", Protects: "an embedded type does not take the place of the one around it"},
	{File: "lib/lab/problem.go", Old: "key := store.ContentOf(arch) //", New: "key := arch.Name() //", Protects: "a compiled network is that of its own type and fields", Run: "Compiled"},
}
