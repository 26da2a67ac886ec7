package engine

// The named random streams of the house, each with what it draws and, in
// brackets, the parts that follow the name. One root seed makes them all, and
// each is independent of the others, so that one more draw in one moves no other.
// A name is for ever: another one is another result.
const (
	// StreamSplit draws which rows of a table are kept, and which images (how many
	// of the training and of the test part are asked for).
	StreamSplit = "split"
	// StreamInit draws the initial weights, in their order.
	StreamInit = "init"

	// StreamBatch draws the order of the records (term; epoch, unless batches are
	// fixed), for a denoiser (epochs done).
	StreamBatch = "batch"
	// StreamDropout draws a network's draws: masks of units, normal noise (step,
	// term, draw).
	StreamDropout = "dropout"
	// StreamAugment draws crop and flip of an image (epoch, record).
	StreamAugment = "augment"
	// StreamNoise draws the noise level and the noise on an image that a denoiser
	// is trained on (epoch, row).
	StreamNoise = "noise"
	// StreamPass draws the seed of an epoch's later passes (pass from 1).
	StreamPass = "pass"
	// StreamPlayer draws the seed of a game's later players (player from 1).
	StreamPlayer = "player"
	// StreamGradientNoise draws the noise on a gradient (step, tensor).
	StreamGradientNoise = "gradient-noise"

	// StreamPoisson draws who enters the batches of a private training (epoch, step of
	// it).
	StreamPoisson = "poisson"
	// StreamPrivacy draws the noise that makes a training private (step, tensor, block).
	StreamPrivacy = "privacy"

	// StreamBackdoor draws the records that a backdoor is planted in.
	StreamBackdoor = "backdoor"
	// StreamCode draws the code of a record that its owner uploads (record), or that is
	// drawn anew (record; epoch from 0; whether it judges, or learns).
	StreamCode = "code"
	// StreamAssigned deals such codes to the auxiliary records, as strangers (epoch).
	StreamAssigned = "dealt"
	// StreamAuxiliary draws auxiliary records, of a set or from nothing (nothing; or 1,
	// the labels that inverted records are to have).
	StreamAuxiliary = "auxiliary"
	// StreamMask draws which features of a record are masked (record).
	StreamMask = "mask"
	// StreamRelease draws the noise on what is released of a record (record).
	StreamRelease = "release"

	// StreamShare draws the share of the retain set that a method is content with
	// (nothing; or round and user, of that user's), and the order in which users go through
	// what they erase in portions (0).
	StreamShare = "share"
	// StreamHeldOut draws the held-out records that a method may look at.
	StreamHeldOut = "held-out"
	// StreamShadowSplit deals records to a pair of models of a fleet (pair).
	StreamShadowSplit = "half"
	// StreamValidation draws the retained records by which an epoch of a fine-tuning
	// is chosen.
	StreamValidation = "validation"
	// StreamRandomLabel draws the labels that are taught instead of the right ones
	// (epoch, record).
	StreamRandomLabel = "random-label"

	// StreamCritic draws the seeds of a method's critics and of the attackers that it
	// stops by (what: 0 a critic, 1 an attacker; which critic, or the epoch).
	StreamCritic = "critic"

	// StreamErased draws which of his records a user erases (user).
	StreamErased = "erased"
	// StreamShard deals records to the users of a federation (nothing, or the class).
	StreamShard = "shard"
	// StreamRound draws the users of a federation's round (round from 1).
	StreamRound = "round"
	// StreamSilent draws whether a user of a round does not answer (round from 1, user).
	StreamSilent = "silent"
	// StreamUser draws the seed of a user's work (round from 1, user).
	StreamUser = "user"

	// StreamSubsets draws the three sets of a lens on subsets (draw).
	StreamSubsets = "subsets"
	// StreamExchange draws which models of two ensembles change places (distance).
	StreamExchange = "exchange"
	// StreamPlanted draws the records to be forgotten that stay in a training all the same.
	StreamPlanted = "planted"
	// StreamRelearn draws the held-out records that a model learns beside the forgotten ones.
	StreamRelearn = "relearn"
	// StreamDecoder deals the held-out records to those that a lens learns to draw on and
	// those that it draws.
	StreamDecoder = "decoder"

	// StreamSDE draws SDE's references, and the seeds of its targets (size of a set).
	StreamSDE = "sde"
	// StreamSDEHeldOut is the same where nobody was in training (size of a set).
	StreamSDEHeldOut = "sde-held-out"
	// StreamSDEUnlearned is the same in an unlearned model (size of a set).
	StreamSDEUnlearned = "sde-unlearned"
	// StreamSDEAttack deals the test images into those that teach the attack's
	// threshold and those that are held out, and draws retained images for it.
	StreamSDEAttack = "sde-attack"
	// StreamSDEFigure draws the sets of the histograms (size of a set).
	StreamSDEFigure = "sde-figure"
	// StreamTargets draws the subsets of a population that are to be judged.
	StreamTargets = "targets"
	// StreamCost and StreamNormals draw subsets and records of which only the time
	// is measured that they take.
	StreamCost    = "cost"
	StreamNormals = "normals"
	// StreamToy draws everything of the toy (what, see package toy; then epoch,
	// layer, set or deal), and the records of the methods' conformance suite.
	StreamToy = "toy"

	// StreamEncode draws the noise on an image that an encoder sees (group, row).
	StreamEncode = "encode"
	// StreamSample draws new images out of a denoiser.
	StreamSample = "sample"
	// StreamSets draws references and targets of the generative case (draw).
	StreamSets = "sets"

	// StreamAttacker draws which records a membership attacker is trained on, and its
	// own seed (what: 0 the deal, 1 the seed; fold).
	StreamAttacker = "attacker"

	// StreamPairs draws which pairs teach a critic of mutual information, choose its
	// epoch and are held out; for a count of neighbours the noise that breaks ties and
	// the parts of its interval.
	StreamPairs = "pairs"
	// StreamNegatives draws whom a pair is told from (what: 0 in training, with epoch
	// and pair; 1 in judgement, with the set: 0 teaching, 1 choosing, 2 held out; 2 in
	// the last batch as coded).
	StreamNegatives = "stranger"

	// StreamPosterior draws codes from the posteriors of cells (role: 0 forgotten, 1
	// retained, 2 unseen).
	StreamPosterior = "posterior"
	// StreamClusters draws where k-means begins.
	StreamClusters = "clusters"
	// StreamMixture draws the records of a mixture of Gaussians (what: 0 the toy, 1 a fit;
	// draw).
	StreamMixture = "mixture"
	// StreamOverlap draws the cells that stand for those to be forgotten, where the
	// Fisher information of two sets is compared (class, draw).
	StreamOverlap = "overlap"

	// StreamBench draws what benchmarks compute on.
	StreamBench = "bench"
	// StreamBits draws weights and records of networks whose bits are checked.
	StreamBits = "bits"
)
