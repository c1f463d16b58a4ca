package checker

import (
	"fmt"
	"math"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// askActing asks about the times in which each holder used what it held, and about those in which
// the service owed it that.
func (r *run) askActing(k *keyLog) []question {
	return append(r.askShares(r.acting(k)), r.askShares(r.owedShares(k))...)
}

// askShares makes a read-write lock of shares, or a semaphore: a hold of two permits
// is two holds at once.
func (r *run) askShares(shares []trace.Share) []question {
	q := question{model: "rwlock"}
	if r.Setup.Kind == history.Semaphore {
		q = question{model: "semaphore", options: models.Options{Permits: r.Setup.Permits}}
	}
	for n, s := range shares {
		for p := range s.Permits {
			take, give := models.Acquire, models.Release
			if r.Setup.Kind == history.ReadWrite && !s.Exclusive {
				take, give = models.AcquireR, models.ReleaseR
			}
			owner := fmt.Sprintf("%s %d %d", s.Grant.Owner, n, p)
			q.ops = append(q.ops, models.Op{F: take, Type: history.OK, Owner: owner, Call: r.at(s.From), Return: r.at(s.From)})
			if s.To != trace.Forever {
				q.ops = append(q.ops, models.Op{F: give, Type: history.OK, Owner: owner, Call: r.at(s.To), Return: math.MaxInt})
			}
		}
	}
	return []question{q}
}
