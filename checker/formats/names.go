package formats

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker/models"
)

// Names are the words for operations that are understood, in any case, with
// keywords' colons and _ for - allowed.
var Names = map[models.F][]string{
	models.Acquire:  {"acquire", "lock", "acquire-write", "write-lock"},
	models.AcquireR: {"acquire-read", "read-lock", "acquire-shared"},
	models.Try:      {"try", "try-acquire", "try-lock", "trylock"},
	models.Extend:   {"extend", "renew", "refresh", "keep-alive"},
	models.Release:  {"release", "unlock", "release-write", "write-unlock"},
	models.ReleaseR: {"release-read", "read-unlock", "release-shared"},
	models.Read:     {"read", "get", "r"},
	models.Write:    {"write", "put", "w"},
	models.CAS:      {"cas", "compare-and-set", "compare-and-swap"},
	models.Append:   {"append"},
}

var meanings = func() map[string]models.F {
	all := map[string]models.F{}
	for f, words := range Names {
		for _, word := range words {
			all[word] = f
		}
	}
	return all
}()

// Ops lists the operations that a word may be mapped to, in a fixed order.
func Ops() []models.F { return slices.Sorted(maps.Keys(Names)) }

// leftOut is the meaning of what is none of the operations.
const leftOut models.F = "-"

func opWords() (all []string) {
	for _, f := range Ops() {
		all = append(all, string(f))
	}
	return all
}

// meaning finds what a word says, by the user's own table first.
func meaning(word string, own map[string]models.F) (models.F, error) {
	if f, ok := own[word]; ok {
		return f, nil
	}
	if f, ok := meanings[strings.ReplaceAll(strings.ToLower(word), "_", "-")]; ok {
		return f, nil
	}
	return "", fmt.Errorf("f %s: no operation that is known here; --f %s=OPERATION says which of %s it is, --f %[2]s=- "+
		"leaves it out", clip(word), word, strings.Join(opWords(), ", "))
}
