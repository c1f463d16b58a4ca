package checker

import (
	"fmt"
	"math"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// askActing asks about the times in which each holder used what it held.
func (r *run) askActing(k *keyLog) []question { return r.askShares(r.acting(k)) }

// askShares makes a read-write lock of shares, or a semaphore: a hold of two permits
// is two holds at once.
func (r *run) askShares(shares []share) []question {
	q := question{model: "rwlock"}
	if r.setup.Kind == history.Semaphore {
		q = question{model: "semaphore", options: models.Options{Permits: r.setup.Permits}}
	}
	for n, s := range shares {
		for p := range s.permits {
			take, give := models.Acquire, models.Release
			if r.setup.Kind == history.ReadWrite && !s.exclusive {
				take, give = models.AcquireR, models.ReleaseR
			}
			owner := fmt.Sprintf("%s %d %d", s.grant.owner, n, p)
			q.ops = append(q.ops, models.Op{F: take, Type: history.OK, Owner: owner, Call: r.at(s.from), Return: r.at(s.from)})
			if s.to != forever {
				q.ops = append(q.ops, models.Op{F: give, Type: history.OK, Owner: owner, Call: r.at(s.to), Return: math.MaxInt})
			}
		}
	}
	return []question{q}
}
