/* DANGEROUS: "fork" forks without end, each in a session of its own and deaf to every signal; "vfork" the same with
   vfork; "thread" makes threads until there are no more, and says how many. Only under a limit of processes. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static void *idle(void *unused) { sleep(600); return unused; }
int main(int argc, char **argv) {
    for (int s = 1; s < 65; s++) signal(s, SIG_IGN);
    if (!strcmp(argv[1], "thread")) {
        pthread_t thread;
        int count = 0;
        while (count < 1000 && pthread_create(&thread, 0, idle, 0) == 0) count++;
        printf("{\"few\":%s}\n", count < 64 ? "true" : "false");
        fflush(stdout);
        _exit(0);
    }
    for (;;) {
        if (!strcmp(argv[1], "vfork")) { if (vfork() == 0) { execl("/bin/sleep", "sleep", "600", (char *)0); _exit(1); } }
        else if (fork() == 0) setsid();
        usleep(100);
    }
}
