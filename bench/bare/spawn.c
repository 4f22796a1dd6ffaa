/*
 * What /bin/true costs with nothing but the system: posix_spawn with stdin from /dev/null, both output pipes drained,
 * waitpid. Reads "COUNT BUDGET_MS" per line from stdin and answers with a JSON array of milliseconds.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char *const arguments[] = {"/bin/true", NULL};
static char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static pid_t start(int out[2], int err[2]) {
  posix_spawn_file_actions_t actions;
  pid_t pid;
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) fail("pipe2");
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  if (posix_spawn(&pid, arguments[0], &actions, NULL, arguments, environment) != 0) fail("posix_spawn");
  posix_spawn_file_actions_destroy(&actions);
  close(out[1]);
  close(err[1]);
  return pid;
}

/* A closed pipe is taken out of the set by a negative descriptor, which poll ignores. */
static void drain(int out, int err) {
  struct pollfd pipes[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  char buffer[65536];
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    if (poll(pipes, 2, -1) < 0) fail("poll");
    for (int i = 0; i < 2; i++) {
      if (pipes[i].fd < 0 || pipes[i].revents == 0) continue;
      if (read(pipes[i].fd, buffer, sizeof buffer) > 0) continue;
      close(pipes[i].fd);
      pipes[i].fd = -1;
    }
  }
}

static double run_once(void) {
  int out[2], err[2];
  double begun = now_ms();
  pid_t pid = start(out, err);
  drain(out[0], err[0]);
  if (waitpid(pid, NULL, 0) != pid) fail("waitpid");
  return now_ms() - begun;
}

int main(void) {
  int count, budget_ms;
  while (scanf("%d %d", &count, &budget_ms) == 2) {
    double end = now_ms() + budget_ms;
    printf("[%.6f", run_once());
    for (int done = 1; done < count && now_ms() < end; done++) printf(",%.6f", run_once());
    printf("]\n");
    fflush(stdout);
  }
  return 0;
}
