// Package vdso bends the clocks of a program, and of no other: steps, slews, drift. It
// needs no capability and nothing of the program, and works in a plain Docker container,
// for static Go programs, the JVM and PostgreSQL alike.
//
// Programs read the time through the vDSO, a library that the kernel maps into each of
// them. Start traces a program from its birth; where an exec has just made its memory and
// none of its code has run, a shared Page is mapped into it, and the vDSO's clock_gettime,
// gettimeofday and time are overwritten by jumps to stubs in that page, which make the
// real system call and apply the page's parameters. Later the agent just writes the page:
// forks, threads and programs of other users follow at once, without being stopped.
//
// What is bent: CLOCK_REALTIME, MONOTONIC, their coarse forms, BOOTTIME. What is not:
//
//   - The kernel's own time: timers, timeouts, file times. A wait with a relative timeout
//     is not disturbed (Go, Redis, PostgreSQL, etcd: all through drifts of ±5 %). One with an
//     absolute deadline, computed by the bent clock and kept by the true one, is off by
//     all that the clock has gained or lost: Object.wait and parkNanos of the JVM and
//     time.sleep of Python 3.11 by MONOTONIC, pthread_cond_timedwait and parkUntil by
//     REALTIME. A clock that lost makes such waits return at once, and the program spin.
//     What breaks lasts after the heal, for the offset stays: after a drift of 5 % for half
//     a minute the JVM's Thread.sleep(400) took 2,010 ms and Python's Event.wait(.3) 1.03 s.
//     So Drift is for programs known to wait relatively, and the agent refuses it for a
//     JVM and for Python unless told otherwise; for these a long Slew gives REALTIME
//     alone a wrong rate.
//   - Timers of CLOCK_REALTIME_ALARM and CLOCK_BOOTTIME_ALARM, and what timerfd and
//     timer_settime wait for by any clock.
//   - MONOTONIC_RAW, TAI, clocks of CPU time; direct system calls (history.Raw is one);
//     the time stamp counter.
//   - 32-bit programs, programs that their user may not read, a setuid program (traced,
//     it runs without its privilege), and what is executed after Settle. The first three
//     are errors; Attached shows the last.
package vdso
