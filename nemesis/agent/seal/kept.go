package seal

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Binary is where the dlmtest binary stands in every node, alone in its folder.
const (
	Folder = "/dlmtest"
	Binary = Folder + "/dlmtest"
)

// kept are the folders by which programs are started and sealed: who lays something over
// them is started in place of the agent, with all that it may.
var kept = []string{"/proc", "/sys", "/dev", Folder}

// Folders are those folders.
func Folders() []string { return slices.Clone(kept) }

// Kept says whether nothing of a user's may lie at a path of a node. Memory that processes
// share has a folder among the devices, and is nobody's way to start anything.
func Kept(target string) bool {
	target = path.Clean("/" + target)
	below := func(folder string) bool { return target == folder || strings.HasPrefix(target, folder+"/") }
	if target == "/" {
		return true
	}
	for _, folder := range kept {
		if below(folder) {
			return !below("/dev/shm")
		}
	}
	return false
}

// mostLinks is how many links a path may lead through, as for the kernel.
const mostLinks = 40

// Follow says where a path of a node leads, seen from the node's root folder, and never
// beyond that. link reads a link; false: there is none at that path.
func Follow(target string, link func(path string) (to string, is bool)) (string, error) {
	at, todo := "/", strings.Split(target, "/")
	for links := 0; len(todo) > 0; {
		next := path.Join(at, todo[0]) // ".." too: no link is on the way
		to, is := "", false
		if todo = todo[1:]; next != at {
			to, is = link(next)
		}
		if !is {
			at = next
			continue
		}
		if links++; links > mostLinks {
			return "", fmt.Errorf("%q leads through more than %d links", target, mostLinks)
		}
		if path.IsAbs(to) {
			at = "/"
		}
		todo = append(strings.Split(to, "/"), todo...)
	}
	return at, nil
}
