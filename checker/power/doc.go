// Package power measures what the judge can see. Its tests hold a lock service, its clients,
// their network and a guarded resource in virtual time, with a switch for each planted
// defect and each fault. The service knows the truth, as it is the server: it imports
// nothing of the judge, and the judge is asked what it found. See docs/judge.md.
package power
