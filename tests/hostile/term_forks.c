/* Answers SIGTERM with children instead of an end: each of them does the same. */
#include <signal.h>
#include <unistd.h>
static void more(int unused) { (void)unused; if (fork() == 0) setsid(); }
int main(void) {
    signal(SIGTERM, more);
    for (;;) pause();
}
