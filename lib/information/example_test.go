// Example of KSG.

package information_test

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/information"
)

// What a noisy copy says of its original, without a network.
func ExampleKSG() {
	x, y := array.New[float64](400, 1), array.New[float64](400, 1)
	for i := range 400 {
		k := float64(i + 1)
		x.Data[i] = math.Sin(1.7*k) + 0.1*math.Sin(0.37*k*k)
		y.Data[i] = x.Data[i] + 0.5*math.Cos(2.3*k*k)
	}
	r, err := information.KSG{}.Estimate(context.Background(), nil, information.Pairs{X: x, Y: y}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f nats, where none are 0\n", r.Value)
	// Output: 1.11 nats, where none are 0
}
