/*
 * What the system calls alone allow: runs a program, sends what it prints over a TCP connection and, given a directory, also
 * writes it to files of 16 MiB, of which it keeps the newest and uses the oldest again, with their space reserved. Counts
 * nothing and knows nothing. Prints the seconds of CPU it took. Usage: relay PORT DIRECTORY|- KEPT-BYTES PROGRAM ARGUMENT...
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 64 << 10, BATCH = 256 << 10, SEGMENT = 16 << 20 };

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void keep(const char *directory, long kept, const char *bytes, long count) {
  static int file = -1;
  static long used = SEGMENT, segment = 0;
  if (used + count > SEGMENT) {
    char path[4096];
    long slots = kept / SEGMENT;
    snprintf(path, sizeof path, "%s/%ld", directory, segment++ % (slots > 0 ? slots : 1));
    if (file >= 0) close(file);
    if ((file = open(path, O_WRONLY | O_CREAT, 0600)) < 0) fail("open");
    fallocate(file, FALLOC_FL_KEEP_SIZE, 0, SEGMENT);
    used = 0;
  }
  if (pwrite(file, bytes, count, used) != count) fail("pwrite");
  used += count;
}

static int connected(int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int line = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(line, (struct sockaddr *)&address, sizeof address) < 0) fail("connect");
  return line;
}

static double cpu_seconds(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return use.ru_utime.tv_sec + use.ru_stime.tv_sec + (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

int main(int count, char **arguments) {
  static char buffer[BATCH];
  long filled = 0;
  int ends[2];
  if (count < 5) return 2;
  const char *directory = strcmp(arguments[2], "-") == 0 ? NULL : arguments[2];
  long kept = atol(arguments[3]);
  int line = connected(atoi(arguments[1]));
  if (pipe(ends) < 0) fail("pipe");
  if (fork() == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    execvp(arguments[4], arguments + 4);
    _exit(127);
  }
  close(ends[1]);
  for (;;) {
    ssize_t got = read(ends[0], buffer + filled, CHUNK);
    if (got < 0) fail("read");
    for (ssize_t sent = 0; sent < got;) {
      ssize_t more = write(line, buffer + filled + sent, got - sent);
      if (more < 0) fail("write");
      sent += more;
    }
    filled += got;
    if (filled > BATCH - CHUNK || got == 0) {
      if (directory && filled > 0) keep(directory, kept, buffer, filled);
      filled = 0;
    }
    if (got == 0) break;
  }
  wait(NULL);
  printf("%.6f\n", cpu_seconds());
  return 0;
}
