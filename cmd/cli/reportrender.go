package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/whole"
	"github.com/dlmtest/dlmtest/reports/pages"
	"github.com/dlmtest/dlmtest/reports/picture"
	"github.com/dlmtest/dlmtest/reports/story"
	"github.com/dlmtest/dlmtest/reports/text"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// done writes the report and says where it is.
func (f *reportFlags) done(cmd *cobra.Command, render func(io.Writer) error) error {
	defer unhurried("writing %s", f.path)()
	if err := f.write(cmd.OutOrStdout(), render); sealed(err) {
		return fmt.Errorf("%w; -o FILE writes it elsewhere", err)
	} else if err != nil {
		return err
	}
	if f.path == "-" {
		return nil
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "report  %s\n", f.path)
	return err
}

// opened reads a saved run, and judges it only if nobody has.
func opened(cmd *cobra.Command, in *os.Root) (*runner.Outcome, error) {
	dir := in.Name()
	defer unhurried("reading %s", dir)()
	out, err := runner.OpenIn(in)
	if !errors.Is(err, runner.ErrNotJudged) {
		return out, err
	}
	oracle := checker.Oracle{Self: []string{self(), "oracle"}}
	out, err = runner.CheckIn(cmd.Context(), in, oracle)
	if sealed(err) {
		fmt.Fprintf(stderr, "%s was not judged: it is judged now, and nothing of that is saved, as the folder cannot be written\n", dir)
		return judgedAside(cmd, in, oracle)
	}
	fmt.Fprintf(stderr, "%s was not judged: it is judged now, as dlmtest check does, and its results are saved\n", dir)
	return out, err
}

// sealed says that nothing can be written somewhere.
func sealed(err error) bool { return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) }

// judgedAside judges a copy of a run whose own folder cannot be written.
func judgedAside(cmd *cobra.Command, in *os.Root, oracle checker.Oracle) (_ *runner.Outcome, err error) {
	aside, remove, err := whole.Folder("", "judged")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	aside = filepath.Join(aside, "run") // the folder itself is held by this process, as that of a run which goes on
	if err := os.Mkdir(aside, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"run.json", "history.jsonl", "history.jsonl.part"} {
		if err := copyAside(in, name, filepath.Join(aside, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	out, err := runner.Check(cmd.Context(), aside, oracle)
	if out == nil {
		return nil, err
	}
	out.Dir = in.Name()
	for _, p := range out.Result.Properties {
		for _, v := range p.Violations {
			if v.Minimal != nil { // its files went with the copy
				v.Minimal.File, v.Minimal.Drawing = "", ""
			}
		}
	}
	return out, err
}

func copyAside(in *os.Root, name, to string) error {
	from, err := bounded.OpenIn(in, name)
	if err != nil {
		return err
	}
	defer from.Close()
	return whole.At(to, func(w io.Writer) error {
		_, err := bounded.Copy(w, from)
		return err
	})
}

// hold opens the folder of what is shown, and chooses where the report goes: into that folder, if nobody has said it.
func (f *reportFlags) hold(dir, otherwise string) (*os.Root, error) {
	in, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := f.to(otherwise); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if f.ours {
		f.in = in
	}
	return in, nil
}

// one renders the report of one run.
func (f *reportFlags) one(cmd *cobra.Command, dir string) error {
	otherwise := "-"
	switch f.format {
	case "html":
		otherwise = filepath.Join(dir, "report.html")
	case "svg", "png":
		otherwise = filepath.Join(dir, "violation."+f.format)
		if f.violation > 0 {
			otherwise = filepath.Join(dir, fmt.Sprintf("violation-%d.%s", f.violation, f.format))
		}
	}
	in, err := f.hold(dir, otherwise)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // all that was written is closed
	out, err := opened(cmd, in)
	if err != nil {
		return err
	}
	if f.isPicture() {
		return f.picture(cmd, out)
	}
	return f.done(cmd, func(w io.Writer) error {
		switch f.format {
		case "md":
			return text.Markdown(w, out.Run, out.Setup, out.Ops, out.Result)
		case "json":
			return text.JSON(w, out.Run, out.Setup, out.Ops, out.Result)
		}
		out.Run.Folder = f.way(dir)
		return pages.HTML(w, out.Run, out.Setup, out.Ops, out.Result)
	})
}

// picture draws one violation.
func (f *reportFlags) picture(cmd *cobra.Command, out *runner.Outcome) error {
	name, v, ok := story.Numbered(out.Result, f.violation)
	if !ok && f.violation > 0 {
		return usageError{fmt.Errorf("violation %d: %s has none of that number; dlmtest explain %s lists them", f.violation, out.Dir, out.Dir)}
	}
	if !ok {
		fmt.Fprintf(stderr, "%s has no violation: the whole run is drawn\n", out.Dir)
	}
	f.bytes = f.format == "png"
	p := picture.New(out.Run, out.Setup, out.Ops, name, v)
	return f.done(cmd, func(w io.Writer) error {
		if f.format == "svg" {
			return p.SVG(w)
		}
		return p.PNG(w)
	})
}

// matrix renders the index of a matrix.
func (f *reportFlags) matrix(cmd *cobra.Command, dir string) error {
	otherwise := "-"
	if f.format == "html" {
		otherwise = filepath.Join(dir, matrix.PageFile)
	}
	in, err := f.hold(dir, otherwise)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // all that was written is closed
	x, err := matrix.OpenIn(in)
	if err != nil {
		return err
	}
	if f.format == "html" {
		way := f.way(dir)
		for _, c := range x.Cells {
			for i := range c.Runs {
				c.Runs[i].Dir = along(way, c.Runs[i].Dir)
			}
		}
	}
	render := map[string]func(io.Writer, pages.Index) error{"html": pages.IndexHTML, "md": indexMarkdown(in), "json": pages.IndexJSON}[f.format]
	return f.done(cmd, func(w io.Writer) error { return render(w, x) })
}

// indexMarkdown writes the table of a matrix, and the story of one violation. A run
// that cannot be read has none; the table is worth something without it.
func indexMarkdown(in *os.Root) func(io.Writer, pages.Index) error {
	return func(w io.Writer, x pages.Index) error {
		if err := pages.IndexMarkdown(w, x); err != nil {
			return err
		}
		c, r, ok := x.Tellable()
		if !ok || r.Dir == "" {
			return nil
		}
		out, err := openedBelow(in, r.Dir)
		if err != nil {
			fmt.Fprintf(stderr, "no story of %s: %v\n", c.RunName(r), err)
			return nil
		}
		return text.MarkdownStory(w, c.RunName(r), out.Setup, out.Ops, out.Result)
	}
}

// openedBelow reads the run that an index names.
func openedBelow(in *os.Root, name string) (*runner.Outcome, error) {
	own, err := bounded.Below(in, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = own.Close() }() // it was read
	return runner.OpenIn(own)
}

// compare renders several runs side by side. One history at a time is in memory.
func (f *reportFlags) compare(cmd *cobra.Command, dirs []string) error {
	otherwise := "-"
	if f.format == "html" {
		otherwise = "compare.html"
	}
	if err := f.to(otherwise); err != nil {
		return err
	}
	c := pages.NewComparison(pages.Align(f.align))
	for _, dir := range dirs {
		in, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		out, err := opened(cmd, in)
		link := ""
		if _, wrong := in.Stat("report.html"); wrong == nil {
			link = along(f.way(dir), "report.html")
		}
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
		c.Add(out.Run, out.Setup, out.Ops, out.Result, link)
	}
	render := map[string]func(io.Writer) error{"html": c.HTML, "md": c.Markdown, "json": c.JSON}[f.format]
	return f.done(cmd, render)
}
