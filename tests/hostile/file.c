/* Writes a file larger than it may: "die" as the kernel will have it, "child" in a child, "ignore" without the signal. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static char block[1 << 20];
static int write_much(void) {
    int fd = open("/tmp/big", O_WRONLY | O_CREAT, 0600);
    for (int n = 0; n < 64; n++) if (write(fd, block, sizeof block) < 0) return 3;
    return 0;
}
int main(int argc, char **argv) {
    if (!strcmp(argv[1], "ignore")) signal(SIGXFSZ, SIG_IGN);
    if (!strcmp(argv[1], "child")) {
        int status = 0;
        if (fork() == 0) return write_much();
        wait(&status);
        printf("{\"signal\":%d}\n", WTERMSIG(status));
        return 0;
    }
    return write_much();
}
