/* Forks eight times in its first instant; each child closes everything and sleeps. */
#include <stdio.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 8; i++)
        if (fork() == 0) { close(0); close(1); close(2); sleep(600); return 0; }
    puts("{\"ok\":true}");
    return 0;
}
