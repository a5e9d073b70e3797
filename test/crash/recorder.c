/*
 * Loaded in front of libc: writes down every write, truncate, sync, open and unlink under PL_DIR in one order, so that a
 * power cut can be replayed at any point. Writes to a file named *.ack are acknowledgements. Shared memory files of
 * SQLite are left out: they do not survive a cut.
 *
 * A record: u8 type, u8 file, u64 offset, u64 length, data. Types: 1 write, 2 sync, 3 truncate, 4 open, 5 unlink, 9 ack.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define FILES 200
#define DESCRIPTORS 4096

static int log_fd = -1;
static const char *directory;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int file_of[DESCRIPTORS];
static char *names[FILES];
static int name_count = 1;

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_open)(const char *, int, ...);
static int (*real_unlink)(const char *);
static int (*real_close)(int);

__attribute__((constructor)) static void start(void) {
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_write = dlsym(RTLD_NEXT, "write");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_open = dlsym(RTLD_NEXT, "open64");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_close = dlsym(RTLD_NEXT, "close");
  directory = getenv("PL_DIR");
  char *path = getenv("PL_LOG");
  if (path && directory) log_fd = real_open(path, O_CREAT | O_WRONLY | O_APPEND, 0644);
}

static void record(int type, int file, uint64_t offset, uint64_t length, const void *data) {
  unsigned char head[18];
  if (log_fd < 0) return;
  head[0] = type;
  head[1] = file;
  memcpy(head + 2, &offset, 8);
  memcpy(head + 10, &length, 8);
  real_write(log_fd, head, 18);
  if (data && length) real_write(log_fd, data, length);
}

static int id_of(const char *path) {
  for (int i = 1; i < name_count; i++)
    if (!strcmp(names[i], path)) return i;
  if (name_count >= FILES) abort();
  names[name_count] = strdup(path);
  return name_count++;
}

static int concerns(const char *path) {
  return log_fd >= 0 && directory && !strncmp(path, directory, strlen(directory)) && !strstr(path, "-shm");
}

static int known(int fd) { return fd >= 0 && fd < DESCRIPTORS && file_of[fd]; }

static void track(const char *path, int fd) {
  if (fd < 0 || fd >= DESCRIPTORS || !concerns(path)) return;
  pthread_mutex_lock(&mutex);
  file_of[fd] = id_of(path);
  record(4, file_of[fd], 0, strlen(path), path);
  pthread_mutex_unlock(&mutex);
}

#define OPEN(NAME)                                                                                                     \
  int NAME(const char *path, int flags, ...) {                                                                         \
    mode_t mode = 0;                                                                                                   \
    if (flags & O_CREAT) {                                                                                             \
      va_list args;                                                                                                    \
      va_start(args, flags);                                                                                           \
      mode = va_arg(args, int);                                                                                        \
      va_end(args);                                                                                                    \
    }                                                                                                                  \
    int fd = real_open(path, flags, mode);                                                                             \
    track(path, fd);                                                                                                   \
    return fd;                                                                                                         \
  }
OPEN(open)
OPEN(open64)

int close(int fd) {
  if (fd >= 0 && fd < DESCRIPTORS) file_of[fd] = 0;
  return real_close(fd);
}

static ssize_t record_pwrite(int fd, const void *data, size_t length, off_t offset) {
  if (!known(fd)) return real_pwrite(fd, data, length, offset);
  pthread_mutex_lock(&mutex);
  ssize_t done = real_pwrite(fd, data, length, offset);
  if (done > 0) record(1, file_of[fd], offset, done, data);
  pthread_mutex_unlock(&mutex);
  return done;
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return record_pwrite(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return record_pwrite(fd, data, length, offset); }

ssize_t write(int fd, const void *data, size_t length) {
  if (!known(fd)) return real_write(fd, data, length);
  pthread_mutex_lock(&mutex);
  off_t offset = lseek(fd, 0, SEEK_CUR);
  ssize_t done = real_write(fd, data, length);
  if (done > 0) record(strstr(names[file_of[fd]], ".ack") ? 9 : 1, file_of[fd], offset, done, data);
  pthread_mutex_unlock(&mutex);
  return done;
}

static int record_sync(int fd, int (*real)(int)) {
  if (!known(fd)) return real(fd);
  pthread_mutex_lock(&mutex);
  int result = real(fd);
  if (!result) record(2, file_of[fd], 0, 0, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}
int fsync(int fd) { return record_sync(fd, real_fsync); }
int fdatasync(int fd) { return record_sync(fd, real_fdatasync); }

static int record_truncate(int fd, off_t length) {
  if (!known(fd)) return real_ftruncate(fd, length);
  pthread_mutex_lock(&mutex);
  int result = real_ftruncate(fd, length);
  if (!result) record(3, file_of[fd], length, 0, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}
int ftruncate(int fd, off_t length) { return record_truncate(fd, length); }
int ftruncate64(int fd, off_t length) { return record_truncate(fd, length); }

int unlink(const char *path) {
  int result = real_unlink(path);
  if (!result && concerns(path)) {
    pthread_mutex_lock(&mutex);
    record(5, id_of(path), 0, 0, 0);
    pthread_mutex_unlock(&mutex);
  }
  return result;
}
