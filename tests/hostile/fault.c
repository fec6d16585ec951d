/* Crashes by what it does: null, stack, divide, illegal, bus, abort, or leaves through a thread ("threadexit"). */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static int deep(int n) { volatile char room[65536]; room[n % 65536] = n; return deep(n + 1) + room[0]; }
static void *leave(void *unused) { usleep(100000); puts("{\"ok\":true}"); exit(0); return unused; }
int main(int argc, char **argv) {
    const char *how = argv[1];
    volatile int zero = 0;
    if (!strcmp(how, "null")) *(volatile int *)0 = 1;
    if (!strcmp(how, "stack")) return deep(1);
    if (!strcmp(how, "divide")) return 7 / zero;
    if (!strcmp(how, "illegal")) __builtin_trap();
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "bus")) {
        int fd = open("/tmp/short", O_RDWR | O_CREAT, 0600);
        char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        *page = 1;
    }
    if (!strcmp(how, "threadexit")) {
        pthread_t thread;
        pthread_create(&thread, 0, leave, 0);
        pthread_exit(0);
    }
    return 0;
}
