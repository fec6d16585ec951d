/* Takes memory that several processes share: "map" anonymous and shared, "pipes" in the buffers of pipes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    if (!strcmp(argv[1], "map")) {
        char *all = mmap(0, 200 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (fork() == 0) { memset(all, 1, 200 << 20); _exit(0); }
        wait(0);
    } else {
        static char block[65536];
        for (int child = 0; child < 20; child++)
            if (fork() == 0) {
                int ends[2];
                for (int n = 0; n < 100 && pipe2(ends, O_NONBLOCK) == 0; n++)
                    while (write(ends[1], block, sizeof block) > 0) ;
                sleep(2);
                _exit(0);
            }
        while (wait(0) > 0) ;
    }
    puts("{\"ok\":true}");
    return 0;
}
