package main

// ofSweeps are mistakes in what spreads work over nodes and brings it together.
var ofSweeps = []Fault{
	// The store.
	{File: "lib/store/merge.go", Old: "		m.refuse(e.Dir, fmt.Errorf(\"%w as %s (%s)\", ErrConflict, out.Dir, in.Key.Recipe))", New: "		m.Same++",
		Protects: "the same key with other bytes is nobody's result", Run: "Conflict|TheSameKey"},
	{File: "lib/store/merge.go", Old: "	in, err := from.load(e.ID)\n",
		New:      "	in, _, err := from.Lookup(e.Key)\n	in.store.verified.Store(e.ID, true)\n	err = nil\n",
		Protects: "a merge believes hashes and not manifests", Run: "Merge"},
	{File: "lib/store/behind.go", Old: "		case !errors.Is(err, errMissing):\n			s.warn(\"%v; that run is not used\", err)\n",
		New: "		case !errors.Is(err, errMissing):\n			return run\n", Protects: "a damaged run behind a store is not used", Run: "Behind"},
	{File: "lib/store/behind.go", Old: "		if err != nil || len(left) == 0 {\n", New: "		if err != nil || len(left) >= 0 {\n",
		Protects: "a checkpoint of an earlier attempt is gone on from", Run: "Behind"},
	{File: "lib/store/lock.go", Old: "	if s.alone {\n", New: "	if false {\n",
		Protects: "a store of one process needs no locks of its file system", Run: "OneProcess"},

	// The plan.
	{File: "lib/sweep/plan.go", Old: "needs[0].cost+j.Cost <= fair {", New: "needs[0].cost+j.Cost <= fair+total {",
		Protects: "one original with many unlearnings does not become one shard", Run: "FairShare"},
	{File: "lib/sweep/plan.go", Old: "stage = max(stage, c.stage+1)", New: "stage = max(stage, c.stage)",
		Protects: "no job is in the stage of one that it needs from another shard", Run: "EveryDeal"},
	{File: "lib/sweep/plan.go", Old: "n.Stage > j.Stage || n.Stage == j.Stage && n.Shard != j.Shard", New: "n.Stage > j.Stage",
		Protects: "a plan that cannot be done is refused", Run: "Contradicts"},

	// The worker.
	{File: "lib/sweep/work.go", Old: "	if hash != p.Program.SHA256 {", New: "	if false {",
		Protects: "no other program works on a sweep", Run: "NotAsPlanned"},
	{File: "lib/sweep/work.go", Old: "	case w.Engine != p.Engine.Is:", New: "	case false:",
		Protects: "no other engine computes for a sweep", Run: "NotAsPlanned"},
	{File: "lib/sweep/work.go", Old: "!slices.Contains(planned, hash)", New: "len(planned) == 0 && hash == \"\"",
		Protects: "a node with other data computes nothing", Run: "NotAsPlanned"},
	{File: "lib/sweep/work.go", Old: "	for _, e := range slices.Backward(before) {\n		a.reach(path.Join(shard, e.Name()))\n	}\n",
		New:      "	_ = before\n",
		Protects: "an attempt goes on from the one before", Run: "Stopped"},
	{File: "lib/sweep/work.go", Old: "	case ctx.Err() != nil:\n		return errors.Join(ErrStopped,",
		New:      "	case false:\n		return errors.Join(ErrStopped,",
		Protects: "what was stopped has not failed", Run: "Stopped"},

	// Journals and clusters.
	{File: "lib/sweep/journal.go", Old: "!damaged[r.Dir] && g.there(r)", New: "g.there(r)",
		Protects: "a run that turned out damaged is not done", Run: "Damaged"},
	{File: "lib/sweep/journal.go", Old: "	b = b[:bytes.LastIndexByte(b, '\\n')+1]\n", New: "",
		Protects: "a line that is being written says nothing yet", Run: "BeingWritten"},
	{File: "lib/sweep/slurm.go", Old: "\"--dependency=afterany:\"", New: "\"--dependency=afterok:\"",
		Protects: "one failed task does not leave the next stage waiting for ever", Run: "StageComes"},
	{File: "lib/sweep/slurm.go", Old: "	number := array + \"_\" + task\n", New: "	number := array\n",
		Protects: "a task queues itself again and not its array", Run: "QueuesItself"},
	{File: "lib/sweep/slurm.go", Old: "!strings.Contains(state, \" JobState=RUNNING \")", New: "strings.Contains(state, \" JobState=CANCELLED \")",
		Protects: "what somebody has cancelled stays so", Run: "QueuesItself"},
	{File: "lib/sweep/slurm.go", Old: "offset := shard / size * size", New: "offset := shard / (size + 1) * (size + 1)",
		Protects: "no task has a number above the largest", Run: "Split"},
	{File: "lib/sweep/slurm.go", Old: "\"B:TERM@%d\"", New: "\"TERM@%d\"", Protects: "the signal reaches the worker", Run: "Script"},
	{File: "lib/sweep/local.go", Old: "exit.ExitCode() == -1 && ", New: "", Protects: "a worker whose jobs failed is not started again", Run: "Local"},
}
