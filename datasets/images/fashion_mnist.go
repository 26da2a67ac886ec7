package images

import "github.com/lethe-ml/lethe/datasets"

// fashionMNIST returns the description and the loader of Fashion-MNIST in its published order:
// 60,000 training and 10,000 test photographs of clothes, in MNIST's format. 0 is background.
func fashionMNIST() set {
	return set{
		info: datasets.Info{
			Name: "fashion_mnist", Title: "Fashion-MNIST", Folder: "fashion_mnist", Task: "which of ten kinds of clothes it is",
			Rows: 70000, TestRows: 10000, Features: 784, Shape: [3]int{1, 28, 28},
			Classes: []string{"T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"},
			Licence: "MIT",
			Citation: "H. Xiao, K. Rasul, R. Vollgraf (2017), Fashion-MNIST: a novel image dataset for benchmarking machine learning " +
				"algorithms, arXiv:1708.07747",
			Homepage:    "https://github.com/zalandoresearch/fashion-mnist",
			Description: "Photographs of clothes, centred, 28 x 28 grey.",
			Files: idxFiles([4]string{
				"c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888", "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
				"5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b", "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
			}, "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"),
		},
		open: openMNIST,
	}
}
