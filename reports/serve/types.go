package serve

import (
	"path"
	"slices"
	"strings"
)

// fileType is how a file is sent.
type fileType struct {
	content, policy string
	download        bool
}

const (
	// pagePolicy is for the pages of the server itself, which have no script.
	pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
	// reportPolicy is for reports, which may have come from anywhere: their scripts run
	// in an origin of their own, which can read nothing here and reach no network. The
	// policy that a report carries narrows it to its own script.
	reportPolicy = "sandbox allow-scripts allow-popups allow-downloads; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; " +
		"img-src data: blob:; connect-src data: blob:; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	// plainPolicy lets nothing run and nothing load.
	plainPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
)

// reportNames are the pages that dlmtest writes, and pageFolders hold others: Porcupine's drawings,
// and the comparisons of a matrix.
var (
	reportNames = []string{"report.html", "index.html", "compare.html", "gate.html"}
	pageFolders = []string{"violations", "side-by-side"}
)

// texts are shown as they are.
var texts = []string{"", ".log", ".txt", ".jsonl", ".part", ".md", ".xml", ".yaml", ".yml", ".edn", ".err", ".out", ".html"}

// typeOf goes by the name and the place of a file alone. What a server has logged is
// text, whatever it is called.
func typeOf(name string) fileType {
	dir, base := path.Split(name)
	folder := path.Base(path.Clean("/" + dir))
	ext := strings.ToLower(path.Ext(base))
	switch {
	case slices.Contains(strings.Split(dir, "/"), "logs"):
	case slices.Contains(reportNames, base), slices.Contains(pageFolders, folder) && ext == ".html":
		return fileType{content: "text/html; charset=utf-8", policy: reportPolicy}
	case ext == ".json":
		return fileType{content: "application/json; charset=utf-8", policy: plainPolicy}
	case ext == ".png":
		return fileType{content: "image/png", policy: plainPolicy}
	case ext == ".svg":
		return fileType{content: "image/svg+xml", policy: plainPolicy}
	case !slices.Contains(texts, ext):
		return fileType{content: "application/octet-stream", policy: plainPolicy, download: true}
	}
	return fileType{content: "text/plain; charset=utf-8", policy: plainPolicy}
}
