// Package serve shows the folders of runs to a browser on this machine. It only reads,
// never leaves its folder, and never lets what was recorded act as a page: see Server.
package serve

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Server answers requests for the files of one folder.
//
// Every file is opened below an os.Root, so neither ".." nor a link leads out of the
// folder; names that begin with a dot, and links but those at the top to a folder
// beside them, such as latest, are not there. A request whose Host is a name that
// nobody has allowed is refused: the name of an attacker's page may be made to lead
// here. Only GET and HEAD are known.
type Server struct {
	// Hunt reads the hunt.json of a name for a list; nil: a hunt is listed as a folder.
	Hunt  func(name string, data []byte) (Listed, error)
	root  *os.Root
	name  string
	hosts []string
	cache cache
}

// Open makes a server of a folder. hosts are names beside localhost by which it may
// be asked; addresses always are.
func Open(dir string, hosts ...string) (*Server, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Server{root: root, name: dir, hosts: hosts}, nil
}

// Close ends the use of the folder.
func (s *Server) Close() error { return s.root.Close() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", pagePolicy)
	if !s.allowed(r.Host) {
		refuse(w, http.StatusMisdirectedRequest, "The name in the address is not known here. Use localhost or the "+
			"address itself, or start dlmtest serve with --host and this name.")
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "Only GET and HEAD are known: nothing can be changed here.")
		return
	}
	name, ok := cleaned(r.URL.Path)
	if !ok {
		missing(w)
		return
	}
	s.find(w, r, name)
}

// find answers with the file or the folder of a name.
func (s *Server) find(w http.ResponseWriter, r *http.Request, name string) {
	if to, ok := s.follow(name); ok {
		redirect(w, r, to)
		return
	}
	info, err := s.stat(name)
	switch {
	case err != nil:
		missing(w)
	case info.IsDir() && !strings.HasSuffix(r.URL.Path, "/"):
		redirect(w, r, name+"/")
	case info.IsDir():
		s.folder(w, r, name)
	case info.Mode().IsRegular() && !strings.HasSuffix(r.URL.Path, "/"):
		s.file(w, r, name)
	default:
		missing(w)
	}
}

// allowed says whether a Host header can be from somebody who meant this server. A
// name that leads here by somebody else's DNS is not; an address cannot be led anywhere.
func (s *Server) allowed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host == "localhost" || net.ParseIP(host) != nil || slices.Contains(s.hosts, host)
}

// cleaned makes of the path of a request the name of a file below the folder; "." is
// the folder. Nothing is put right: what is not plain is refused.
func cleaned(path string) (name string, ok bool) {
	name, ok = strings.CutPrefix(path, "/")
	name = strings.TrimSuffix(name, "/")
	if name == "" {
		return ".", ok && path == "/"
	}
	if !ok || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		return "", false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return "", false
		}
	}
	return name, true
}

// follow resolves a link at the top of the folder that names a neighbour.
func (s *Server) follow(name string) (to string, ok bool) {
	first, rest, more := strings.Cut(name, "/")
	target, err := s.root.Readlink(first)
	if err != nil || first == "." {
		return "", false
	}
	if plain, ok := cleaned("/" + target); !ok || plain != target || strings.Contains(target, "/") {
		return "", false
	}
	if info, err := s.root.Lstat(target); err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return "", false
	}
	if more {
		target += "/" + rest
	}
	return target, true
}

// stat describes a file no part of whose path is a link.
func (s *Server) stat(name string) (info fs.FileInfo, err error) {
	for at := 0; at < len(name); {
		end := len(name)
		if next := strings.IndexByte(name[at:], '/'); next >= 0 {
			end = at + next
		}
		if info, err = s.root.Lstat(name[:end]); err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, fs.ErrNotExist
		}
		at = end + 1
	}
	return info, nil
}

// open opens a regular file. A pipe would make the server wait for its writer.
func (s *Server) open(name string) (*os.File, fs.FileInfo, error) {
	f, err := s.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// file sends a file with the type that its name and its place give it, whatever is in it.
func (s *Server) file(w http.ResponseWriter, r *http.Request, name string) {
	f, info, err := s.open(name)
	if err != nil {
		missing(w)
		return
	}
	defer f.Close()
	t := typeOf(name)
	w.Header().Set("Content-Type", t.content)
	w.Header().Set("Content-Security-Policy", t.policy)
	if t.download {
		w.Header().Set("Content-Disposition", "attachment")
	}
	http.ServeContent(w, r, "", info.ModTime(), f)
}

func redirect(w http.ResponseWriter, r *http.Request, name string) {
	to := url.URL{Path: "/" + name, RawQuery: r.URL.RawQuery}
	if strings.HasSuffix(r.URL.Path, "/") && !strings.HasSuffix(name, "/") {
		to.Path += "/"
	}
	w.Header().Set("Location", to.EscapedPath()+query(to.RawQuery))
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusFound)
}

func query(raw string) string {
	if raw == "" {
		return ""
	}
	return "?" + raw
}

func missing(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, "There is no such file in the folder that is served.")
}

func refuse(w http.ResponseWriter, code int, why string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(code)
	fmt.Fprintln(w, why)
}
