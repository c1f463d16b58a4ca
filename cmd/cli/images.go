package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/clusters"
)

func newImages() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "images",
		Short: "Build and show the images of servers and clients",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var all bool
	build := &cobra.Command{
		Use:   "build",
		Short: "Build all images now; run builds those that it needs",
		Long: `Build the images of all servers and of the client nodes. Where the base image
cannot be pulled, it is made from Debian's packages with mmdebstrap. What is
there already is not built again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			docker, err := clusters.NewDocker(cmd.Context(), self())
			if err != nil {
				return err
			}
			return docker.BuildImages(cmd.Context(), all, func(line string) { fmt.Fprintln(stderr, line) })
		},
	}
	list := &cobra.Command{
		Use:     "list",
		Short:   "Print the references of all images, for docker save",
		Example: "  docker save $(dlmtest images list) >images.tar",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, tag := range clusters.Tags(all) {
				fmt.Fprintln(stdout, tag)
			}
			return nil
		},
	}
	key := &cobra.Command{
		Use:   "key",
		Short: "Print a cache key that changes whenever an input of the images changes",
		Long: `Print a key that changes whenever an input of the images changes. A cache of docker save
under this key never restores images that this dlmtest would build differently.`,
		Example: "  tar=images-$(dlmtest images key).tar",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			fmt.Fprintln(stdout, clusters.ImagesKey(all))
			return nil
		},
	}
	for _, c := range []*cobra.Command{build, list, key} {
		c.Flags().BoolVar(&all, "all", false, "also the images of client nodes with lock libraries in other languages, which runs make on demand")
		cmd.AddCommand(c)
	}
	return cmd
}
