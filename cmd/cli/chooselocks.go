package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks/libraries"
)

// underTest is one lock under test: a library, "" for the reference, on a backend.
type underTest struct{ backend, library string }

// chooseLocks resolves --backend and --library: every library on every backend that is
// named, or on its own first one where none is. A pair that does not go together is a
// cell that makes no sense, as long as its library has another that does.
func chooseLocks(backends, named []string) (all []underTest, err error) {
	if len(named) == 0 {
		chosen, err := chooseBackends(backends)
		for _, b := range chosen {
			all = append(all, underTest{backend: b})
		}
		return all, err
	}
	chosen, err := chooseLibraries(named)
	if err != nil {
		return nil, err
	}
	if len(backends) == 0 {
		return onDefaults(chosen)
	}
	on, err := chooseBackends(backends)
	if err != nil {
		return nil, err
	}
	for _, b := range on {
		for _, l := range chosen {
			all = append(all, underTest{b, plain(l)})
		}
	}
	return all, goTogether(on, chosen)
}

// chooseLibraries resolves names, all and globs. all is every library, without the reference.
func chooseLibraries(words []string) ([]string, error) {
	known := append(libraries.Names(), history.Reference)
	chosen, err := choose("library", words, known, libraries.Names())
	for _, l := range chosen {
		if err == nil && l != history.Reference {
			err = knownLibrary(l)
		}
	}
	return chosen, err
}

// knownLibrary refuses a name that no library has, or a version that is not here.
func knownLibrary(library string) error {
	backend, err := libraries.Default(library)
	if err == nil {
		_, err = libraries.Find(backend, library)
	}
	if err != nil {
		return usageError{fmt.Errorf("--library: %w", err)}
	}
	return nil
}

func onDefaults(chosen []string) (all []underTest, err error) {
	for _, l := range chosen {
		if l == history.Reference {
			return nil, usageError{errors.New("--library reference: --backend is missing, as every backend has a reference lock")}
		}
		backend, err := libraries.Default(l)
		if err != nil {
			return nil, usageError{err}
		}
		all = append(all, underTest{backend, l})
	}
	return all, nil
}

// goTogether refuses a library that runs on none of the backends.
func goTogether(backends, chosen []string) error {
	for _, l := range chosen {
		var first error
		if !slices.ContainsFunc(backends, func(b string) bool {
			_, err := libraries.Find(b, l)
			if first == nil {
				first = err
			}
			return err == nil
		}) {
			return usageError{fmt.Errorf("--library %s --backend %s: %w", l, strings.Join(backends, ","), first)}
		}
	}
	return nil
}

// plain is how options name a library: the reference not at all.
func plain(library string) string {
	if library == history.Reference {
		return ""
	}
	return library
}
