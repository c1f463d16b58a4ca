package models

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// drawOf begins the first line of a question for a drawing.
const drawOf = "draw "

// Draw has Porcupine draw the history of one key, in a child process: a page that
// needs nothing else, and no network. self is as for Asker.
func Draw(ctx context.Context, self []string, model string, o Options, ops []Op) (html string, err error) {
	text, err := json.Marshal(question{o, ops})
	if err != nil {
		return "", err
	}
	html = RunChild(ctx, self, drawOf+model, text)
	if !strings.HasPrefix(html, "<") {
		return "", errors.New("Porcupine's drawing: " + html)
	}
	return html, nil
}

// answerDrawing is the other end of Draw.
func answerDrawing(model string, q question, limit time.Duration) string {
	m, ok := specs[model]
	if !ok {
		return "gave up: no model " + model
	}
	p := m.porcupine(q.Options)
	_, info := porcupine.CheckOperationsVerbose(p, operations(q.Ops), limit)
	var page bytes.Buffer
	if err := porcupine.Visualize(p, info, &page); err != nil {
		return "gave up: " + err.Error()
	}
	return page.String()
}
