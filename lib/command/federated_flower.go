// lethe federated flower: writes a Flower app of a federation.

package command

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/federated/flower"

	"github.com/spf13/cobra"
)

// flowerSteps are the instructions for the app; %[1]s is its folder, %[2]s Flower's
// version.
const flowerSteps = `The app is in %[1]s. Nothing was installed.

1. Everywhere, in a virtual environment:

     pip install flwr==%[2]s "click<8.2"
     export FLWR_TELEMETRY_ENABLED=0    # otherwise Flower sends usage data to its authors

2. On the server, whose folder needs study.json and initial.safetensors:

     flower-superlink --insecure

3. On the machine of every user, here user 3, which needs study.json and the user's records:

     flower-supernode --insecure --superlink SERVER:9092 \
       --node-config 'user=3 study="/path/study.json" shard="/path/users/3" lethe="/path/lethe"'

   Several on one machine each need their own --clientappio-api-address 127.0.0.1:PORT.

4. Then, from anywhere with the app's folder:

     flwr run %[1]s --stream

A user who has not answered after "limit" seconds (pyproject.toml, an hour) is left out
of the round. The server saves weights.safetensors in its folder after every round, and
resumes from it when it is started again. --insecure means without TLS: weights are sent
unencrypted.
`

func newFederatedFlower() *cobra.Command {
	return &cobra.Command{
		Use:   "flower FOLDER",
		Short: "Write the Flower app of a federation, and print how to run it",
		Long: `Write a Flower app into a federation's folder, and print how to run it. Nothing is
installed or started.

Flower carries the weights and draws the users of a round; a user's training is "lethe
federated client". The app is for flwr ` + flower.Version + `, tested with Python 3.11.`,
		Example: "  lethe federated flower study",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			app, err := flower.App(args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), flowerSteps, app, flower.Version)
			return err
		},
	}
}
