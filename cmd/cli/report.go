package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

const reportLong = `Render the report of a saved run or matrix again, as a page, as Markdown for a pull
request, as JSON, or as a picture for slides: the timeline around its first violation, or
around --violation N. DIR is the folder of a run or of a matrix; latest is runs/latest, and
the default.

Of several runs it makes a comparison on one time axis, each run aligned at its first
fault, or with --align start at the start of the run.

Nothing is judged, unless results.json is missing: then the run is judged as by dlmtest
check, and the output says so. The exit code says whether the report was written, not the verdict.
A file is replaced only if it is a report of dlmtest; --force replaces others, too, but
never the record of a run.`

// reportFlags are the flags of `dlmtest report` as they were given.
type reportFlags struct {
	output
	format, align string
	violation     int
	json          bool
}

var (
	reportFormats = []string{"html", "md", "svg", "png", "json"}
	alignments    = []string{string(pages.AtFault), string(pages.AtStart)}
)

func newReport() *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report [DIR...]",
		Short: "Render saved runs again: page, Markdown, JSON, pictures, comparisons",
		Long:  reportLong,
		Example: `  dlmtest report
  dlmtest report latest --format md
  dlmtest report runs/latest --format png --violation 2 -o violation.png
  dlmtest report runs/*redlock runs/*etcd runs/*zookeeper -o compare.html
  dlmtest report merge shard-1 shard-2 -o whole
  dlmtest report runs/latest-matrix --format md -o - >> "$GITHUB_STEP_SUMMARY"`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.path, "output", "o", "", "`FILE` to write, - for standard output (default: a page or picture "+
		"beside what it shows, compare.html, else standard output)")
	flags.StringVar(&f.format, "format", "", "html, md, svg, png or json (default: by the name of FILE, else html)")
	flags.BoolVar(&f.json, "json", false, "the same as --format json")
	flags.IntVar(&f.violation, "violation", 0, "of svg and png: the number of the violation to draw (default: the first)")
	flags.StringVar(&f.align, "align", "fault", "of a comparison: the event at which the time axis of each run begins: fault (the first one) or start")
	flags.BoolVar(&f.force, "force", false, "replace FILE even if it is no report of dlmtest")
	_ = cmd.RegisterFlagCompletionFunc("format", complete(reportFormats))
	_ = cmd.RegisterFlagCompletionFunc("align", complete(alignments))
	cmd.AddCommand(patient(newMerge()), patient(newChoosing()), patient(newCounts()))
	return cmd
}

func (f *reportFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.settle(cmd); err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{"latest"}
	}
	dirs := make([]string, len(args))
	for i, arg := range args {
		dir, err := folder(arg)
		if err != nil {
			return err
		}
		if i > 0 && matrix.Is(dir) || len(args) > 1 && matrix.Is(dir) {
			return usageError{fmt.Errorf("%s is the folder of a matrix: a comparison takes runs, such as those in it", arg)}
		}
		dirs[i] = dir
	}
	if f.isPicture() && (len(dirs) > 1 || matrix.Is(dirs[0])) {
		return usageError{fmt.Errorf("--format %s draws a violation of one run: name one run", f.format)}
	}
	switch {
	case len(dirs) > 1:
		return f.compare(cmd, dirs)
	case matrix.Is(dirs[0]):
		return f.matrix(cmd, dirs[0])
	}
	return f.one(cmd, dirs[0])
}

// settle works out the format, and refuses flags that do not go together.
func (f *reportFlags) settle(cmd *cobra.Command) error {
	byName := strings.TrimPrefix(filepath.Ext(f.path), ".")
	switch {
	case f.json && f.format != "" && f.format != "json":
		return usageError{fmt.Errorf("--json and --format %s exclude each other", f.format)}
	case f.json:
		f.format = "json"
	case f.format == "" && slices.Contains(reportFormats, byName):
		f.format = byName
	case f.format == "":
		f.format = "html"
	}
	if err := oneOf("format", f.format, reportFormats...); err != nil {
		return err
	}
	if err := oneOf("align", f.align, alignments...); err != nil {
		return err
	}
	if cmd.Flags().Changed("violation") && (f.violation < 1 || !f.isPicture()) {
		return usageError{fmt.Errorf("--violation %d: want a number from 1, with --format svg or png", f.violation)}
	}
	return nil
}

func (f *reportFlags) isPicture() bool { return f.format == "svg" || f.format == "png" }

// to chooses where a report goes if that was not said, and refuses what would be lost.
func (f *reportFlags) to(otherwise string) error {
	if f.path == "" {
		f.path, f.ours = otherwise, true
	}
	return f.check()
}
