package serve

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

const secret = "the secret outside"

// served makes a folder of runs with a secret beside it, and serves it.
func served(t *testing.T) (dir string, at *httptest.Server) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "runs")
	write(t, filepath.Join(dir, "..", "secret"), secret)
	write(t, filepath.Join(dir, "..", "outside", "report.html"), secret)
	run(t, dir, "a", "2026-11-21T10:00:00Z", "gc-pause", "redlock", "violated")
	for link, to := range map[string]string{
		"latest": "a", "out": "../outside", "file-out": "../secret", "absolute": filepath.Join(dir, "..", "secret"), "a/inner": "../../secret",
		"a/within": "report.html", "hidden": ".hidden", "deep": "a/logs", "chain": "latest", "self": "self",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, ".hidden"), secret)
	write(t, filepath.Join(dir, "a", ".report.html-123"), secret)
	s, err := Open(dir, "lab.example.org")
	if err != nil {
		t.Fatal(err)
	}
	at = httptest.NewServer(s)
	t.Cleanup(func() { at.Close(); s.Close() })
	return dir, at
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run makes the folder of a run.
func run(t *testing.T, dir, name, started, scenario, backend, verdict string) {
	t.Helper()
	at := filepath.Join(dir, name)
	write(t, filepath.Join(at, "run.json"), fmt.Sprintf(`{"dlmtest_run":1,"scenario":%q,"backend":%q,"started":%q}`, scenario, backend, started))
	write(t, filepath.Join(at, "history.jsonl"), "{}\n")
	write(t, filepath.Join(at, "report.html"), "<p>report of "+name)
	write(t, filepath.Join(at, "logs", "redis.log"), "<script>alert(1)</script>")
	if verdict != "" {
		write(t, filepath.Join(at, "results.json"), fmt.Sprintf(`{"verdict":%q,"properties":[{"name":"mutual-exclusion","verdict":%q,"violations":[{"message":"so"}]}]}`, verdict, verdict))
	}
}

// raw sends a request line as it is, which no client would, and returns the code and all that came.
func raw(t *testing.T, at *httptest.Server, method, target, host string) (int, string) {
	t.Helper()
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(at.URL, "http://"), eventually.Most)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(eventually.Most))
	fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", method, target, host)
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return resp.StatusCode, string(body)
}

// answer is what came of a request.
type answer struct {
	code   int
	header http.Header
	path   string // after redirects
}

func get(t *testing.T, at *httptest.Server, path string) (answer, string) {
	t.Helper()
	resp, err := http.Get(at.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, resp.Request.URL.Path}, string(body)
}

// Nothing outside the folder, no hidden file and no link but to a neighbour is to be had.
func TestNoWayOut(t *testing.T) {
	_, at := served(t)
	for _, target := range []string{
		"/../secret", "/../../../../etc/passwd", "/a/../../secret", "/a/../a/report.html", "/./a/report.html", "/..", "/../", "/a/..", "/a/.", "//etc/passwd", "//a/report.html", "/a//report.html", "/a/report.html/",
		"/%2e%2e/secret", "/%2e%2e%2fsecret", "/..%2fsecret", "/a%2f..%2f..%2fsecret", "/%252e%252e/secret", "/%c0%ae%c0%ae/secret", "/..%5csecret", `/..\secret`, `/a\report.html`, "/a%00", "/a/report.html%00.log", "/%00",
		"/.hidden", "/%2ehidden", "/a/.report.html-123", "/hidden", "/hidden/", "/.", "/a/%2e", "/%2e%2e",
		"/out", "/out/", "/out/report.html", "/file-out", "/absolute", "/a/inner", "/a/within", "/deep", "/deep/redis.log", "/chain", "/chain/report.html", "/self", "/self/x",
		"http://localhost/../secret", "http://localhost/%2e%2e/secret", "/a/report.html/../../../secret", "/latest/../../secret", "/nothing", "/a/nothing", "*", "/a/report.html;x", "/a/report.html%20",
	} {
		code, body := raw(t, at, "GET", target, "localhost")
		if code != http.StatusNotFound && code != http.StatusBadRequest {
			t.Errorf("%s: %d, want 404 or 400", target, code)
		}
		if strings.Contains(body, secret) || strings.Contains(body, "root:") {
			t.Errorf("%s gave what is not in the folder: %q", target, body)
		}
	}
	if resp, body := get(t, at, "/latest/report.html"); resp.code != 200 || resp.path != "/a/report.html" || body != "<p>report of a" {
		t.Errorf("latest leads to %s: %d %q", resp.path, resp.code, body)
	}
	if resp, _ := get(t, at, "/latest"); resp.path != "/a/" || resp.code != 200 {
		t.Errorf("latest without a slash leads to %s", resp.path)
	}
	for _, page := range []string{"/", "/a/"} {
		if _, body := get(t, at, page); strings.Contains(body, "hidden") || strings.Contains(body, "within") || strings.Contains(body, "absolute") || strings.Contains(body, "-123") {
			t.Errorf("%s lists what cannot be read:\n%s", page, body)
		}
	}
}

// A folder that becomes a link while it is served leads nowhere, and a pipe holds nobody up.
func TestChangesMeanwhile(t *testing.T) {
	dir, at := served(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "a", "pipe.log"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _ := raw(t, at, "GET", "/a/pipe.log", "localhost"); code != http.StatusNotFound {
		t.Errorf("a pipe: %d, want 404", code)
	}
	if err := os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../outside", filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	if code, body := raw(t, at, "GET", "/a/report.html", "localhost"); code != http.StatusNotFound || strings.Contains(body, secret) {
		t.Errorf("a folder that became a link: %d %q", code, body)
	}
	// Nobody may look over the shoulder of a name that was checked: the opening itself
	// stays in the folder and follows no link at the end.
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"a/report.html", "b/pipe.log", "file-out", "absolute", "../secret"} {
		if f, _, err := s.open(name); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
}

func TestHosts(t *testing.T) {
	_, at := served(t)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:80": 200, "LOCALHOST:1": 200, "127.0.0.1": 200, "127.0.0.1:8421": 200, "[::1]:8421": 200, "::1": 200, "192.0.2.7:80": 200, "lab.example.org": 200, "Lab.Example.Org:8421": 200,
		"evil.example": 421, "evil.example:8421": 421, "localhost.evil.example": 421, "127.0.0.1.evil.example": 421, "evil.lab.example.org": 421, "localhost.": 421, "": 421,
	} {
		code, body := raw(t, at, "GET", "/", host)
		if code != want {
			t.Errorf("Host %q: %d, want %d", host, code, want)
		}
		if want == 421 && strings.Contains(body, "gc-pause") {
			t.Errorf("Host %q was told of runs", host)
		}
	}
}

func TestOnlyReading(t *testing.T) {
	dir, at := served(t)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "MKCOL", "get"} {
		code, _ := raw(t, at, method, "/a/report.html", "localhost")
		if code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d, want 405", method, code)
		}
	}
	if code, body := raw(t, at, "HEAD", "/", "localhost"); code != 200 || body != "" {
		t.Errorf("HEAD /: %d %q", code, body)
	}
	if code, body := raw(t, at, "HEAD", "/a/report.html", "localhost"); code != 200 || body != "" {
		t.Errorf("HEAD of a file: %d %q", code, body)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "a", "report.html")); err != nil || string(text) != "<p>report of a" {
		t.Errorf("the report is %q, %v", text, err)
	}
}

// The list shows the answers of each run, and whether they are as expected.
func TestListShowsAnswers(t *testing.T) {
	dir, at := served(t)
	write(t, filepath.Join(dir, "a", "results.json"), `{"verdict":"violated","answers":{"promise":"yes","data_unfenced":"no","data_fenced":"n/a","went_on":"unknown","as_expected":true}}`)
	_, body := get(t, at, "/")
	for _, want := range []string{`class="holds" role="img" title="Did the service keep its promise? Yes"`, `class="foreseen" role="img" title="Was the data saved, without a fence? No"`, "<small>as expected</small>"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	write(t, filepath.Join(dir, "a", "results.json"), `{"verdict":"violated"}`)
	if _, body := get(t, at, "/"); strings.Contains(body, "as expected") {
		t.Error("answers of a run that has none")
	}
}

// What was recorded is never a page, whatever it is called; pages are sandboxed.
func TestTypes(t *testing.T) {
	dir, at := served(t)
	const text, page = "text/plain; charset=utf-8", "text/html; charset=utf-8"
	for name, want := range map[string]string{
		"a/report.html": page, "index.html": page, "a/violations/1.html": page, "a/side-by-side/gc-pause.html": page, "a/gate.html": page, "a/history.jsonl": text, "a/run.json": "application/json; charset=utf-8",
		"a/logs/redis.log": text, "a/logs/report.html": text, "a/logs/index.html": text, "a/logs/x.svg": text, "a/logs/x.json": text, "a/logs/violations/1.html": text, "a/logs/side-by-side/1.html": text, "a/logs/gate.html": text, "a/logs/noname": text,
		"a/evil.html": text, "a/evil.HTML": text, "a/junit.xml": text, "a/evil.xhtml": "application/octet-stream", "a/evil.htm": "application/octet-stream", "a/evil.js": "application/octet-stream", "a/violation.svg": "image/svg+xml", "a/violation.png": "image/png", "a/x.gz": "application/octet-stream",
	} {
		write(t, filepath.Join(dir, name), "<script>alert(1)</script>")
		resp, body := get(t, at, "/"+name)
		if got := resp.header.Get("Content-Type"); resp.code != 200 || got != want || body != "<script>alert(1)</script>" {
			t.Errorf("%s: %d %q %q, want %q", name, resp.code, got, body, want)
		}
		policy := resp.header.Get("Content-Security-Policy")
		if resp.header.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(policy, "sandbox") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: %v", name, resp.header)
		}
		if strings.Contains(policy, "allow-same-origin") || strings.Contains(policy, "script-src") != (want == page) {
			t.Errorf("%s: policy %q", name, policy)
		}
		if strings.HasPrefix(want, "application/octet") && resp.header.Get("Content-Disposition") != "attachment" {
			t.Errorf("%s is not a download", name)
		}
	}
	resp, _ := get(t, at, "/")
	if p := resp.header.Get("Content-Security-Policy"); strings.Contains(p, "script") || !strings.Contains(p, "default-src 'none'") {
		t.Errorf("the list has the policy %q", p)
	}
}

func FuzzCleaned(f *testing.F) {
	for _, s := range []string{"/", "/a/b", "/../x", "/a//b", "/.x", "/a/", "x", "/a\\b", "/a/\x00", "/..a/b."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		name, ok := cleaned(path)
		if !ok {
			return
		}
		if !fs.ValidPath(name) || !filepath.IsLocal(name) || strings.ContainsAny(name, "\\\x00") || "/"+strings.TrimPrefix(name, ".") != strings.TrimSuffix(path, "/") && path != "/" {
			t.Errorf("%q became %q", path, name)
		}
		for part := range strings.SplitSeq(name, "/") {
			if name != "." && strings.HasPrefix(part, ".") {
				t.Errorf("%q became %q, which is hidden", path, name)
			}
		}
	})
}
