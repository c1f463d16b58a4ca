package serve

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/html"
)

// listed are the names of the runs of a page, in their order.
func listed(body string) (names []string) {
	for _, m := range regexp.MustCompile(`<td class="name">(?:<a [^>]*>)?([^<]*)`).FindAllStringSubmatch(body, -1) {
		names = append(names, html.UnescapeString(m[1]))
	}
	return names
}

func many(t *testing.T) (dir string, at *httptest.Server) {
	t.Helper()
	dir = t.TempDir()
	run(t, dir, "a", "2026-11-21T10:00:00Z", "gc-pause", "redlock", "violated")
	run(t, dir, "c", "2026-11-21T12:00:00Z", "baseline", "etcd", "holds")
	run(t, dir, "b", "2026-11-21T11:00:00Z", "gc-pause", "etcd", "unknown")
	write(t, filepath.Join(dir, "m", "index.json"), `{"dlmtest_index":1,"started":"2026-11-21T13:00:00Z","scenarios":["storm"],"backends":["redis"],"cells":[{"scenario":"storm","backend":"redis","verdict":"holds"}]}`)
	write(t, filepath.Join(dir, "m", "index.html"), "index")
	write(t, filepath.Join(dir, "compare.html"), "compared")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	at = httptest.NewServer(s)
	t.Cleanup(func() { at.Close(); s.Close() })
	return dir, at
}

func TestList(t *testing.T) {
	_, at := many(t)
	for query, want := range map[string]string{
		"/":                           "[storm × redis baseline × etcd gc-pause × etcd gc-pause × redlock]",
		"/?q=gc-pause":                "[gc-pause × etcd gc-pause × redlock]",
		"/?q=ETCD+gc":                 "[gc-pause × etcd]",
		"/?verdict=violated":          "[gc-pause × redlock]",
		"/?verdict=unknown":           "[gc-pause × etcd]",
		"/?verdict=holds":             "[storm × redis baseline × etcd]",
		"/?q=mutual":                  "[gc-pause × etcd gc-pause × redlock]",
		"/?q=nothing-like-it":         "[]",
		"/?page=99":                   "[storm × redis baseline × etcd gc-pause × etcd gc-pause × redlock]",
		"/?page=-1&verdict=%3Cscript": "[]",
	} {
		resp, body := get(t, at, query)
		if got := fmt.Sprint(listed(body)); resp.code != 200 || got != want {
			t.Errorf("%s: %d %s, want %s", query, resp.code, got, want)
		}
	}
	_, body := get(t, at, "/")
	for _, want := range []string{`href="./a/report.html"`, `href="./m/index.html"`, `href="./compare.html"`, "✗ violated", "✓ holds", "? inconclusive", "1 cell: 1 holds"} {
		if !strings.Contains(body, want) {
			t.Errorf("the list lacks %s", want)
		}
	}
}

func TestListByPages(t *testing.T) {
	dir, at := many(t)
	for i := range perPage {
		run(t, dir, fmt.Sprintf("x%d", i), fmt.Sprintf("2026-11-20T10:%02d:%02dZ", i/60, i%60), "storm", "redis", "holds")
	}
	_, body := get(t, at, "/?q=storm")
	if n := len(listed(body)); n != perPage || !strings.Contains(body, "page=2") || !strings.Contains(body, "201 of 204") {
		t.Errorf("the first page lists %d", n)
	}
	_, body = get(t, at, "/?q=storm&page=2")
	if n := len(listed(body)); n != 1 || strings.Contains(body, "page=3") || !strings.Contains(body, "page=1") {
		t.Errorf("the second page lists %d", n)
	}
}

// Runs without a verdict say why, and a list is not kept once they have one.
func TestRunsWithoutVerdict(t *testing.T) {
	dir, at := many(t)
	run(t, dir, "going", "2026-11-21T14:00:00Z", "going", "redis", "")
	run(t, dir, "killed", "2026-11-21T14:00:00Z", "killed", "redis", "")
	run(t, dir, "broken", "2026-11-21T14:00:00Z", "broken", "redis", "")
	write(t, filepath.Join(dir, "broken", "results.json"), `{"verdict": "vio`)
	write(t, filepath.Join(dir, "old", "index.json"), `{"dlmtest_index":99}`)
	part := filepath.Join(dir, "going", "history.jsonl.part")
	write(t, part, "{}\n")
	f, err := os.Open(part)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	says := func(name string) string {
		_, body := get(t, at, "/?q="+name)
		m := regexp.MustCompile(`<b class="chip[^>]*>([^<]*)</b>`).FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("%s is not listed:\n%s", name, body)
		}
		return m[1]
	}
	for name, want := range map[string]string{"going": goesOn, "killed": notJudged, "broken": "! " + broken, "matrix": "! " + broken} {
		if got := says(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	f.Close()
	if got := says("going"); got != notJudged {
		t.Errorf("after its end: %q", got)
	}
	write(t, filepath.Join(dir, "going", "results.json"), `{"verdict":"holds"}`)
	if got := says("going"); got != "✓ holds" {
		t.Errorf("after its judgement: %q", got)
	}
}

func TestPageOfARun(t *testing.T) {
	_, at := many(t)
	resp, body := get(t, at, "/a/")
	for _, want := range []string{"gc-pause × redlock", "✗ violated", `href="./report.html"`, `href="./logs/"`, "what the servers wrote", `href="/a/"`} {
		if resp.code != 200 || !strings.Contains(body, want) {
			t.Errorf("%d: the page lacks %q", resp.code, want)
		}
	}
	if resp, body := get(t, at, "/a/logs/"); resp.code != 200 || !strings.Contains(body, `href="./redis.log"`) {
		t.Errorf("the logs: %d %s", resp.code, body)
	}
}

// A folder without a run says how to make one; a run may be served alone.
func TestOneFolder(t *testing.T) {
	for _, c := range []struct{ make, want string }{{"", "No run is here yet"}, {"run", "Open the report"}} {
		dir := t.TempDir()
		if c.make != "" {
			run(t, filepath.Dir(dir), filepath.Base(dir), "2026-11-21T10:00:00Z", "gc-pause", "redlock", "violated")
		}
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		if s.ServeHTTP(w, r); w.Code != 200 || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		s.Close()
	}
}

// Names and texts of runs never become elements of a page.
func TestHostileNames(t *testing.T) {
	plainDir, plainAt := many(t)
	run(t, plainDir, "x", "2026-11-21T14:00:00Z", "plain", "plain", "violated")
	write(t, filepath.Join(plainDir, "y.log"), "")
	dir, at := many(t)
	const hostile = `<script>alert(1)<script>"'onmouseover=alert(2)&amp;javascript:alert(3) ?#%2e`
	run(t, dir, hostile, "2026-11-21T14:00:00Z", hostile, hostile, "violated")
	write(t, filepath.Join(dir, hostile+".log"), "")
	query := "/?q=" + url.QueryEscape(hostile)
	for _, c := range [][2]string{{"/", "/"}, {query, "/?q=plain"}} {
		_, want := get(t, plainAt, c[1])
		_, got := get(t, at, c[0])
		if shape(want) != shape(got) {
			t.Errorf("%s: hostile names changed the page:\n%s", c[0], got)
		}
	}
	// And they lead to their own folder.
	_, body := get(t, at, query)
	m := regexp.MustCompile(`href="(\./[^"]*)">files`).FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("no link to the files:\n%s", body)
	}
	if resp, body := get(t, at, strings.TrimPrefix(html.UnescapeString(m[1]), ".")); resp.code != 200 || !strings.Contains(body, "the report") {
		t.Errorf("%s: %d", m[1], resp.code)
	}
}

// shape is the elements of a page with the names of their attributes.
func shape(page string) string {
	var b bytes.Buffer
	for z := html.NewTokenizer(strings.NewReader(page)); z.Next() != html.ErrorToken; {
		if tok := z.Token(); tok.Type != html.TextToken {
			fmt.Fprint(&b, tok.Type, tok.Data)
			for _, a := range tok.Attr {
				fmt.Fprint(&b, " ", a.Key)
			}
			fmt.Fprintln(&b)
		}
	}
	return b.String()
}
