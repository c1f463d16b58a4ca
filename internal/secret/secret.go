// Package secret keeps passwords and tokens of endpoints out of what is stored and shown.
package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Hidden is written in place of a secret.
const Hidden = "***"

var (
	schemes = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://`)
	values  = regexp.MustCompile(`=[^&;#]*`)
)

// stops end a URL in a text, where it is not the rest of a word; a password may have a '. between stand before the next one in a list.
const (
	stops   = " \t\r\n\"<>"
	between = stops + "',;|=([{"
)

// urls are the places of the URLs in a text. The last @ of a word that begins with one, or is set to one, ends its password,
// whatever that holds: a blank, too, as no shell parts a word again.
func urls(text string) (places [][2]int) {
	var begins []int
	for _, at := range schemes.FindAllStringIndex(text, -1) {
		if len(begins) == 0 || strings.IndexByte(between, text[at[0]-1]) >= 0 {
			begins = append(begins, at[0])
		}
	}
	for i, begin := range begins {
		end := len(text)
		if i+1 < len(begins) {
			end = begins[i+1]
		}
		word := !strings.ContainsAny(text[:begins[0]], stops)
		if stop := strings.IndexAny(text[begin:end], stops); stop >= 0 && !(word && strings.Contains(text[begin+stop:end], "@")) {
			end = begin + stop
		}
		places = append(places, [2]int{begin, end})
	}
	return places
}

// Mask hides what is secret in the URLs of a text.
func Mask(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range urls(text) {
		b.WriteString(text[last:at[0]] + Endpoint(text[at[0]:at[1]]))
		last = at[1]
	}
	return b.String() + text[last:]
}

// In are the secret words of the URLs in a text, as Of has them.
func In(text string) (words []string) {
	for _, at := range urls(text) {
		words = append(words, Of([]string{text[at[0]:at[1]]})...)
	}
	return words
}

// Words is Mask of each word.
func Words(words []string) []string { return each(words, Mask) }

// Endpoints is Endpoint of each.
func Endpoints(all []string) []string { return each(all, Endpoint) }

func each(words []string, mask func(string) string) []string {
	if words == nil {
		return nil
	}
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = mask(w)
	}
	return all
}

// Endpoint is a URL or host:port without its password, its token in place of a user, the
// values of its query and its fragment.
func Endpoint(e string) string {
	scheme, user, rest := parts(e)
	if user != "" {
		name, _, has := strings.Cut(strings.TrimSuffix(user, "@"), ":")
		if user = Hidden + "@"; has {
			user = name + ":" + user
		}
	}
	rest, fragment, has := strings.Cut(rest, "#")
	if path, query, asks := strings.Cut(rest, "?"); asks {
		masked := values.ReplaceAllString(query, "="+Hidden)
		if masked == query && query != "" && !strings.Contains(query, "=") {
			masked = Hidden
		}
		rest = path + "?" + masked
	}
	if has && fragment != "" {
		rest += "#" + Hidden
	}
	return scheme + user + rest
}

// parts takes an endpoint apart: scheme://, user:password@, and the rest. A password may
// hold what it should not.
func parts(e string) (scheme, user, rest string) {
	rest = e
	if i := strings.Index(e, "://"); i >= 0 {
		scheme, rest = e[:i+3], e[i+3:]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		user, rest = rest[:i+1], rest[i+1:]
	}
	return scheme, user, rest
}

// shortest is the shortest secret that is looked for in a text: a shorter one is found in
// everything.
const shortest = 4

// Of are the secret words of endpoints, as they may stand in a text or in JSON.
func Of(endpoints []string) (words []string) {
	for _, e := range endpoints {
		_, user, rest := parts(e)
		if user = strings.TrimSuffix(user, "@"); user != "" {
			name, password, has := strings.Cut(user, ":")
			words = append(words, basic(name, password)...)
			if !has {
				password = name
			}
			words = append(words, Forms(password)...)
		}
		if _, query, has := strings.Cut(rest, "?"); has {
			for _, pair := range strings.FieldsFunc(query, func(c rune) bool { return strings.ContainsRune("&;#", c) }) {
				_, value, named := strings.Cut(pair, "=")
				if !named {
					value = pair
				}
				words = append(words, Forms(value)...)
			}
		}
	}
	return words
}

// basic is how HTTP sends a user's name and password, and so how a server may repeat them.
func basic(name, password string) []string {
	plain := make([]string, 2)
	for i, word := range []string{name, password} {
		plain[i] = word
		if is, err := url.PathUnescape(word); err == nil {
			plain[i] = is
		}
	}
	return []string{base64.StdEncoding.EncodeToString([]byte(plain[0] + ":" + plain[1]))}
}

// Forms are the ways in which a secret is written: as it is, in JSON, in JSON that stands in JSON, and in a URL.
func Forms(word string) (all []string) {
	forms := []string{word}
	if plain, err := url.PathUnescape(word); err == nil {
		forms = append(forms, plain)
	}
	for _, form := range forms {
		forms = append(forms, url.QueryEscape(form), url.PathEscape(form))
	}
	for range 2 {
		for _, form := range forms {
			if quoted, err := json.Marshal(form); err == nil {
				forms = append(forms, string(quoted[1:len(quoted)-1]))
			}
		}
	}
	seen := map[string]bool{}
	for _, form := range forms {
		if len(form) >= shortest && !seen[form] && form != Hidden {
			seen[form] = true
			all = append(all, form)
		}
	}
	return all
}

// Filter hides secret words in whatever passes it; nil hides none. Of two at the same place the longer
// one is hidden: of a token that begins with another the rest would stay.
func Filter(words []string) *strings.Replacer {
	if len(words) == 0 {
		return nil
	}
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, w := range words {
		pairs = append(pairs, w, Hidden)
	}
	return strings.NewReplacer(pairs...)
}
