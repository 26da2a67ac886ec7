package engine

// The named random streams, each with what it draws and, in brackets, the parts that follow
// the name. All derive from one root seed and are independent: a further draw in one changes
// no other. Names must not change: another name gives other results.
const (
	// StreamSplit draws the rows of a table, or the images, that are used (numbers of
	// training and of test images).
	StreamSplit = "split"
	// StreamInit draws the initial weights, in their order.
	StreamInit = "init"

	// StreamBatch draws the order of the records (term; epoch, unless batches are fixed;
	// for a denoiser only the epoch).
	StreamBatch = "batch"
	// StreamDropout draws a network's random inputs: dropout masks, normal noise (step,
	// term, input).
	StreamDropout = "dropout"
	// StreamAugment draws crop and flip of an image (epoch, record).
	StreamAugment = "augment"
	// StreamNoise draws the noise level and the noise on an image that a denoiser
	// is trained on (epoch, row).
	StreamNoise = "noise"
	// StreamHidden draws the tokens of a record that are hidden from a language model, and
	// what replaces them (epoch, record).
	StreamHidden = "hidden"
	// StreamGroups draws the groups of records to forget.
	StreamGroups = "groups"
	// StreamLosses draws the records whose loss is measured where measuring all takes too long
	// (set).
	StreamLosses = "losses"
	// StreamPass draws the seed of an epoch's later passes (pass from 1).
	StreamPass = "pass"
	// StreamPlayer draws the seed of a game's later players (player from 1).
	StreamPlayer = "player"
	// StreamGradientNoise draws the noise on a gradient (step, tensor).
	StreamGradientNoise = "gradient-noise"

	// StreamPoisson draws the records of the batches of a private training (epoch, step
	// in the epoch).
	StreamPoisson = "poisson"
	// StreamPrivacy draws the noise that makes a training private (step, tensor, block).
	StreamPrivacy = "privacy"

	// StreamBackdoor draws the records that get a backdoor.
	StreamBackdoor = "backdoor"
	// StreamCode draws the code of a record that its owner uploads (record), or that is
	// drawn again in every epoch (record; epoch from 0; whether for validation or training).
	StreamCode = "code"
	// StreamAssigned assigns such codes to the auxiliary records as negative samples
	// (epoch).
	StreamAssigned = "dealt"
	// StreamAuxiliary draws auxiliary records, from a set or at random (nothing; or 1, the
	// labels of inverted records).
	StreamAuxiliary = "auxiliary"
	// StreamMask draws which features of a record are masked (record).
	StreamMask = "mask"
	// StreamRelease draws the noise on the released version of a record (record).
	StreamRelease = "release"

	// StreamShare draws the share of the retain set that a method uses (nothing; or round
	// and user, for that user's), and the order of the portions that users erase (0).
	StreamShare = "share"
	// StreamHeldOut draws the held-out records that a method may use.
	StreamHeldOut = "held-out"
	// StreamShadowSplit assigns records to the two models of a pair of shadow models (pair).
	StreamShadowSplit = "half"
	// StreamValidation draws the retained records that choose the epoch of a fine-tuning.
	StreamValidation = "validation"
	// StreamRandomLabel draws the labels that replace the true ones (epoch, record).
	StreamRandomLabel = "random-label"
	// StreamDirection draws RMU's direction.
	StreamDirection = "direction"
	// StreamRefusals draws the refusal of every forgotten question.
	StreamRefusals = "refusals"

	// StreamCritic draws the seeds of a method's critics and of the attackers of its
	// stopping rule (what: 0 a critic, 1 an attacker; which critic, or the epoch).
	StreamCritic = "critic"

	// StreamErased draws which of their records a user erases (user).
	StreamErased = "erased"
	// StreamShard assigns records to the users of a federation (nothing, or the class).
	StreamShard = "shard"
	// StreamRound draws the users of a federation's round (round from 1).
	StreamRound = "round"
	// StreamSilent draws whether a user does not answer in a round (round from 1, user).
	StreamSilent = "silent"
	// StreamUser draws the seed of a user's training (round from 1, user).
	StreamUser = "user"

	// StreamSubsets draws the three sets of a lens on subsets (draw).
	StreamSubsets = "subsets"
	// StreamExchange draws the permutations of the models of two ensembles (distance).
	StreamExchange = "exchange"
	// StreamPlanted draws the records of the forget set that stay in a training.
	StreamPlanted = "planted"
	// StreamRelearn draws the held-out records that a model learns together with the
	// forgotten ones.
	StreamRelearn = "relearn"
	// StreamDecoder splits the held-out records into those that train a lens's decoder and
	// those that it reconstructs.
	StreamDecoder = "decoder"

	// StreamSDE draws SDE's references, and the seeds of its targets (size of a set).
	StreamSDE = "sde"
	// StreamSDEHeldOut is the same for records outside the training (size of a set).
	StreamSDEHeldOut = "sde-held-out"
	// StreamSDEUnlearned is the same in an unlearned model (size of a set).
	StreamSDEUnlearned = "sde-unlearned"
	// StreamSDEAttack splits the test images into those that set the attack's threshold
	// and those that are held out, and draws retained images for it.
	StreamSDEAttack = "sde-attack"
	// StreamSDEFigure draws the sets of the histograms (size of a set).
	StreamSDEFigure = "sde-figure"
	// StreamTargets draws the subsets of a population that are to be evaluated.
	StreamTargets = "targets"
	// StreamCost and StreamNormals draw subsets and records for measurements of time.
	StreamCost    = "cost"
	StreamNormals = "normals"
	// StreamToy draws everything of the toy problem (what, see package toy; then epoch,
	// layer, set or permutation), and the records of the methods' conformance suite.
	StreamToy = "toy"

	// StreamEncode draws the noise on an encoder's input image (group, row).
	StreamEncode = "encode"
	// StreamSample draws the samples of a denoiser.
	StreamSample = "sample"
	// StreamSets draws references and targets of the generative case (draw).
	StreamSets = "sets"

	// StreamAttacker draws the training records of a membership attacker and its seed
	// (what: 0 the records, 1 the seed; fold).
	StreamAttacker = "attacker"

	// StreamPairs splits pairs into those that train a critic of mutual information,
	// choose its epoch and are held out; for a nearest-neighbour estimate it draws the
	// noise that breaks ties and the parts of its interval.
	StreamPairs = "pairs"
	// StreamNegatives draws the negative samples of a pair (what: 0 in training, with
	// epoch and pair; 1 in evaluation, with the set: 0 training, 1 validation, 2 held out;
	// 2 in the last batch as coded).
	StreamNegatives = "stranger"

	// StreamPosterior draws codes from the posteriors of cells (role: 0 forgotten, 1
	// retained, 2 unseen).
	StreamPosterior = "posterior"
	// StreamClusters draws the start of k-means.
	StreamClusters = "clusters"
	// StreamMixture draws the records of a mixture of Gaussians (what: 0 the toy, 1 a fit;
	// draw).
	StreamMixture = "mixture"
	// StreamOverlap draws cells in place of the forget set, for a comparison of the Fisher
	// information of two sets (class, draw).
	StreamOverlap = "overlap"

	// StreamAuthors draws the authors of questions with replacement, for the power of a test
	// (comparison, test).
	StreamAuthors = "authors"

	// StreamBench draws the data of benchmarks.
	StreamBench = "bench"
	// StreamBits draws the weights and records of package bits.
	StreamBits = "bits"
)
