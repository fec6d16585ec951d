/* The smallest JSON tool: reads standard input to its end and answers {"ok":true}. The floor is its bare posix_spawn. */
#include <unistd.h>
int main(void) {
    char buffer[4096];
    ssize_t length;
    while ((length = read(0, buffer, sizeof buffer)) > 0) {
    }
    return write(1, "{\"ok\":true}\n", 12) == 12 ? 0 : 1;
}
