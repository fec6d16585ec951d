/* Answers, and hops from process to process for ever, so that no process id can be aimed at.
   With "wait" the first process stays; with "many" three hop at once; with "catch" none can be asked to end. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void hop(void) {
    setsid();
    for (;;) {
        pid_t pid = fork();
        if (pid > 0) _exit(0);
        usleep(200);
    }
}
int main(int argc, char **argv) {
    int many = argc > 1 && !strcmp(argv[1], "many") ? 3 : 1;
    if (argc > 1 && !strcmp(argv[1], "catch"))
        for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
    for (int i = 0; i < many; i++)
        if (fork() == 0) hop();
    puts("{\"ok\":true}");
    fflush(stdout);
    if (argc > 1 && !strcmp(argv[1], "wait")) for (;;) pause();
    return 0;
}
