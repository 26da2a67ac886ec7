package images

import "github.com/lethe-ml/lethe/datasets"

// cifar100 returns the description and the loader of CIFAR-100 from the publisher's archive of
// binary files: 100 classes, and the twenty superclasses in the column datasets.Superclass.
//
// Size and SHA-256 are those that TensorFlow Datasets records for the file
// (tensorflow_datasets/url_checksums/cifar100.txt).
func cifar100() set {
	return set{
		info: datasets.Info{
			Name: "cifar100", Title: "CIFAR-100", Folder: "cifar100", Task: "what a small photograph shows, of a hundred kinds",
			Rows: 60000, TestRows: 10000, Features: 3072, Shape: [3]int{3, 32, 32}, Classes: cifar100Classes(),
			Licence: "research use, with citation", Citation: cifarCitation,
			Homepage:    "https://www.cs.toronto.edu/~kriz/cifar.html",
			Description: "Photographs of a hundred kinds of things in twenty groups, 32 x 32 in colour.",
			Files: []datasets.File{{Name: "cifar-100-binary.tar.gz", Size: 168513733, Compressed: true,
				SHA256:  "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
				Sources: []datasets.Source{{URL: "https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz"}}}},
		},
		coarse: cifar100Superclasses(),
		open: func(r *loader) (*content, error) {
			return r.cifarArchive("cifar-100-binary.tar.gz", "cifar-100-binary/", cifarBatch{labels: 2},
				[]string{"train.bin"}, []string{"test.bin"})
		},
	}
}

func cifar100Classes() []string {
	return []string{
		"apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle",
		"bowl", "boy", "bridge", "bus", "butterfly", "camel", "can", "castle", "caterpillar", "cattle",
		"chair", "chimpanzee", "clock", "cloud", "cockroach", "couch", "crab", "crocodile", "cup", "dinosaur",
		"dolphin", "elephant", "flatfish", "forest", "fox", "girl", "hamster", "house", "kangaroo", "keyboard",
		"lamp", "lawn_mower", "leopard", "lion", "lizard", "lobster", "man", "maple_tree", "motorcycle", "mountain",
		"mouse", "mushroom", "oak_tree", "orange", "orchid", "otter", "palm_tree", "pear", "pickup_truck", "pine_tree",
		"plain", "plate", "poppy", "porcupine", "possum", "rabbit", "raccoon", "ray", "road", "rocket",
		"rose", "sea", "seal", "shark", "shrew", "skunk", "skyscraper", "snail", "snake", "spider",
		"squirrel", "streetcar", "sunflower", "sweet_pepper", "table", "tank", "telephone", "television", "tiger", "tractor",
		"train", "trout", "tulip", "turtle", "wardrobe", "whale", "willow_tree", "wolf", "woman", "worm",
	}
}

func cifar100Superclasses() []string {
	return []string{
		"aquatic_mammals", "fish", "flowers", "food_containers", "fruit_and_vegetables",
		"household_electrical_devices", "household_furniture", "insects", "large_carnivores",
		"large_man-made_outdoor_things", "large_natural_outdoor_scenes", "large_omnivores_and_herbivores",
		"medium_mammals", "non-insect_invertebrates", "people", "reptiles", "small_mammals", "trees",
		"vehicles_1", "vehicles_2",
	}
}
