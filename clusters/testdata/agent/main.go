// Command agent stands in for dlmtest in the tests of clusters: as "agent" it
// echoes lines, as "janitor" it is the real janitor, as "runner" it brings up
// nodes and waits to be killed.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/clusters"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch args[0] {
	case "agent":
		return echo()
	case "janitor":
		return clusters.RunJanitor(os.Stdin)
	case "runner":
		return runner(args[1])
	}
	return fmt.Errorf("no command %q", args[0])
}

// echo answers each line with the host's name; "exit N" ends it, and
// "stderr TEXT" writes there.
func echo() error {
	host, _ := os.Hostname()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "exit":
			code, _ := strconv.Atoi(rest)
			os.Exit(code)
		case "stderr":
			fmt.Fprintln(os.Stderr, rest)
		case "cat":
			text, err := os.ReadFile(rest)
			fmt.Println(strings.ReplaceAll(string(text), "\n", "|"), err)
		case "fill": // a file, to at most 200 MB
			fmt.Println(fill(rest))
		default:
			fmt.Println(host, lines.Text())
		}
	}
	return nil
}

func fill(path string) (n int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	for block := make([]byte, 1<<20); n < 200<<20 && err == nil; {
		var more int
		more, err = f.Write(block)
		n += more
	}
	return n, errors.Join(err, f.Close())
}

func runner(id string) error {
	d, err := clusters.NewDocker(context.Background(), os.Args[0])
	if err != nil {
		return err
	}
	if d.Janitor, err = clusters.StartJanitor(os.Args[0], d.Owner); err != nil {
		return err
	}
	nodes := []clusters.NodeSpec{clusters.ClientSpec("a"), clusters.ClientSpec("b")}
	if _, err := d.Up(context.Background(), clusters.Run{ID: id}, nodes); err != nil {
		return err
	}
	fmt.Println("up")
	select {}
}
