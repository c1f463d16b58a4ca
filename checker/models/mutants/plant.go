package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mistake is one planted mistake.
type mistake struct {
	id       int
	at, what string // folder/file:line:column, and what was changed into what
	line     string // of the source
	hash     string // of the file
}

// planter plants mistakes in one file. Edits only insert, so that they nest.
type planter struct {
	fset    *token.FileSet
	name    string
	source  []byte
	hash    string
	types   map[ast.Expr]types.TypeAndValue
	loops   ast.Expr // the condition of the last loop
	planted *[]mistake
	edits   []edit
}

// edit is text to insert. Of one place, outer ones come first where they open
// and last where they close.
type edit struct {
	at    int
	text  string
	close bool
	depth int // the length of what it encloses
}

// swaps are the operators that are exchanged.
var swaps = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
}

// edges are swaps that differ only where both sides are equal.
var edges = map[token.Token]token.Token{token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR}

// plant writes the package with every mistake in it beside the original, and
// the overlay by which go build takes it.
func plant(dir, scratch string) (planted []mistake, overlay string, err error) {
	loaded, err := packages.Load(&packages.Config{Dir: dir, Mode: packages.NeedName | packages.NeedCompiledGoFiles |
		packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedDeps}, ".")
	if err != nil {
		return nil, "", err
	}
	pkg := loaded[0]
	if len(pkg.Errors) > 0 {
		return nil, "", pkg.Errors[0]
	}
	replace := map[string]string{}
	for i, full := range pkg.CompiledGoFiles {
		replace[full] = filepath.Join(scratch, filepath.Base(full))
		p := &planter{fset: pkg.Fset, name: filepath.Base(filepath.Dir(full)) + "/" + filepath.Base(full), types: pkg.TypesInfo.Types, planted: &planted}
		if err := p.file(pkg.Syntax[i], full, replace[full]); err != nil {
			return nil, "", err
		}
	}
	full, err := filepath.Abs(filepath.Join(dir, "mutant.go"))
	if err != nil {
		return nil, "", err
	}
	replace[full] = filepath.Join(scratch, "mutant.go")
	text := fmt.Sprintf("package %s\n", pkg.Name) + fmt.Sprintf(chooser, max(len(planted), 1))
	if err := os.WriteFile(replace[full], []byte(text), 0o644); err != nil {
		return nil, "", err
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, "", err
	}
	overlay = filepath.Join(scratch, "overlay.json")
	return planted, overlay, os.WriteFile(overlay, list, 0o644)
}

// file writes one file with its mistakes.
func (p *planter) file(file *ast.File, from, to string) (err error) {
	if p.source, err = os.ReadFile(from); err != nil {
		return err
	}
	p.hash = hash(p.source)
	ast.Inspect(file, p.visit)
	return os.WriteFile(to, p.result(), 0o644)
}

func (p *planter) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		for _, op := range swaps[n.Op] {
			if op == edges[n.Op] && (p.instants(n) || p.presence(n)) {
				continue
			}
			p.expression(n, fmt.Sprintf("(%s) %s (%s)", p.text(n.X), op, p.text(n.Y)), fmt.Sprintf("%s becomes %s", n.Op, op))
		}
	case *ast.ForStmt:
		p.loops = n.Cond
	case *ast.IfStmt:
		p.negate(n.Cond)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					p.negate(e)
				}
			}
		}
	case *ast.BlockStmt:
		for _, s := range n.List {
			p.remove(s)
		}
	case *ast.CaseClause:
		for _, s := range n.Body {
			p.remove(s)
		}
	}
	return true
}

// instants says that two times in nanoseconds are compared: no definition says what holds
// where both are the same nanosecond, so what differs there alone is no mistake. Of
// int64 there are times and tokens.
func (p *planter) instants(b *ast.BinaryExpr) bool {
	for _, side := range []ast.Expr{b.X, b.Y} {
		t := p.types[side]
		if t.Type == nil || !types.Identical(t.Type, types.Typ[types.Int64]) || t.Value != nil || strings.Contains(strings.ToLower(p.text(side)), "token") {
			return false
		}
	}
	return true
}

// presence says that an index of the history is compared with 0 to ask whether there is one: the mistake
// shows where it is that of the first line, which is answered by nothing before it. A loop counts.
func (p *planter) presence(b *ast.BinaryExpr) bool {
	x, zero := p.types[b.X], p.types[b.Y].Value
	return ast.Expr(b) != p.loops && (b.Op == token.GEQ || b.Op == token.LSS) && x.Type != nil && types.Identical(x.Type, types.Typ[types.Int]) &&
		zero != nil && zero.ExactString() == "0"
}

// negate turns a condition round that is no comparison, which are exchanged elsewhere.
func (p *planter) negate(e ast.Expr) {
	if b, ok := e.(*ast.BinaryExpr); ok && swaps[b.Op] != nil && b.Op != token.LAND && b.Op != token.LOR {
		return
	}
	p.expression(e, "!("+p.text(e)+")", "condition turned round")
}

func (p *planter) expression(e ast.Expr, wrong, what string) {
	id := p.add(e, what+": "+p.text(e))
	p.around(e, fmt.Sprintf("mutated(%d, func() bool { return ", id), fmt.Sprintf(" }, func() bool { return %s })", wrong))
}

// remove leaves a statement out: an assignment, a count, or a call.
func (p *planter) remove(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return
		}
	case *ast.IncDecStmt, *ast.ExprStmt:
	case *ast.BranchStmt:
		if s.Label != nil || s.Tok != token.CONTINUE && s.Tok != token.BREAK {
			return
		}
	default:
		return
	}
	id := p.add(s, "left out: "+p.text(s))
	p.around(s, fmt.Sprintf("if !mutant(%d) { ", id), " }")
}

func (p *planter) add(n ast.Node, what string) int {
	at := p.fset.Position(n.Pos())
	line := strings.TrimSpace(strings.Split(string(p.source), "\n")[at.Line-1])
	*p.planted = append(*p.planted, mistake{len(*p.planted), fmt.Sprintf("%s:%d:%d", p.name, at.Line, at.Column),
		strings.Join(strings.Fields(what), " "), line, p.hash})
	return len(*p.planted) - 1
}

func (p *planter) text(n ast.Node) string {
	return string(p.source[p.fset.Position(n.Pos()).Offset:p.fset.Position(n.End()).Offset])
}

func (p *planter) around(n ast.Node, open, shut string) {
	from, to := p.fset.Position(n.Pos()).Offset, p.fset.Position(n.End()).Offset
	// Two around the same node: the later is the inner one.
	p.edits = append(p.edits, edit{from, open, false, (to-from)<<16 - len(p.edits)}, edit{to, shut, true, (to-from)<<16 - len(p.edits)})
}

// result is the source with all edits.
func (p *planter) result() []byte {
	sort.SliceStable(p.edits, func(i, j int) bool {
		a, b := p.edits[i], p.edits[j]
		switch {
		case a.at != b.at:
			return a.at < b.at
		case a.close != b.close:
			return a.close
		case a.close:
			return a.depth < b.depth
		}
		return a.depth > b.depth
	})
	var out bytes.Buffer
	last := 0
	for _, e := range p.edits {
		out.Write(p.source[last:e.at])
		out.WriteString(e.text)
		last = e.at
	}
	out.Write(p.source[last:])
	return out.Bytes()
}
