/* Blocks every signal, in the parent, a child and a child's thread, and spins or sleeps. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void *sleeper(void *unused) { for (;;) sleep(60); return unused; }
int main(void) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, 0);
    if (fork() == 0) { pthread_t thread; pthread_create(&thread, 0, sleeper, 0); for (;;) ; }
    for (;;) sleep(60);
}
