/*
 * A Windows program that runs the Unix program of the same name under wine: as `git.exe`, it runs the `git` of the machine.
 *
 * wine has no Git and no GNU patch, and tests compare Slipstitch with the real ones. wine can start a Unix program and wait for it, but
 * not connect Windows pipes with it, so input and output go through files. Arguments that are absolute Windows paths become Unix
 * paths, and variables that start with `GIT_` are passed on.
 */
#include <windows.h>
#include <shellapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 512

typedef NTSTATUS(WINAPI *spawn_and_wait)(char *const[], int);
typedef char *(CDECL *unix_name_of)(LPCWSTR);

static unix_name_of unix_name;

static void fail(const char *what) {
  fprintf(stderr, "unix-program: %s (%lu)\n", what, GetLastError());
  exit(125);
}

static char *utf8(const WCHAR *text) {
  int size = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
  char *result = malloc(size);
  if (!result || !WideCharToMultiByte(CP_UTF8, 0, text, -1, result, size, NULL, NULL)) fail("cannot convert a text");
  return result;
}

static char *unix_path(const WCHAR *path) {
  char *name = unix_name(path);
  if (!name) fail("a path has no Unix name");
  return name;
}

static void new_file(WCHAR *path) {
  WCHAR folder[MAX_PATH];
  if (!GetTempPathW(MAX_PATH, folder) || !GetTempFileNameW(folder, L"run", 0, path)) fail("cannot create a file");
}

/* Copies everything from one handle to another. */
static void copy(HANDLE from, HANDLE to) {
  char buffer[65536];
  DWORD length, written;
  while (ReadFile(from, buffer, sizeof buffer, &length, NULL) && length)
    for (DWORD at = 0; at < length; at += written)
      if (!WriteFile(to, buffer + at, length - at, &written, NULL)) return;
}

static HANDLE open_file(const WCHAR *path, DWORD access) {
  HANDLE file = CreateFileW(path, access, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) fail("cannot open a file");
  return file;
}

static void print_file(const WCHAR *path, DWORD stream) {
  HANDLE file = open_file(path, GENERIC_READ);
  copy(file, GetStdHandle(stream));
  CloseHandle(file);
  DeleteFileW(path);
}

int main(void) {
  spawn_and_wait spawn = (spawn_and_wait)GetProcAddress(GetModuleHandleA("ntdll"), "__wine_unix_spawnvp");
  unix_name = (unix_name_of)GetProcAddress(GetModuleHandleA("kernel32"), "wine_get_unix_file_name");
  if (!spawn || !unix_name) fail("this is not wine");

  WCHAR input[MAX_PATH], output[MAX_PATH], errors[MAX_PATH], folder[MAX_PATH], program[MAX_PATH];
  new_file(input);
  new_file(output);
  new_file(errors);
  GetCurrentDirectoryW(MAX_PATH, folder);
  if (GetFileType(GetStdHandle(STD_INPUT_HANDLE)) == FILE_TYPE_PIPE) {
    HANDLE file = open_file(input, GENERIC_WRITE);
    copy(GetStdHandle(STD_INPUT_HANDLE), file);
    CloseHandle(file);
  }

  char *words[MAX_WORDS + 1] = {"/bin/sh", "-c",
    "cd \"$1\" && input=$2 output=$3 errors=$4 && shift 4 && exec env \"$@\" <\"$input\" >\"$output\" 2>\"$errors\"", "sh",
    unix_path(folder), unix_path(input), unix_path(output), unix_path(errors)};
  int used = 8, count;
  for (WCHAR *variable = GetEnvironmentStringsW(); *variable; variable += wcslen(variable) + 1)
    if (!wcsncmp(variable, L"GIT_", 4) && used < MAX_WORDS) words[used++] = utf8(variable);
  GetModuleFileNameW(NULL, program, MAX_PATH);
  char *name = strrchr(utf8(program), '\\') + 1;
  *strrchr(name, '.') = 0;
  words[used++] = name;
  WCHAR **arguments = CommandLineToArgvW(GetCommandLineW(), &count);
  if (used + count > MAX_WORDS) fail("too many arguments");
  for (int at = 1; at < count; at++) {
    int is_path = arguments[at][0] && arguments[at][1] == ':' && (arguments[at][2] == '\\' || arguments[at][2] == '/');
    words[used++] = is_path ? unix_path(arguments[at]) : utf8(arguments[at]);
  }

  int code = spawn(words, 1);
  DeleteFileW(input);
  print_file(output, STD_OUTPUT_HANDLE);
  print_file(errors, STD_ERROR_HANDLE);
  return code;
}
