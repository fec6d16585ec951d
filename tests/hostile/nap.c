/* Answers after the milliseconds of its argument, a hundred unless it has one. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    usleep(1000 * (argc > 1 ? atoi(argv[1]) : 100));
    puts("{\"ok\":true}");
    return 0;
}
