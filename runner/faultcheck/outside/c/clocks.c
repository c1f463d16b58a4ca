// Reads clocks by libc, as a program in C does: clock_gettime, gettimeofday and time, in a thread, a fork and an exec.
// The truth beside each is a direct system call. It prints the records of record.go.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef long long ns;
static ns of(struct timespec t) { return t.tv_sec * 1000000000LL + t.tv_nsec; }
static ns raw(clockid_t c) { struct timespec t; syscall(SYS_clock_gettime, c, &t); return of(t); }

static void tell(const char *who, const char *call, ns real, ns mono) {
    char line[256];
    int n = snprintf(line, sizeof line, "outside {\"at\":%lld,\"who\":\"c-%s-%s\",\"what\":\"clock\",\"n\":%lld,\"m\":%lld}\n",
                     raw(CLOCK_MONOTONIC), who, call, real, mono);
    if (write(2, line, n) != n) _exit(1);
}

static void look(const char *who) {
    struct timespec t, m;
    struct timeval v;
    ns a = raw(CLOCK_REALTIME); clock_gettime(CLOCK_REALTIME, &t); ns b = raw(CLOCK_REALTIME);
    ns c = raw(CLOCK_MONOTONIC); clock_gettime(CLOCK_MONOTONIC, &m); ns d = raw(CLOCK_MONOTONIC);
    if (b - a > 200000 || d - c > 200000) return;
    tell(who, "clock_gettime", of(t) - (a + b) / 2, of(m) - (c + d) / 2);
    a = raw(CLOCK_REALTIME); gettimeofday(&v, NULL); b = raw(CLOCK_REALTIME);
    if (b - a < 200000) tell(who, "gettimeofday", v.tv_sec * 1000000000LL + v.tv_usec * 1000LL - (a + b) / 2, 0);
    a = raw(CLOCK_REALTIME); time_t s = time(NULL);
    tell(who, "time", (s - a / 1000000000LL) * 1000000000LL, 0);
}

static void forever(const char *who) {
    if (write(1, ".", 1) != 1) _exit(1); /* who has started this waits for it */
    for (;;) { look(who); usleep(20000); }
}

static void *thread(void *none) { for (;;) { look("thread"); usleep(20000); } return none; }

int main(int argc, char **argv) {
    pthread_t other;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc > 1) forever("exec");
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (fork() == 0) { execl(argv[0], argv[0], "exec", (char *)NULL); _exit(1); }
        forever("fork");
    }
    if (child < 0 || pthread_create(&other, NULL, thread, NULL) != 0) return 1;
    forever("main");
}
