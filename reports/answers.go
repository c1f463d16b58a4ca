package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Question is one of those that head every report, with its answer.
type Question struct {
	checker.Reply
	Question string
	Short    string // of a table with many of them
	Sentence string // why
	Beside   string // whether that is as expected; "": nothing is known
}

// questionNames are the questions in the order of checker.Answers.
var questionNames = [...]struct {
	long, short string
	of          checker.Asked
}{
	{"Did the service keep its promise?", "promise", checker.OfPromise},
	{"Was the data saved, without a fence?", "data without fence", checker.OfUnfenced},
	{"Was the data saved, with a fence?", "data with fence", checker.OfFenced},
	{"Did work go on?", "work", checker.OfWork},
}

// Questions are those of one run.
func Questions(setup history.Setup, r checker.Result) (all []Question) {
	sentences := [...]string{r.Sentences.Promise, r.Sentences.Unfenced, r.Sentences.Fenced, r.Sentences.WentOn}
	for i, reply := range replies(r.Answers) {
		name := questionNames[i]
		q := Question{Reply: reply, Question: name.long, Short: name.short, Sentence: sentences[i]}
		switch {
		case r.Unexpected(setup.Promise, name.of):
			q.Beside = NotAsExpected
		case reply == checker.Yes, reply == checker.No:
			q.Beside = AsExpected
		}
		all = append(all, q)
	}
	return all
}

// What stands beside an answer.
const (
	AsExpected    = "as expected"
	NotAsExpected = "not as expected"
)

// replies are the answers in order.
func replies(a checker.Answers) [len(questionNames)]checker.Reply {
	return [...]checker.Reply{a.Promise, a.Unfenced, a.Fenced, a.WentOn}
}

// ReplySigns are the answers as four signs.
func ReplySigns(a checker.Answers) string {
	var all []string
	for _, r := range replies(a) {
		all = append(all, ReplySign(r))
	}
	return strings.Join(all, " ")
}

// Tile is one answer in a list: a sign, the style of a page, and the question with its answer.
type Tile struct{ Sign, Class, Title string }

// AnswerTiles are the answers of a run, or of a cell, as a list shows them: a no is foreseen where nothing that
// answers its question is among what differs, as on the page of the run.
func AnswerTiles(a checker.Answers, differs []checker.Difference) (all []Tile) {
	for i, r := range replies(a) {
		class := checker.Verdict(r).String()
		of := questionNames[i].of
		if r == checker.No && !slices.ContainsFunc(differs, func(d checker.Difference) bool { return d.Answers(of) }) {
			class = "foreseen"
		}
		all = append(all, Tile{ReplySign(r), class, questionNames[i].long + " " + ReplyWords(r)})
	}
	return all
}

// ShortQuestions are the questions in a word or two each.
func ShortQuestions() (all []string) {
	for _, q := range questionNames {
		all = append(all, q.short)
	}
	return all
}

// ReplyWords is a reply to a reader.
func ReplyWords(r checker.Reply) string {
	return [...]string{checker.NotKnown: "Not known", checker.Yes: "Yes", checker.No: "No", checker.NotAsked: "Does not apply"}[r]
}

// ReplySign is the mark of an answer, so that colour never carries it alone.
func ReplySign(r checker.Reply) string { return say.Mark(checker.Verdict(r)) }

// Class is the style of an answer: a no that is expected is not alarming.
func (q Question) Class() string {
	if q.Reply == checker.No && q.Beside == AsExpected {
		return "foreseen"
	}
	return checker.Verdict(q.Reply).String()
}

// Words is the answer, and whether it is as expected: "No, as expected".
func (q Question) Words() string {
	if q.Beside == "" {
		return ReplyWords(q.Reply)
	}
	return ReplyWords(q.Reply) + ", " + q.Beside
}

// AfterReply is the sentence of an answer without the reply that it begins with.
func AfterReply(q Question) string {
	s := q.Sentence
	for _, lead := range []string{ReplyWords(q.Reply) + ": ", "Not decided: ", "Not asked: "} {
		s = strings.TrimPrefix(s, lead)
	}
	return say.Upper(s)
}

// AnswersText is the answers of a run, or of a cell, in one line: "promise yes · data without fence no · … · as expected".
func AnswersText(a checker.Answers) string {
	var words []string
	for i, reply := range replies(a) {
		words = append(words, questionNames[i].short+" "+reply.String())
	}
	return strings.Join(append(words, map[bool]string{true: AsExpected, false: NotAsExpected}[a.AsExpected]), " · ")
}

// Overall is the verdict of a run in a few words, and whether it was expected.
func Overall(setup history.Setup, r checker.Result) string {
	switch r.Verdict {
	case checker.Violated:
		return say.Thousands(CountViolated(r)) + " violated, " + whether(setup, r)
	case checker.Holds:
		if len(r.Differs) > 0 {
			return "every property holds, " + NotAsExpected
		}
		return "every property holds"
	case checker.NA:
		return "nothing to judge"
	}
	return "inconclusive"
}

// whether says whether what is violated was to be expected, and of what.
func whether(setup history.Setup, r checker.Result) string {
	unforeseen := 0
	for _, d := range r.Differs {
		if d.Is == checker.Violated {
			unforeseen++
		}
	}
	switch n := CountViolated(r); {
	case unforeseen > 0 && unforeseen < n:
		return fmt.Sprintf("%d of them not expected", unforeseen)
	case unforeseen > 0:
		return NotAsExpected
	case !r.Answers.AsExpected:
		return AsExpected + ", but too little was seen"
	}
	for _, p := range r.Properties {
		if c, _ := checker.Find(p.Name); p.Verdict == checker.Violated && !r.Excuses(setup.Promise, c) {
			return "as expected of " + setup.Promise.Backend + " here"
		}
	}
	kind := "lock without leases"
	switch {
	case setup.Promise.Leased:
		kind = "leased lock"
	case setup.Promise.Idles:
		kind = "lock with an idle timeout"
	}
	return "as expected of a " + kind
}

// Tone is the style of the badge of a run.
func Tone(r checker.Result) string {
	if r.Verdict == checker.Violated && r.Answers.AsExpected {
		return "foreseen"
	}
	if r.Verdict == checker.Holds && len(r.Differs) > 0 {
		return checker.Unknown.String()
	}
	return r.Verdict.String()
}

// CountViolated counts the properties that are violated.
func CountViolated(r checker.Result) (n int) {
	for _, p := range r.Properties {
		if p.Verdict == checker.Violated {
			n++
		}
	}
	return n
}
