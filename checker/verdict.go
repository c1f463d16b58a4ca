package checker

import "github.com/dlmtest/dlmtest/checker/models"

// Verdict is the verdict of models, of which the properties have one each.
type Verdict = models.Verdict

// The verdicts, as in models.
const (
	Unknown  = models.Unknown
	Holds    = models.Holds
	Violated = models.Violated
	NA       = models.NA
)

// Merge returns the verdict of a whole of which a and b are parts.
func Merge(a, b Verdict) Verdict { return models.Merge(a, b) }
