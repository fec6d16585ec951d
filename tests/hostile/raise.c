/* Sends itself the signal of its argument, and says so if it survives that. "child N": a child kills the tool.
   "thread N": a thread of its own does. "core N": with a large part of memory touched first. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int number;
static void *strike(void *unused) { raise(number); return unused; }
int main(int argc, char **argv) {
    number = atoi(argv[argc - 1]);
    if (!strcmp(argv[1], "child")) {
        pid_t tool = getpid();
        if (fork() == 0) { kill(tool, number); sleep(600); }
    } else if (!strcmp(argv[1], "thread")) {
        pthread_t thread;
        pthread_create(&thread, 0, strike, 0);
    } else {
        if (!strcmp(argv[1], "core")) memset(malloc(40 << 20), 7, 40 << 20);
        kill(getpid(), number);
    }
    sleep(2);
    puts("{\"survived\":true}");
    return 0;
}
